"""Judging the archive: once for each session as it is, unharmed by kills, syncs, damage and defects."""

import os
import subprocess
import sys
from typing import Any

import pytest

from preheat.app.analysis import JudgeReport, assess, judge_archive
from preheat.app.sessions import load
from preheat.archive import judged, judgements
from preheat.archive.packing import decompress
from preheat.archive.raw import forget
from preheat.ingest import rereading
from preheat.ingest.judging import Assessment, Judge
from preheat.model.listing import Filter
from preheat.model.profile import CallRecord
from preheat.model.progress import Progress, Unit
from preheat.model.session import Session
from tests.archive.judged_machine import counts, everything, fields, grow, judge_with, key, with_sessions
from tests.ingest.machine import Machine, story


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    return with_sessions(tmp_path)


def summary(report: JudgeReport) -> tuple[int, int, int, int]:
    return report.sessions, report.calls, report.left, len(report.failures)


# When it is judged.
def test_nothing_is_judged_twice_and_no_byte_is_read_for_it(machine: Machine) -> None:
    assert summary(judge_archive(machine.folder)) == (5, 15, 0, 0)
    before = everything(machine)
    assert len(before) == 15
    connection = machine.connection()
    connection.execute("UPDATE packs SET data = x'00'")  # whoever reads them now fails
    connection.close()
    assert summary(judge_archive(machine.folder)) == (0, 0, 0, 0)
    assert everything(machine) == before


def test_a_grown_session_is_judged_again_and_no_other(machine: Machine) -> None:
    judge_archive(machine.folder)
    grow(machine, 2)
    machine.sync()
    assert summary(judge_archive(machine.folder)) == (1, 3, 0, 0)
    connection = machine.connection()
    assert sum(1 for _ in judgements.calls(connection, Filter())) == 16
    connection.close()
    assert summary(judge_archive(machine.folder)) == (0, 0, 0, 0)


def test_a_session_that_was_read_anew_is_judged_again(machine: Machine) -> None:
    """A rewritten file, however much of it is the same, is another reading."""
    judge_archive(machine.folder)
    path = story(3, steps=3).write(machine.projects)
    with open(path, "wb") as stream:
        stream.write(story(3, steps=3).data().replace(b"output", b"OUTPUT") + story(3).prompt("x").lines()[-1] + b"\n")
    machine.sync()
    assert judge_archive(machine.folder).sessions == 1


def test_another_version_of_the_judge_judges_everything(machine: Machine) -> None:
    """And what only the older one said is gone, its texts too."""
    judge_with(machine, Judge("old", assess_otherwise))
    assert any(row[12] == "an old text" for row in everything(machine))
    told, _ = judge_with(machine, Judge("new", assess))
    assert len(told) == 5
    assert machine.rows("SELECT DISTINCT version FROM judgements") == [("new",)]
    assert machine.rows("SELECT count(*) FROM signatures WHERE text = 'an old text'") == [(0,)]


def assess_otherwise(session: Session) -> Assessment:
    records, profile = assess(session)
    changed = [
        CallRecord(**{**fields(record), "status": "failed", "cause": "misuse", "signature": "an old text"})
        for record in records
    ]
    return Assessment(tuple(changed), profile)


def test_the_archive_keeps_exactly_what_the_stages_say(machine: Machine) -> None:
    judge_archive(machine.folder)
    connection = machine.connection()
    for number in range(1, 6):
        expected = assess(load(connection, key(number)))
        assert judgements.profile_of(connection, key(number)) == expected.profile
        stored = [row[1:4] for row in everything(machine) if row[0] == key(number)]
        assert stored == [(record.seq, record.message, record.era) for record in expected.records]
    assert judgements.profile_of(connection, "nobody:1") is None
    assert [profile.calls for profile in judgements.profiles(connection, Filter())] == [1, 2, 3, 4, 5]
    connection.close()


