"""Publishes lessons of a fleet into the file that a repository shares, for review like code.

Only what may travel does, in the form of `preheat share`: our own sentences, counts and dates, no session. Nobody trusts the file
by that: each clone does so for itself.
"""

import time
from collections.abc import Iterable

from preheat.app.sharing.planning import say_entry
from preheat.app.sharing.reading import read_lessons, require_clone, require_readable
from preheat.app.sharing.repository import write_shared_file
from preheat.errors import UserError
from preheat.ingest.redact import looks_secret
from preheat.model.fleet import FleetPublication
from preheat.model.lesson import Lesson
from preheat.provisioning.lesson_text import describe_lesson
from preheat.sharing.document import plan_document, write_document
from preheat.sharing.entry import SharedLesson, fit_lesson
from preheat.sharing.faults import find_faults


def publish_lessons(project: str, lessons: Iterable[Lesson], where: str) -> FleetPublication:
    """Add lessons to the file of the clone around a folder; what is there stays. Raises UserError."""
    clone = require_clone(where)
    file = require_readable(clone)
    document, checked = read_lessons(file.data, project)
    if any(each.is_conflict for each in document.faults):
        raise UserError("the file of shared lessons has marks of a merge that git could not do; mend it first")
    usable = {lesson.id for lesson in checked.lessons}
    old = [entry for entry in document.entries if entry.id in usable]
    ours, left_out = _fit(lessons)
    plan = plan_document(old, ours, frozenset())
    data = write_document(plan.entries) if plan.entries or file.data else b""
    path = write_shared_file(clone, data) if data and data != file.data else ""
    return FleetPublication(
        project=project,
        path=path,
        new=tuple(say_entry(each, project) for each in plan.new),
        changed=tuple(say_entry(each, project) for each in plan.changed),
        kept=len(plan.entries) - len(plan.new) - len(plan.changed),
        left_out=left_out,
    )


def _fit(lessons: Iterable[Lesson]) -> tuple[list[SharedLesson], int]:
    """What may be shared, and how many of the usable lessons may not."""
    now = time.time()
    found: list[SharedLesson] = []
    left_out = 0
    for lesson in lessons:
        if not lesson.is_usable(now) or lesson.packet is not None:
            continue
        entry = fit_lesson(lesson, describe_lesson).entry
        if entry is None or find_faults(entry, describe_lesson, now, looks_secret):
            left_out += 1
        else:
            found.append(entry)
    return found, left_out
