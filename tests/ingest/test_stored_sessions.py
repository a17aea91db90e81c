"""Sessions are analysed by the sync that reads them whole, else from the packs: once for each state, and unharmed by kills."""

import os
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from preheat.app.analysis import one_pass as analysis
from preheat.app.analysis.one_pass import AnalysisReport, analyse, analyse_archive, analyse_to_rows
from preheat.app.learning import learn
from preheat.app.sessions.archive import load_session
from preheat.archive import analyses, judgements, notes
from preheat.archive.connect import connect
from preheat.archive.notes import load_episodes
from preheat.archive.packing import decompress
from preheat.archive.raw import forget
from preheat.archive.rows import AnalysisRows
from preheat.ingest import stored_sessions
from preheat.lessons.learners import LEARNERS
from preheat.model.listing import SessionFilter
from preheat.model.outcome import CAUSES, STATUSES
from preheat.model.progress import Progress, ProgressUnit
from preheat.model.session import Session
from tests.archive.analysed_machine import (
    analyse_with,
    counts,
    drop_analyses,
    everything,
    grow,
    key,
    with_sessions,
    with_signatures,
)
from tests.ingest.machine import Machine, story
from tests.packed import unpack
from tests.shared import FIXTURES

pytestmark = pytest.mark.usefixtures("each_database")

TYPES = {learner.name: learner.notes_type for learner in LEARNERS}


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    return with_sessions(tmp_path)


def summary(report: AnalysisReport) -> tuple[int, int, int, int]:
    return report.sessions, report.calls, report.left, len(report.failures)


def spoil_bytes(machine: Machine) -> None:
    """Damage all packs, so that reading a session fails."""
    connection = machine.connection()
    connection.execute("UPDATE packs SET data = ?", (b"\0",))
    connection.close()


# When sessions are analysed.
def test_a_sync_analyses_the_sessions_that_it_reads(machine: Machine) -> None:
    before = everything(machine)
    assert len(before) == 15
    found = counts(machine)
    assert (found["judgements"], found["profiles"], found["episodes"]) == (5, 5, 5)
    noting = [learner for learner in LEARNERS if learner.take_notes is not None]
    assert found["notes"] == 5 * len(noting)
    spoil_bytes(machine)
    assert summary(analyse_archive(machine.folder)) == (0, 0, 0, 0)
    report = learn(machine.folder)
    assert (report.sessions, report.failures) == (5, [])
    assert everything(machine) == before


def test_an_analysis_from_the_packs_equals_one_from_the_file(machine: Machine) -> None:
    before, found = everything(machine), machine.analyses()
    drop_analyses(machine)
    assert everything(machine) == []
    assert summary(analyse_archive(machine.folder)) == (5, 15, 0, 0)
    assert (everything(machine), machine.analyses()) == (before, found)


def test_only_a_grown_session_is_analysed_again(machine: Machine) -> None:
    grow(machine, 2)
    machine.sync()
    assert summary(analyse_archive(machine.folder)) == (1, 3, 0, 0)
    connection = machine.connection()
    assert sum(1 for _ in judgements.judged_calls(connection, SessionFilter())) == 16
    assert [each.prompt for each in load_episodes(connection, key(2))][1:] == ["and again"]
    connection.close()
    assert summary(analyse_archive(machine.folder)) == (0, 0, 0, 0)


def test_a_session_that_is_read_again_is_analysed_by_the_sync(machine: Machine) -> None:
    path = story(3, steps=3).write(machine.projects)
    with open(path, "wb") as stream:
        stream.write(story(3, steps=3).data().replace(b"output", b"OUTPUT") + story(3).prompt("x").lines()[-1] + b"\n")
    machine.sync()
    assert machine.rows("SELECT sum(generation) FROM judgements") == [(1,)]
    assert analyse_archive(machine.folder).sessions == 0


def test_another_version_analyses_every_session(machine: Machine) -> None:
    """Texts that only the older analysis used are deleted."""
    drop_analyses(machine)
    analyse_with(machine, "old", with_other_errors)
    assert any(row[12] == "an old text" for row in everything(machine))
    analysed, _ = analyse_with(machine, "new")
    assert len(analysed) == 5
    assert machine.rows("SELECT DISTINCT version FROM judgements") == [("new",)]
    assert machine.rows("SELECT count(*) FROM signatures WHERE text = 'an old text'") == [(0,)]


def with_other_errors(session: Session, rows: AnalysisRows) -> AnalysisRows:
    failed = {"status": STATUSES.index("failed"), "cause": CAUSES.index("mistake")}
    return with_signatures(rows, ["an old text"] * len(rows.outcomes), **failed)