# Many at once, and what can go wrong.
def test_a_pack_is_unpacked_once_for_all_its_sessions(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[int] = []

    def counting(data: bytes) -> bytes:
        unpacked.append(len(data))
        return decompress(data)

    monkeypatch.setattr(rereading, "decompress", counting)
    assert judge_archive(machine.folder).sessions == 5
    assert len(unpacked) == machine.rows("SELECT count(*) FROM packs")[0][0] == 1


def in_many_packs(machine: Machine) -> None:
    for number in range(6, 12):
        story(number, steps=4).write(machine.projects)
        machine.sync()


@pytest.mark.parametrize("processes", [1, 2])
def test_when_the_time_is_over_the_rest_is_left_for_the_next_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """What was judged until then is stored, and how much is missing is known; without any time nothing is begun."""
    in_many_packs(machine)
    monkeypatch.setattr(judged, "PACK", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: processes)
    monkeypatch.setattr(rereading, "POOL_FROM", 0)
    assert summary(judge_archive(machine.folder, seconds=0)) == (0, 0, 11, 0)
    first = judge_archive(machine.folder, seconds=1e-9)
    assert 0 < first.sessions < 11
    assert first.left == 11 - first.sessions == 11 - counts(machine)["judgements"]
    assert judge_archive(machine.folder).sessions == first.left


def test_several_processes_give_what_one_gives(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    in_many_packs(machine)
    monkeypatch.setattr(judged, "PACK", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    alone = judge_archive(machine.folder)
    expected = everything(machine)
    connection = machine.connection()
    connection.execute("DELETE FROM judgements")
    connection.close()
    assert everything(machine) == []
    monkeypatch.setattr(rereading, "POOL_FROM", 0)
    assert summary(judge_archive(machine.folder)) == summary(alone)
    assert everything(machine) == expected


def test_damaged_bytes_are_named_and_the_rest_goes_on(machine: Machine) -> None:
    """What an older judge said of an unreadable session does not stay among the new verdicts."""
    story(8, steps=2).write(machine.projects)
    machine.sync()
    judge_with(machine, Judge("old", assess))
    connection = machine.connection()
    packed = connection.execute("SELECT data FROM packs WHERE id = 1").fetchone()[0]
    connection.execute("UPDATE packs SET data = ? WHERE id = 1", (packed[:200] + b"\xff\x00\xff" + packed[203:],))
    connection.close()
    report = judge_archive(machine.folder)
    assert summary(report) == (1, 2, 0, 5)
    assert sorted(failure.key for failure in report.failures) == [key(number) for number in range(1, 6)]
    assert "damaged" in report.failures[0].why
    assert counts(machine)["judgements"] == 1
    assert len(judge_archive(machine.folder).failures) == 5


def test_a_defect_in_the_judge_costs_one_session(machine: Machine) -> None:
    told, failures = judge_with(machine, Judge("1", assess_but_three))
    assert told == [key(number) for number in (1, 2, 4, 5)]
    assert [failure.key for failure in failures] == [key(3)]
    assert "ZeroDivisionError" in failures[0].why


def assess_but_three(session: Session) -> Assessment:
    if session.id == story(3).session:
        raise ZeroDivisionError("three")
    return assess(session)


class Growing(Progress):
    """A sync comes in between when the judging begins."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def begin(self, work: str, total: float, unit: Unit = "steps") -> None:
        grow(self.machine, 4)
        self.machine.sync()


def test_a_sync_in_between_leaves_its_sessions_to_the_next_run(machine: Machine) -> None:
    """Listed, then grown before it is read: neither waits for the other, and nothing stale is stored."""
    assert summary(judge_archive(machine.folder, Growing(machine))) == (4, 11, 1, 0)
    assert summary(judge_archive(machine.folder)) == (1, 5, 0, 0)


def test_a_verdict_on_what_has_changed_or_gone_is_not_stored(machine: Machine) -> None:
    """Read, then grown or forgotten before its verdict is stored."""

    def meanwhile(session: Session) -> Assessment:
        if session.id == story(1).session:
            grow(machine, 1)
            machine.sync()
        if session.id == story(5).session:
            connection = machine.connection()
            forget(connection, [key(5)])
            connection.close()
        return assess(session)

    told, failures = judge_with(machine, Judge("1", meanwhile))
    assert (told, failures) == ([key(number) for number in (2, 3, 4)], [])
    assert counts(machine)["judgements"] == 3


KILLED = """
import os, sys, time
from preheat.archive import judged
from preheat.app.analysis import judge_archive
from preheat.model.progress import Progress

class Stopping(Progress):
    told = 0
    def advance(self, amount=1, note=""):
        self.told += 1
        if self.told == 7:  # in the midst of the third group
            print("now", flush=True)
            time.sleep(3600)

judged.PACK = 1
judge_archive(sys.argv[1], Stopping())
"""


def test_a_killed_run_keeps_what_it_stored(machine: Machine) -> None:
    in_many_packs(machine)
    process = subprocess.Popen([sys.executable, "-c", KILLED, machine.folder], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    process.kill()
    process.communicate()
    stored = counts(machine)["judgements"]
    assert 7 <= stored < 11
    assert judge_archive(machine.folder).sessions == 11 - stored
    assert counts(machine)["judgements"] == 11
    assert machine.rows("PRAGMA integrity_check") == [("ok",)]
    assert machine.rows("PRAGMA foreign_key_check") == []
