"""When a template was handed out, and how the sessions went that got it. Knows no archive: who finds them says how."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from preheat.model.template import Tracked, Use


class Found(msgspec.Struct, frozen=True):
    """The session that got a context."""

    session: str
    """Its key."""
    passed: bool | None
    """Whether its last check passed; None where it had none."""


def task_hash(task: str) -> str:
    return blake2b(" ".join(task.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def tracked(uses: Iterable[Use], found: Mapping[str, Found]) -> Tracked:
    """What came of the uses, by the ids of their contexts. The same session counts once, however often it got one."""
    number, sessions = 0, dict[str, bool | None]()
    for use in uses:
        number += 1
        session = found.get(use.context)
        if session is not None:
            sessions[session.session] = session.passed
    went = list(sessions.values())
    return Tracked(uses=number, sessions=len(went), succeeded=went.count(True), failed=went.count(False))
