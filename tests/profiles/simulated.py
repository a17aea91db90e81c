"""Sessions whose truth is known, because it was written here: for tests of what a population says."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from preheat.model.outcome import Cause, Status
from preheat.model.profile import CallFact, SessionFact

ACTIVITIES = ("read", "edit", "shell:test")


def session(number: int, messages: int, agent: str = "one", model: str = "m", project: str = "/w/p") -> SessionFact:
    return SessionFact(number, f"{agent}:{number}", agent, model, project, messages, None, None, None)


def call(
    number: int,
    message: int,
    failed: bool = False,
    activity: str = "read",
    cause: Cause | None = "mistake",
    status: Status | None = None,
    tool: str = "",
    bookkeeping: bool = False,
) -> CallFact:
    said: Status = status or ("failed" if failed else "ok")
    why = cause if said == "failed" else None
    return CallFact(
        number, message, message, 0, tool or activity, "other", activity, bookkeeping, said, why, None, False, False, 0.0, 0,
        None,
    )  # fmt: skip


Chance = Callable[[int, int, str, float], float]
"""Of a failure: by length of session, place, activity and the session's own level."""


def simulated(
    chance: Chance, lengths: Sequence[int], seed: int = 1, agent: str = "one", first: int = 0, spread: float = 0.03
) -> tuple[list[SessionFact], list[CallFact]]:
    """A call for every second message; sessions differ among themselves by `spread`."""
    random = np.random.default_rng(seed)
    sessions: list[SessionFact] = []
    calls: list[CallFact] = []
    for number, length in enumerate(lengths, start=first):
        level = float(random.uniform(-spread, spread))
        sessions.append(session(number, length, agent, project=f"/w/{number % 9}"))
        for message in range(2, length + 1, 2):
            activity = ACTIVITIES[int(random.integers(3))]
            failed = random.random() < chance(length, message, activity, level)
            calls.append(call(number, message, bool(failed), activity))
    return sessions, calls


def mixed(count: int, seed: int = 0) -> list[int]:
    """Lengths of short, middling and long sessions, a third each."""
    random = np.random.default_rng(seed)
    thirds: Iterable[tuple[int, int]] = ((20, 50), (51, 100), (140, 400))
    return [int(random.integers(low, high)) for low, high in thirds for _ in range(count // 3)]