def test_queries_use_the_analyses_of_another_version(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an update `mistakes` and `profile` say how many sessions are outdated; learning analyses them again."""
    monkeypatch.setattr(analysis, "OUTCOMES_VERSION", "another")
    monkeypatch.setattr(analysis, "VERSION", "another")
    asked = analyse_archive(machine.folder, need="rows")
    assert (summary(asked), asked.outdated) == ((0, 0, 0, 0), 5)
    assert analyse_archive(machine.folder).sessions == 5
    assert machine.rows("SELECT DISTINCT version FROM judgements") == [("another",)]
    assert analyse_archive(machine.folder, need="rows").outdated == 0


def test_the_archive_stores_exactly_what_the_stages_give(machine: Machine) -> None:
    connection = machine.connection()
    for number in range(1, 6):
        expected = analyse(load_session(connection, key(number)))
        assert judgements.load_profile(connection, key(number)) == expected.profile
        assert load_episodes(connection, key(number)) == expected.episodes
        stored = [row[1:4] for row in everything(machine) if row[0] == key(number)]
        assert stored == [(record.seq, record.message, record.era) for record in expected.records]
        for note in expected.notes:
            (session,) = connection.execute("SELECT id FROM sessions WHERE key = ?", (key(number),)).fetchone()
            found = [each.data for each in notes.load_notes(connection, note.learner, [session])]
            decoded = [msgspec.msgpack.decode(data, type=TYPES[note.learner]) for data in found]
            assert decoded == ([] if note.notes is None else [note.notes])
    assert judgements.load_profile(connection, "nobody:1") is None
    assert [profile.calls for profile in judgements.session_profiles(connection, SessionFilter())] == [1, 2, 3, 4, 5]
    connection.close()


def test_the_number_of_failed_calls_is_the_same_everywhere(machine: Machine) -> None:
    """In lists and profiles, for sessions that were read whole or have grown."""
    grow(machine, 4)
    machine.sync()
    analyse_archive(machine.folder)
    listed = dict(machine.rows("SELECT key, errors FROM sessions"))
    connection = machine.connection()
    profiled = {each: judgements.load_profile(connection, each) for each in listed}
    failures = [fact.key for fact in judgements.failed_calls(connection, SessionFilter())]
    connection.close()
    for each, errors in listed.items():
        measured = profiled[each]
        assert measured is not None
        assert errors == measured.errors.count == failures.count(each)
    assert listed[key(5)] == 2


@pytest.mark.parametrize("each_database", ["sqlite"], indirect=True)  # it looks into the file
def test_an_archive_of_the_first_version_is_queried_without_reading_it_again(tmp_path: Any) -> None:
    """Episodes, which it lacks, come with the next learning."""
    unpack(os.path.join(FIXTURES, "homes", "0004", "home.tar.xz"), tmp_path)
    folder = str(tmp_path)
    connection = connect(folder)
    sessions = connection.execute("SELECT count(*) FROM sessions").fetchone()[0]
    copies = connection.execute("SELECT count(DISTINCT session_id) FROM calls WHERE copied").fetchone()[0]
    known = "SELECT key, errors FROM sessions WHERE id IN (SELECT session_id FROM judgements)"
    for name, errors in connection.execute(known):
        profile = judgements.load_profile(connection, name)
        assert profile is not None
        assert copies or profile.errors.count == errors
    assert connection.execute("SELECT count(*) FROM episodes").fetchone() == (0,)
    lessons = connection.execute("SELECT id FROM lessons ORDER BY id").fetchall()
    connection.close()
    assert summary(analyse_archive(folder, need="rows"))[0] == copies
    report = learn(folder)
    connection = connect(folder)
    assert connection.execute("SELECT count(*) FROM judgements WHERE version = ?", (analysis.VERSION,)).fetchone() == (
        sessions - len(report.failures),
    )
    assert connection.execute("SELECT count(*) FROM episodes").fetchone()[0] > 0
    assert connection.execute("SELECT id FROM lessons ORDER BY id").fetchall() == lessons
    connection.close()


# Calls that were copied from another session.
def fork(machine: Machine) -> None:
    """Session 7, and session 8 that begins with all its records."""
    old = story(7, steps=4)
    copied = old.data().replace(old.session.encode(), story(8).session.encode())
    more = story(8, steps=0).prompt("and further").run("make further", "further: no rule for quicksilver", exit_code=2)
    with open(more.write(machine.projects), "wb") as stream:
        stream.write(copied + more.data())
    old.write(machine.projects)
    machine.sync()


def test_a_fork_is_analysed_without_its_copied_calls(machine: Machine) -> None:
    fork(machine)
    assert summary(analyse_archive(machine.folder)) == (0, 0, 0, 0)
    connection = machine.connection()
    profile = judgements.load_profile(connection, key(8))
    assert profile is not None
    assert (profile.calls, profile.errors.count) == (1, 1)
    found = [(each.prompt, each.first_seq, each.calls) for each in load_episodes(connection, key(8))]
    assert found == [("please mend the frobnicator number 8", -1, 0), ("and further", 4, 1)]
    connection.close()
    assert machine.rows(f"SELECT errors FROM sessions WHERE key = '{key(8)}'") == [(1,)]


def test_forks_of_a_killed_sync_are_analysed_later(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis that counted copied calls is deleted."""
    monkeypatch.setattr(analysis, "analyse_forks", lambda connection, progress: None)
    fork(machine)
    assert {row[0] for row in machine.rows("SELECT key FROM judgements JOIN sessions ON sessions.id = session_id")} == {
        key(number) for number in (1, 2, 3, 4, 5, 7)
    }
    assert summary(analyse_archive(machine.folder)) == (1, 5, 0, 0)


def test_copied_calls_are_learned_from_once(machine: Machine) -> None:
    """Also when the fork was learned from before its original was found."""
    fork(machine)
    learn(machine.folder)
    expected = machine.analyses()
    other = Machine(os.path.join(os.path.dirname(machine.home), "other"))
    for number in range(1, 6):
        story(number, steps=number).write(other.projects)
    fork(other)
    old = story(7, steps=4).write(other.projects)
    os.rename(old, f"{old}.away")
    late = Machine(os.path.join(os.path.dirname(machine.home), "late"))
    late.home, late.projects, late.environment = other.home, other.projects, other.environment
    late.sync()
    learn(late.folder)
    os.rename(f"{old}.away", old)
    late.sync()
    learn(late.folder)
    assert late.analyses() == expected


def test_a_fork_counts_its_copies_once_their_original_is_forgotten(machine: Machine) -> None:
    fork(machine)
    analyse_archive(machine.folder)
    connection = machine.connection()
    forget(connection, [key(7)])
    connection.close()
    assert summary(analyse_archive(machine.folder)) == (1, 5, 0, 0)
    connection = machine.connection()
    profile = judgements.load_profile(connection, key(8))
    connection.close()
    assert profile is not None
    assert profile.calls == 5


def test_an_analysis_from_before_copies_were_found_is_not_stored(machine: Machine) -> None:
    drop_analyses(machine)

    def meanwhile(session: Session, rows: AnalysisRows) -> AnalysisRows:
        if session.id == story(2).session:
            connection = machine.connection()
            connection.execute(
                f"UPDATE calls SET copied = true WHERE seq = 0 AND session_id = (SELECT id FROM sessions WHERE key = '{key(2)}')"
            )
            connection.close()
        return rows

    analysed, failures = analyse_with(machine, "other", meanwhile)
    assert (analysed, failures) == ([key(number) for number in (1, 3, 4, 5)], [])


# Several packs and processes, and what can go wrong.
def test_a_pack_is_unpacked_once_for_all_its_sessions(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    drop_analyses(machine)
    unpacked: list[int] = []

    def counting(data: bytes) -> bytes:
        unpacked.append(len(data))
        return decompress(data)

    monkeypatch.setattr(stored_sessions, "decompress", counting)
    assert analyse_archive(machine.folder).sessions == 5
    assert len(unpacked) == machine.rows("SELECT count(*) FROM packs")[0][0] == 1


def in_many_packs(machine: Machine) -> None:
    for number in range(6, 12):
        story(number, steps=4).write(machine.projects)
        machine.sync()
    drop_analyses(machine)


@pytest.mark.parametrize("processes", [1, 2])
def test_after_the_time_limit_the_rest_is_left_for_the_next_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """Without any time nothing is begun."""
    in_many_packs(machine)
    monkeypatch.setattr(analyses, "PACK_SIZE", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: processes)
    monkeypatch.setattr(stored_sessions, "POOL_FROM", 0)
    assert summary(analyse_archive(machine.folder, seconds=0)) == (0, 0, 11, 0)
    first = analyse_archive(machine.folder, seconds=1e-9)
    assert 0 < first.sessions < 11
    assert first.left == 11 - first.sessions == 11 - counts(machine)["judgements"]
    assert analyse_archive(machine.folder).sessions == first.left


def test_several_processes_give_the_same_as_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    in_many_packs(machine)
    monkeypatch.setattr(analyses, "PACK_SIZE", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    alone = analyse_archive(machine.folder)
    expected = everything(machine), machine.analyses()
    drop_analyses(machine)
    monkeypatch.setattr(stored_sessions, "POOL_FROM", 0)
    assert summary(analyse_archive(machine.folder)) == summary(alone)
    assert (everything(machine), machine.analyses()) == expected


def test_damaged_sessions_are_reported_and_the_others_analysed(machine: Machine) -> None:
    """Outdated verdicts on an unreadable session are deleted."""
    story(8, steps=2).write(machine.projects)
    machine.sync()
    drop_analyses(machine)
    analyse_with(machine, "old")
    connection = machine.connection()
    packed = connection.execute("SELECT data FROM packs WHERE id = 1").fetchone()[0]
    connection.execute("UPDATE packs SET data = ? WHERE id = 1", (packed[:200] + b"\xff\x00\xff" + packed[203:],))
    connection.close()
    report = analyse_archive(machine.folder)
    assert summary(report) == (1, 2, 0, 5)
    assert sorted(failure.key for failure in report.failures) == [key(number) for number in range(1, 6)]
    assert "damaged" in report.failures[0].why
    assert counts(machine)["judgements"] == 1
    assert len(analyse_archive(machine.folder).failures) == 5


def test_a_defect_in_the_analysis_affects_one_session_only(machine: Machine) -> None:
    drop_analyses(machine)
    analysed, failures = analyse_with(machine, "other", all_but_three)
    assert analysed == [key(number) for number in (1, 2, 4, 5)]
    assert [failure.key for failure in failures] == [key(3)]
    assert "ZeroDivisionError" in failures[0].why


def all_but_three(session: Session, rows: AnalysisRows) -> AnalysisRows:
    if session.id == story(3).session:
        raise ZeroDivisionError("three")
    return rows


def test_a_session_whose_analysis_fails_is_stored_all_the_same(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later analysis reports the failure."""

    def broken(session: Session, copied: frozenset[int] = frozenset()) -> AnalysisRows:
        if session.id == story(9).session:
            raise ZeroDivisionError("nine")
        return analyse_to_rows(session, copied)

    monkeypatch.setattr(analysis, "analyse_to_rows", broken)
    for number in (8, 9):
        story(number).write(machine.projects)
    assert not machine.sync().failures
    assert machine.rows("SELECT count(*) FROM sessions") == [(7,)]
    assert counts(machine)["judgements"] == 6
    assert [failure.key for failure in analyse_archive(machine.folder).failures] == [key(9)]


class Growing(Progress):
    """Runs a sync when the analysis begins."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def begin(self, work: str, total: float, unit: ProgressUnit = "steps") -> None:
        grow(self.machine, 4)
        self.machine.sync()


def test_sessions_of_a_sync_in_between_are_left_for_the_next_run(machine: Machine) -> None:
    drop_analyses(machine)
    assert summary(analyse_archive(machine.folder, Growing(machine))) == (4, 11, 1, 0)
    assert summary(analyse_archive(machine.folder)) == (1, 5, 0, 0)


def test_an_analysis_of_a_changed_or_forgotten_session_is_not_stored(machine: Machine) -> None:
    drop_analyses(machine)

    def meanwhile(session: Session, rows: AnalysisRows) -> AnalysisRows:
        if session.id == story(1).session:
            grow(machine, 1)
            machine.sync()
        if session.id == story(5).session:
            connection = machine.connection()
            forget(connection, [key(5)])
            connection.close()
        return rows

    analysed, failures = analyse_with(machine, "other", meanwhile)
    assert (analysed, failures) == ([key(number) for number in (2, 3, 4)], [])
    assert counts(machine)["judgements"] == 3


KILLED = """
import sys, time
from preheat.archive import analyses
from preheat.app.analysis.one_pass import analyse_archive
from preheat.model.progress import Progress

class Stopping(Progress):
    analysed = 0
    def advance(self, amount=1, note=""):
        self.analysed += 1
        if self.analysed == 7:  # in the midst of the third group
            print("now", flush=True)
            time.sleep(60)

analyses.PACK_SIZE = 1
analyse_archive(sys.argv[1], Stopping())
"""


@pytest.mark.parametrize("each_database", ["sqlite"], indirect=True)  # it looks into the file
def test_a_killed_run_keeps_the_analyses_that_it_stored(machine: Machine) -> None:
    in_many_packs(machine)
    process = subprocess.Popen([sys.executable, "-c", KILLED, machine.folder], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    process.kill()
    process.communicate()
    stored = counts(machine)["judgements"]
    assert 7 <= stored < 11
    assert analyse_archive(machine.folder).sessions == 11 - stored
    assert counts(machine)["judgements"] == 11
    assert machine.rows("PRAGMA integrity_check") == [("ok",)]
    assert machine.rows("PRAGMA foreign_key_check") == []
