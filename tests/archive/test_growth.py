"""Storing costs work in proportion to what is stored, whatever sessions have in common: the steps of the database are counted."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from preheat.archive.connect import connect
from preheat.archive.packing import pack_passages
from preheat.archive.rows import Batch, CallRow, Delta, Passage, ResponseRow, ResultRow, SessionRows
from preheat.archive.sources import known_source
from preheat.archive.sqlite import SqliteArchive
from preheat.archive.writer import store_batch

CALLS = 6
_EVERY = 50
"""Instructions of the database between two counts."""

Vary = Callable[[int, int], dict[str, Any]]
"""What differs from session to session and call to call."""

SHARED: dict[str, Vary] = {
    "nothing": lambda session, call: {},
    "ids of calls": lambda session, call: {"call_id": f"call_{call}"},
    "ids and times of calls": lambda session, call: {
        "call_id": f"call_{call}",
        "at": float(call),
        "tool": f"t{session}",
    },
    "calls and responses": lambda session, call: {"call_id": f"call_{call}", "at": float(call), "response": call},
    "responses at other times": lambda session, call: {"response": call},
    "calls without a time": lambda session, call: {"call_id": f"call_{call}", "at": None, "response": call},
    "no tool": lambda session, call: {"tool": f"tool-{session}-{call}"},
}


def _session(number: int, vary: Vary, results: list[ResultRow] | None = None) -> SessionRows:
    calls, responses = [], []
    for index in range(CALLS):
        made = {
            "call_id": f"call_{number}_{index}", "at": 1000.0 * number + index, "tool": "shell",
            "response": number * 1000 + index, **vary(number, index),
        }  # fmt: skip
        size = 3 if results is None else None
        calls.append(
            CallRow(
                made["call_id"],
                index + 1,
                made["response"],
                made["tool"],
                "shell",
                "make",
                made["at"],
                None,
                None,
                None,
                size,
            )
        )
        responses.append(ResponseRow(made["response"], "m", made["at"], 1, 1, 0, 0, 0, 0))
    passages = [Passage(1, "human", "the same prompt in every session")]
    heading = {
        "version": "1", "model": "m", "project": "/w/app", "branch": "", "parent": None, "relation": None,
        "started_at": 1000.0, "ended_at": 2000.0, "starter": "human", "title": "the same title",
    }  # fmt: skip
    counts = {"events": 9, "prompts": 1, "messages": 9, "calls": CALLS, "errors": 0, "compactions": 0}
    return SessionRows(
        f"s{number}", heading, "the same prompt", counts, calls, [], responses, passages, pack_passages(passages)
    )


def _open(folder: Any) -> SqliteArchive:
    connection = connect(str(folder))
    assert isinstance(connection, SqliteArchive)
    return connection


def _delta(connection: SqliteArchive, number: int, rows: SessionRows, grown: bool = False) -> Delta:
    path = f"/home/them/{number}.jsonl"
    known = known_source(connection, path)
    return Delta("claude_code", path, "", f"{number}", 1, known, grown, 1, None, [], [rows], [], {})


def _count_steps(connection: SqliteArchive, work: Callable[[], None]) -> int:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection.set_progress_handler(count, _EVERY)
    try:
        work()
    finally:
        connection.set_progress_handler(None, 0)
    return steps


def _store(connection: SqliteArchive, first: int, number: int, vary: Vary, at_once: int) -> None:
    for start in range(first, first + number, at_once):
        with connection.transaction():
            deltas = [_delta(connection, each, _session(each, vary)) for each in range(start, start + at_once)]
            store_batch(connection, Batch([], deltas))


@pytest.mark.parametrize("at_once", [1, 40])
@pytest.mark.parametrize("shared", SHARED)
def test_a_session_costs_the_same_steps_whatever_it_shares_with_those_before(
    tmp_path: Any, shared: str, at_once: int
) -> None:
    with closing(_open(tmp_path)) as connection:
        _store(connection, 0, 40, SHARED[shared], at_once)
        early = _count_steps(connection, lambda: _store(connection, 40, 40, SHARED[shared], at_once))
        _store(connection, 80, 320, SHARED[shared], at_once)
        late = _count_steps(connection, lambda: _store(connection, 400, 40, SHARED[shared], at_once))
    assert late < 1.6 * early + 20, f"{early} steps for the 41st to 80th session, {late} for the 401st to 440th"


def test_a_late_result_costs_the_same_steps_however_many_sessions_use_its_id(tmp_path: Any) -> None:
    shared = SHARED["ids of calls"]

    def grow(connection: SqliteArchive, number: int) -> None:
        results = [ResultRow(2000.0, False, 0, 3, f"call_{index}") for index in range(CALLS)]
        rows = _session(number, shared)._replace(calls=[], responses=[], passages=[], results=results)
        with connection.transaction():
            store_batch(connection, Batch([], [_delta(connection, number, rows, grown=True)]))

    def store(connection: SqliteArchive, first: int, number: int) -> None:
        with connection.transaction():
            rows = [_session(each, shared, results=[]) for each in range(first, first + number)]
            store_batch(connection, Batch([], [_delta(connection, first + at, each) for at, each in enumerate(rows)]))

    with closing(_open(tmp_path)) as connection:
        store(connection, 0, 20)
        early = _count_steps(connection, lambda: grow(connection, 5))
        store(connection, 20, 400)
        late = _count_steps(connection, lambda: grow(connection, 300))
        sizes = connection.execute(
            "SELECT output_size FROM calls JOIN sessions ON id = session_id WHERE session = 's300'"
        ).fetchall()
    assert sizes == [(3,)] * CALLS
    assert late < 1.6 * early + 20


def test_of_sessions_with_the_same_calls_only_the_first_counts_them(tmp_path: Any) -> None:
    with closing(_open(tmp_path)) as connection:
        _store(connection, 0, 12, SHARED["calls and responses"], 4)
        counted = connection.execute("SELECT key, calls FROM sessions WHERE calls > 0").fetchall()
        copied = connection.execute("SELECT sum(copied), count(*) FROM calls").fetchone()
    assert counted == [("claude_code:s0", CALLS)]
    assert copied == (11 * CALLS, 12 * CALLS)
