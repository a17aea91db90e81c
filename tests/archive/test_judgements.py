"""The judge's verdicts in the archive: stored and deleted with their session, and queried."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import analyse_archive, rows_of
from preheat.app.sessions.archive import forget_sessions, load_session
from preheat.archive import analyses, judgements, queries
from preheat.archive.analyses import AnalysedSession, find_pending
from preheat.archive.connect import HEAD, connect
from preheat.archive.rows import AnalysisRows
from preheat.model.analysis import Analysis
from preheat.model.listing import SessionFilter
from preheat.model.outcome import CAUSES, RUNGS, STATUSES
from preheat.model.profile import CallRecord
from preheat.model.session import Session
from tests.archive.analysed_machine import analyse_with, counts, drop_analyses, key, with_sessions, with_signatures
from tests.ingest.machine import Machine, story

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    return with_sessions(tmp_path)


def test_forgetting_a_session_deletes_its_judgement(machine: Machine) -> None:
    """Texts too: a signature is a piece of the session."""
    transcript = story(9).answer("so").run("frob", "frob: quicksilver is not a known vessel", exit_code=2)
    transcript.write(machine.projects)
    machine.sync()
    analyse_with(machine, "other", with_text)
    assert b"quicksilver" in machine.everything_on_disk()
    before = counts(machine)
    assert forget_sessions(machine.folder, [key(9)]) == 1
    after = counts(machine)
    assert (after["judgements"], after["profiles"]) == (before["judgements"] - 1, before["profiles"] - 1)
    assert after["outcomes"] == before["outcomes"] - 4
    assert b"quicksilver" not in machine.everything_on_disk()


def with_text(session: Session, rows: AnalysisRows) -> AnalysisRows:
    if session.id != story(9).session:
        return rows
    return with_signatures(rows, [*[None] * (len(rows.outcomes) - 1), f"quicksilver {session.id}"])


def test_an_archive_of_the_first_schema_is_upgraded(machine: Machine) -> None:
    connection = machine.connection()
    learned = ("notes", "episodes", "projects", "project_lookup", "places", "learnings", "lessons")
    for table in (*learned, "outcomes", "signatures", "purposes", "profiles", "judgements"):
        connection.execute(f"DROP TABLE {table}")
    connection.execute("DROP INDEX calls_copied")
    connection.execute("ALTER TABLE responses DROP COLUMN cache_write_hour_tokens")
    connection.execute("UPDATE alembic_version SET version_num = '0001'")
    connection.close()
    connection = connect(machine.folder)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (HEAD,)
    connection.close()
    assert analyse_archive(machine.folder).calls == 15


# Queries.
@pytest.mark.parametrize(
    "chosen",
    [
        SessionFilter(), SessionFilter(project="PROJ"), SessionFilter(project="other"), SessionFilter(agent="codex"),
        SessionFilter(model="sonnet"), SessionFilter(since=1_767_606_000.0 + 4500),
        SessionFilter(until=1_767_606_000.0 + 2500), SessionFilter(min_messages=9),
        SessionFilter(max_messages=8), SessionFilter(subagents=False),
    ],
)  # fmt: skip
def test_a_filter_restricts_sessions_calls_and_failures(machine: Machine, chosen: SessionFilter) -> None:
    analyse_archive(machine.folder)
    connection = machine.connection()
    listed = queries.list_sessions(connection, chosen)
    facts = list(judgements.judged_sessions(connection, chosen))
    assert sorted(fact.key for fact in facts) == sorted(summary.key for summary in listed)
    by_key = {summary.key: summary for summary in listed}
    for fact in facts:
        for name in ("agent", "model", "project", "messages", "parent", "relation", "started_at"):
            assert getattr(fact, name) == getattr(by_key[fact.key], name)
    calls = list(judgements.judged_calls(connection, chosen))
    assert [(call.session, call.seq) for call in calls] == [
        (fact.session, seq) for fact in facts for seq in range(by_key[fact.key].calls)
    ]
    failures = list(judgements.failed_calls(connection, chosen))
    assert len(failures) == sum(call.status in ("failed", "partial") for call in calls)
    assert {failure.key for failure in failures} <= set(by_key)
    assert len(list(judgements.session_profiles(connection, chosen))) == len(facts)
    connection.close()


def test_a_copied_call_counts_in_its_original_session(machine: Machine) -> None:
    old = story(7, steps=4)
    with open(story(8).write(machine.projects), "wb") as stream:
        stream.write(old.data().replace(old.session.encode(), story(8).session.encode()))
    old.write(machine.projects)
    machine.sync()
    analyse_archive(machine.folder)
    connection = machine.connection()
    owners = {
        fact.session: queries.find_session(connection, fact.key).calls
        for fact in judgements.judged_sessions(connection, SessionFilter())
    }
    calls = list(judgements.judged_calls(connection, SessionFilter()))
    assert len(calls) == 15 + 4
    for session, own in owners.items():
        assert sum(call.session == session for call in calls) == own
    assert sum(failure.key in (key(7), key(8)) for failure in judgements.failed_calls(connection, SessionFilter())) <= 2
    connection.close()


def test_a_failure_comes_with_its_repair(machine: Machine) -> None:
    analysed, _ = analyse_with(machine, "other", repaired_after_two_calls)
    assert analysed
    connection = machine.connection()
    failures = list(judgements.failed_calls(connection, SessionFilter()))
    connection.close()
    (failure,) = [fact for fact in failures if fact.key == key(1)]
    assert (failure.key, failure.seq, failure.tool, failure.summary) == (key(1), 0, "Bash", "make step-0")
    assert (failure.signature, failure.cause, failure.lost_tokens) == ("no <n>", "mistake", 12)
    assert (failure.recovered_in, failure.repair_tool, failure.repair_summary) == (2, None, None)
    assert failure.at is not None


def repaired_after_two_calls(session: Session, rows: AnalysisRows) -> AnalysisRows:
    first = {
        "status": STATUSES.index("failed"), "cause": CAUSES.index("mistake"), "lost_tokens": 12, "recovered_in": 2,
    }  # fmt: skip
    return with_signatures(rows, ["no <n>", *[None] * (len(rows.outcomes) - 1)], **first)


def test_the_repair_is_the_call_at_the_stored_distance(machine: Machine) -> None:
    analyse_with(machine, "other", repaired_after_two_calls)
    connection = machine.connection()
    failures = [
        fact
        for fact in judgements.failed_calls(connection, SessionFilter(min_messages=11))
        if fact.signature == "no <n>"
    ]
    connection.close()
    assert {(fact.repair_tool, fact.repair_summary) for fact in failures} == {("Bash", "make step-2")}


RECORDS = st.builds(
    CallRecord, seq=st.just(0), tool=st.text(max_size=5), kind=st.sampled_from(["read", "shell", "other"]),
    activity=st.text(max_size=5), message=st.integers(1, 10**6), era=st.integers(0, 100), bookkeeping=st.booleans(),
    status=st.sampled_from(STATUSES), rung=st.sampled_from(RUNGS), exit_code=st.none() | st.integers(-(2**31), 2**32),
    signature=st.text(max_size=8), cause=st.none() | st.sampled_from(CAUSES), confidence=st.floats(0, 1),
    repeated=st.booleans(), reread=st.booleans(), seconds=st.none() | st.floats(0, 1e6), lost_seconds=st.floats(0, 1e6),
    lost_tokens=st.integers(0, 10**12), recovered_in=st.none() | st.integers(1, 5),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(records=st.lists(RECORDS, min_size=5, max_size=5))
def test_every_call_record_is_loaded_as_it_was_stored(machine: Machine, records: list[CallRecord]) -> None:
    drop_analyses(machine)
    connection = machine.connection()
    texts = [{name: connection.storable_text(getattr(each, name)) for name in ("tool", "activity")} for each in records]
    records = [
        msgspec.structs.replace(record, seq=seq, signature=connection.storable_text(record.signature), **texts[seq])
        for seq, record in enumerate(records)
    ]
    session = next(
        session
        for group in find_pending(connection, "none").groups
        for unit in group
        for session in unit.sessions
        if session.key == key(5)
    )
    profile = assess(load_session(connection, key(5))).profile
    with connection.transaction():
        analyses.store_analyses(
            connection, [AnalysedSession(session, rows_of(Analysis(tuple(records), profile, (), ())))]
        )
    names = dict(connection.execute("SELECT id, text FROM signatures").fetchall())
    for record, fact in zip(records, judgements.judged_calls(connection, SessionFilter()), strict=True):
        for name in ("seq", "tool", "kind", "activity", "message", "era", "bookkeeping", "status", "cause", "repeated"):
            assert getattr(fact, name) == getattr(record, name)
        for name in ("reread", "lost_seconds", "lost_tokens", "recovered_in"):
            assert getattr(fact, name) == getattr(record, name)
        assert (names[fact.signature_id] if fact.signature_id else "") == record.signature
    rest = connection.execute("SELECT rung, exit_code, confidence, seconds FROM outcomes ORDER BY seq").fetchall()
    assert rest == [(RUNGS.index(r.rung), r.exit_code, r.confidence, r.seconds) for r in records]
    failed = [record for record in records if record.status in ("failed", "partial")]
    assert [fact.signature for fact in judgements.failed_calls(connection, SessionFilter())] == [
        r.signature for r in failed
    ]
    connection.close()
