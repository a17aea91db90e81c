"""Lessons that this machine proposes to its team, those that wait for a reviewer, and those that come from the team.

They travel as slots of our own sentences (`sharing.entry`), never as text. What comes from a server is data: it is taken only if
it is, slot by slot, what our grammar allows, whoever wrote it and whoever approved it.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.ingest.redact import looks_secret
from preheat.model.lesson import Lesson, Origin
from preheat.model.pushed import PushedLesson
from preheat.model.received import ReceivedLesson
from preheat.model.team import ProjectPush, ProposedLesson
from preheat.provisioning.lesson_text import describe_lesson
from preheat.sharing.entry import COUNTED, SharedLesson, fit_lesson, restore_lesson
from preheat.sharing.evidence import read_evidence, round_down
from preheat.sharing.faults import find_faults
from preheat.state.connect import reading
from preheat.state.marks import approvals
from preheat.state.received_lessons import received_lessons
from preheat.state.written_lessons import reviews

ORIGIN: Origin = "team"
TRUSTED_BY = "a reviewer"
_LARGEST = 8192
_REMOTE = "remote:"


# Going out.
def find_proposals(
    folder: str, connection: ArchiveConnection, projects: Mapping[str, ProjectPush]
) -> list[PushedLesson]:
    """The lessons of these projects that the person approved, kept in a review, pinned or wrote, as far as they may be shared.
    Lessons of a project without a remote are of no use to others."""
    with reading(folder) as state:
        decided = {*approvals(state), *(lesson for lesson, verdict in reviews(state).items() if verdict != "dropped")}
    now = time.time()
    found: dict[str, PushedLesson] = {}
    for key, project in projects.items():
        for lesson in load_lessons(connection, (project.name,)) if key.startswith(_REMOTE) else ():
            is_approved = lesson.id in decided or lesson.pinned or lesson.author == "person"
            if is_approved and not lesson.origin and lesson.is_usable(now):
                proposed = propose_lesson(lesson, project.repository)
                if proposed is not None:
                    found.setdefault(proposed.digest, proposed)
    return sorted(found.values(), key=lambda each: each.digest)


def propose_lesson(lesson: Lesson, repository: str) -> PushedLesson | None:
    """A lesson as a team gets it; None if nothing of it may be shared. Numbers that change with every session are no part of what
    is approved."""
    whole = fit_lesson(lesson, describe_lesson).entry
    if whole is None:
        return None
    lasting = replace(whole, details={name: each for name, each in whole.details.items() if name not in COUNTED})
    entry = next((each for each in (lasting, whole) if not _find_faults(each)), None)
    counts = read_evidence(whole.evidence)
    if entry is None or counts is None:
        return None
    content = write_content(entry)
    if len(content.encode()) > _LARGEST:
        return None
    support = counts.support
    return PushedLesson(
        digest=digest_of(repository, content),
        repository=repository,
        content=content,
        calls_for=support.calls_for,
        sessions_for=support.sessions_for,
        calls_against=support.calls_against,
        sessions_against=support.sessions_against,
        first_day=_day(counts.first_seen),
        last_day=_day(counts.last_seen),
    )


def write_content(entry: SharedLesson) -> str:
    """What of a lesson is approved: everything but how much speaks for it."""
    fields: dict[str, Any] = msgspec.to_builtins(entry)
    return msgspec.json.encode({name: fields[name] for name in sorted(fields) if name != "evidence"}).decode()


def digest_of(repository: str, content: str) -> str:
    """The hash that a reviewer approves; the database computes the same."""
    return sha256(f"{repository}\n{content}".encode()).hexdigest()


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


# Coming in.
def read_proposal(proposed: ProposedLesson) -> Lesson | None:
    """The lesson that a server's row is, in words of ours; None if it is anything that our grammar does not allow."""
    if digest_of(proposed.repository, proposed.content) != proposed.digest:
        return None
    try:
        fields = msgspec.json.decode(proposed.content)
        entry = msgspec.convert({**fields, "evidence": _write_evidence(proposed)}, SharedLesson)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return None
    if write_content(entry) != proposed.content or _find_faults(entry):
        return None
    return restore_lesson(entry, describe_lesson, proposed.repository.rpartition("/")[2], ORIGIN)


def _find_faults(entry: SharedLesson) -> list[str]:
    return find_faults(entry, describe_lesson, time.time(), looks_secret)


def _write_evidence(proposed: ProposedLesson) -> str:
    """How much speaks for a lesson, of all who propose it together, as a line of ours."""
    days = " to ".join(dict.fromkeys(filter(None, (proposed.first_day, proposed.last_day))))
    calls, against = proposed.calls_for, proposed.calls_against
    if calls <= 0:
        return f"written by a person, {days}"
    share = round(10 * calls / (calls + max(0, against))) * 10
    sessions = min(calls, proposed.sessions_for)
    return f"{round_down(calls)}+ times in {round_down(sessions)}+ sessions, {share} % for it, {days}"


def receive(proposed: list[ProposedLesson], team: str, at: float) -> tuple[list[ReceivedLesson], int]:
    """The lessons of a team as this machine keeps them, and how many were refused."""
    found: list[ReceivedLesson] = []
    refused = 0
    for each in proposed:
        lesson = read_proposal(each)
        if lesson is None or each.repository.startswith("local:"):
            refused += 1
        else:
            key = f"{_REMOTE}{each.repository}"
            found.append(ReceivedLesson(lesson, "team", team, each.digest, key, TRUSTED_BY, at))
    return found, refused


def load_received(folder: str, team: str) -> dict[str, Lesson]:
    """The lessons of a team that this machine has, by their digests."""
    with reading(folder) as state:
        return {
            each.digest: each.lesson for each in received_lessons(state) if each.origin == ORIGIN and each.place == team
        }
