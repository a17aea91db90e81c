"""An archive with sessions to judge, and what is stored of their judgements, for the tests."""

from typing import Any

from preheat.archive.judged import pending
from preheat.ingest.judging import Judge, run
from preheat.ingest.rereading import Unreadable
from preheat.model.profile import CallRecord
from tests.ingest.machine import Machine, story

TABLES = ("judgements", "profiles", "outcomes", "signatures", "purposes")


def with_sessions(root: Any) -> Machine:
    """Five sessions with one to five calls, every second one failing, in one pack."""
    machine = Machine(root)
    for number in range(1, 6):
        story(number, steps=number).write(machine.projects)
    machine.sync()
    return machine


def key(number: int) -> str:
    return f"claude_code:{story(number).session}"


def grow(machine: Machine, number: int) -> None:
    transcript = story(number, steps=number)
    more = transcript.prompt("and again").answer("yes").ran("make again", "done")
    with open(transcript.write(machine.projects), "ab") as stream:
        stream.write(more.data()[len(transcript.data()) :])


def counts(machine: Machine) -> dict[str, int]:
    return {table: machine.rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def everything(machine: Machine) -> list[tuple[Any, ...]]:
    """All that is stored of the calls, without numbers that depend on the order of judging."""
    return machine.rows(
        "SELECT key, seq, message, era, tool, kind, activity, bookkeeping, status, rung, cause, exit_code, text, confidence, "
        "repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in, data FROM outcomes "
        "JOIN sessions ON sessions.id = session_id JOIN purposes ON purposes.id = purpose_id "
        "JOIN profiles USING (session_id) LEFT JOIN signatures ON signatures.id = signature_id ORDER BY key, seq"
    )


def judge_with(machine: Machine, judge: Judge) -> tuple[list[str], list[Unreadable]]:
    """Judge with another judge than the product's; the keys that were judged, and what failed."""
    told: list[str] = []
    connection = machine.connection()
    try:
        failures = run(connection, judge, pending(connection, judge.version), lambda name, _: told.append(name))
    finally:
        connection.close()
    return sorted(told), failures


def fields(record: CallRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in CallRecord.__struct_fields__}
