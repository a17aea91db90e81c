"""Counts the uses of templates and the success of the sessions that got them. Knows no archive: the sessions are passed in."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from preheat.model.template import TemplateResults, TemplateUse


class UsedSession(msgspec.Struct, frozen=True):
    """The session that got a context."""

    session: str
    """Its key."""
    passed: bool | None
    """Whether its last check passed; None where it had none."""


def task_hash(task: str) -> str:
    return blake2b(" ".join(task.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def track(uses: Iterable[TemplateUse], found: Mapping[str, UsedSession]) -> TemplateResults:
    """The uses and their success, with the sessions found by context id. A session that got several counts once."""
    number, sessions = 0, dict[str, bool | None]()
    for use in uses:
        number += 1
        session = found.get(use.context)
        if session is not None:
            sessions[session.session] = session.passed
    results = list(sessions.values())
    return TemplateResults(
        uses=number, sessions=len(results), succeeded=results.count(True), failed=results.count(False)
    )
