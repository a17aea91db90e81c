"""What a project's own `AGENTS.md` would look like with a lesson in it: a difference to read, nothing is written.

Knows nothing of how a lesson is worded (`provisioning`).
"""

import os
import time
from contextlib import closing
from difflib import unified_diff

import msgspec

from preheat.app.context import approved_texts, formats, render
from preheat.app.projects import find_project_at
from preheat.archive.connect import connect
from preheat.archive.lessons import load_lessons
from preheat.archive.projects import load_project_folders
from preheat.errors import UserError
from preheat.files import read_text
from preheat.model.lesson import Lesson
from preheat.model.views import ChangedText, ProposedChange
from preheat.provisioning import provision as choose_context

AGENTS_FILE = "AGENTS.md"
_FORMAT = "agents-md"
_LARGEST = 1_000_000


def propose_change(folder: str, lessons: list[str], where: str = "") -> ProposedChange:
    """The change that puts lessons, by their ids, into the `AGENTS.md` of a project: the one of the first lesson, or around a
    folder. Raises UserError if there is nothing to put there."""
    with closing(connect(folder)) as connection:
        chosen = [each for each in load_lessons(connection) if each.id in lessons]
        name = next((each.scope.project for each in chosen if each.scope.project), "")
        if where and (found := find_project_at(connection, where)) is not None:
            name = found.name
        folders = load_project_folders(connection, name) if name else []
    if not chosen:
        raise UserError("nothing was learned about this yet: `preheat lessons learn`, then look here again")
    root = next((each for each in ([where] if where else folders) if os.path.isdir(each)), "")
    path = os.path.join(root, AGENTS_FILE) if root else AGENTS_FILE
    before = _read(path) if root else ""
    renderer = next(each for each in formats() if each.name == _FORMAT)
    context = choose_context(
        [_as_pinned(each) for each in chosen], task="", agent="", project=name, budget=2000, now=time.time(), template="",
        addendum="", examples=False, approved=approved_texts(folder),
    )  # fmt: skip
    text = render(context, renderer).text
    after = renderer.insert(before, text) if renderer.insert is not None else text
    lines = list(unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=2))[2:]
    return ProposedChange(
        path=path,
        is_there=bool(root),
        lessons=tuple(each.lesson for each in context.items),
        change=tuple(ChangedText("@" if line.startswith("@@") else line[:1], line[1:]) for line in lines),
        reason=context.reason,
    )


def _as_pinned(lesson: Lesson) -> Lesson:
    return msgspec.structs.replace(lesson, pinned=True)


def _read(path: str) -> str:
    try:
        return read_text(path, errors="replace")[:_LARGEST]
    except OSError:
        return ""
