"""An archive with sessions to analyse, and what is stored of their analyses, for the tests."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from preheat.app.analysis.one_pass import analyse_to_rows
from preheat.archive.analyses import find_pending
from preheat.archive.rows import AnalysisRows
from preheat.ingest.stored_sessions import UnreadableSession, analyse_pending
from preheat.model.session import Session
from tests.ingest.machine import Machine, story

TABLES = ("judgements", "profiles", "outcomes", "signatures", "purposes", "notes", "episodes")

Change = Callable[[Session, AnalysisRows], AnalysisRows]


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
    more = transcript.prompt("and again").answer("yes").run("make again", "done")
    with open(transcript.write(machine.projects), "ab") as stream:
        stream.write(more.data()[len(transcript.data()) :])


def drop_analyses(machine: Machine) -> None:
    """Delete all analyses."""
    connection = machine.connection()
    connection.execute("DELETE FROM judgements")
    connection.close()


def counts(machine: Machine) -> dict[str, int]:
    return {table: machine.rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}


def everything(machine: Machine) -> list[tuple[Any, ...]]:
    """Everything that is stored of the calls, without numbers that depend on the order of analysing."""
    return machine.rows(
        "SELECT key, seq, message, era, tool, kind, activity, bookkeeping, status, rung, cause, exit_code, text, confidence, "
        "repeated, reread, seconds, lost_seconds, lost_tokens, recovered_in, data FROM outcomes "
        "JOIN sessions ON sessions.id = session_id JOIN purposes ON purposes.id = purpose_id "
        "JOIN profiles USING (session_id) LEFT JOIN signatures ON signatures.id = signature_id ORDER BY key, seq"
    )


def analyse_with(
    machine: Machine, version: str, change: Change | None = None
) -> tuple[list[str], list[UnreadableSession]]:
    """Analyse with another version than the product's; returns the keys that were analysed, and the failures."""
    analysed: list[str] = []
    connection = machine.connection()
    try:
        failures = analyse_pending(
            connection,
            partial(_changed, version, change),
            version,
            find_pending(connection, version),
            lambda name, _: analysed.append(name),
        )
    finally:
        connection.close()
    return sorted(analysed), failures


def _changed(version: str, change: Change | None, session: Session, copied: frozenset[int]) -> AnalysisRows:
    rows = analyse_to_rows(session, copied)._replace(version=version)
    return rows if change is None else change(session, rows)


def with_signatures(rows: AnalysisRows, texts: Sequence[str | None], **fields: Any) -> AnalysisRows:
    """The rows with these signatures, one for each call (None leaves it), and with these fields."""
    signatures = list(dict.fromkeys([*rows.signatures, *(text for text in texts if text is not None)]))
    outcomes = [
        row if text is None else row._replace(signature=signatures.index(text), **fields)
        for row, text in zip(rows.outcomes, texts, strict=True)
    ]
    return rows._replace(signatures=signatures, outcomes=outcomes)
