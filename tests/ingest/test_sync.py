"""The sync is incremental and idempotent, and survives kills, rivals, growing and vanishing files."""

import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS, places_of
from preheat.agents.places import SourceFile
from preheat.agents.sources import read
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.sessions.archive import load_analyser, load_session, sync
from preheat.archive.connect import connect
from preheat.archive.raw import verify
from preheat.errors import ArchiveBusy, ArchiveUnusable
from preheat.ingest.changes import SourceChange
from preheat.ingest.sync import read_changes
from preheat.model.progress import Progress
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.machine import Machine, story
from tests.shared import FIXTURES, bound_by_permissions, fixture_files, needs_permissions
from tests.waiting import HUNG, until


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    return Machine(tmp_path)


class Sizes(Progress):
    """Records how many bytes of each source were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.read.append(int(amount))


def load(machine: Machine, key: str) -> Any:
    connection = machine.connection()
    try:
        return load_session(connection, key)
    finally:
        connection.close()


@pytest.mark.usefixtures("each_database")
def test_a_session_is_loaded_as_it_was_read(machine: Machine) -> None:
    path = story(1).write(machine.projects)
    machine.sync()
    before = machine.contents()
    report = machine.sync()
    assert sum(row.read for row in report.agents.values()) == 0
    assert machine.contents() == before
    assert [load(machine, before["sessions"][0][0])] == read(path)


@pytest.mark.usefixtures("each_database")
def test_only_the_new_bytes_of_a_grown_file_are_read(machine: Machine) -> None:
    data = story(1, steps=8).data()
    lines = data.splitlines(keepends=True)
    path = story(1).write(machine.projects)
    first = b"".join(lines[:9])
    with open(path, "wb") as stream:
        stream.write(first)
    machine.sync()
    with open(path, "ab") as stream:
        stream.write(b"".join(lines[9:]))
    sizes = Sizes()
    machine.sync(sizes)
    assert sizes.read == [len(data) - len(first)]


@given(cuts=st.lists(st.floats(0, 1), min_size=1, max_size=5), steps=st.integers(0, 5))
@example(cuts=[0.6163588905799958], steps=4)  # the cut falls between a record and its line end
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reading_in_any_pieces_gives_the_same_as_reading_at_once(
    cuts: list[float], steps: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut anywhere, also inside a line."""
    transcript = (
        story(1, steps)
        .compaction("so far")
        .prompt("go on")
        .run("ls", "a\nb")
        .rewind()
        .prompt("no, this way")
        .answer("ok")
    )
    data = transcript.data()
    pieces, whole = Machine(tmp_path_factory.mktemp("pieces")), Machine(tmp_path_factory.mktemp("whole"))
    path = transcript.write(pieces.projects)
    for end in sorted(int(cut * len(data)) for cut in [*cuts, 1.0]):
        with open(path, "wb") as stream:
            stream.write(data[:end])
        pieces.sync()
    transcript.write(whole.projects)
    whole.sync()
    analyse_archive(pieces.folder)
    mine, theirs = pieces.contents(), whole.contents()
    mine.pop("bytes"), theirs.pop("bytes")
    assert mine == theirs
    assert pieces.analyses() == whole.analyses()


@pytest.mark.usefixtures("each_database")
def test_a_half_written_line_is_read_by_the_next_sync(machine: Machine) -> None:
    data = story(1).data()
    path = story(1).write(machine.projects)
    with open(path, "wb") as stream:
        stream.write(data[:-20])
    assert not machine.sync().problems
    assert machine.rows("SELECT sum(length) FROM segments") == [(data[:-20].rfind(b"\n") + 1,)]
    with open(path, "wb") as stream:
        stream.write(data)
    machine.sync()
    assert load(machine, machine.contents()["sessions"][0][0]).events == read(path)[0].events


@pytest.mark.usefixtures("each_database")
def test_the_archive_keeps_sessions_whose_files_are_deleted(machine: Machine) -> None:
    path = story(1).write(machine.projects)
    session = read(path)[0]
    machine.sync()
    os.unlink(path)
    machine.sync()
    assert load(machine, f"claude_code:{session.id}") == session


@pytest.mark.usefixtures("each_database")
def test_a_file_that_shrinks_loses_nothing(machine: Machine) -> None:
    """The longer version stays, with a problem that says so."""
    path = story(1, steps=4).write(machine.projects)
    machine.sync()
    before = machine.contents()["sessions"]
    with open(path, "wb") as stream:
        stream.write(story(1, steps=1).data())
    machine.sync()
    assert machine.contents()["sessions"] == before
    assert "has shrunk" in machine.rows("SELECT message FROM problems")[0][0]
    assert len(load(machine, before[0][0]).events) == before[0][12]


@pytest.mark.usefixtures("each_database")
def test_a_shorter_file_with_new_calls_replaces_the_rows_and_keeps_the_old_bytes(machine: Machine) -> None:
    path = story(1, steps=6).write(machine.projects)
    machine.sync()
    with open(path, "wb") as stream:
        stream.write(story(1, steps=1).call("Bash", {"command": "make other-way"}, call_id="toolu_new").data())
    machine.sync()
    assert "toolu_new" in {row[2] for row in machine.contents()["calls"]}
    assert machine.rows("SELECT count(DISTINCT generation) FROM segments") == [(2,)]


@pytest.mark.usefixtures("each_database")
def test_a_file_that_now_holds_another_session_keeps_the_first(machine: Machine) -> None:
    path = story(1).write(machine.projects)
    renamed = os.path.join(os.path.dirname(path), "current.jsonl")
    os.rename(path, renamed)
    machine.sync()
    with open(renamed, "wb") as stream:
        stream.write(story(2).data())
    machine.sync()
    assert len(machine.contents()["sessions"]) == 2
    for number in (1, 2):
        assert load(machine, f"claude_code:{story(number).session}").id == story(number).session


@pytest.mark.usefixtures("each_database")
def test_two_files_with_one_session_count_it_once(machine: Machine) -> None:
    """The rows come from the longer file, in whatever order they are found."""
    for name, steps in (("a-copy", 1), ("b-whole", 5), ("c-copy", 2)):
        path = story(1, steps).write(machine.projects)
        os.rename(path, os.path.join(os.path.dirname(path), f"{name}.jsonl"))
        machine.sync()
    assert [row[15] for row in machine.contents()["sessions"]] == [5]
    assert machine.rows("SELECT count(*) FROM calls") == [(5,)]


def test_a_session_in_several_files_is_reported_once(machine: Machine) -> None:
    for name, steps in (("a-copy", 1), ("b-whole", 5), ("c-copy", 2)):
        path = story(1, steps).write(machine.projects)
        os.rename(path, os.path.join(os.path.dirname(path), f"{name}.jsonl"))
    story(2).write(machine.projects)
    report = machine.sync()
    assert report.agents["claude_code"].sessions == 2 == machine.rows("SELECT count(*) FROM sessions")[0][0]


@pytest.mark.usefixtures("each_database")
def test_history_copied_into_another_session_counts_once(machine: Machine) -> None:
    """A resumed session that repeats the old records under its own id."""
    old = story(1, steps=4)
    copied = old.data().replace(old.session.encode(), story(2).session.encode())
    old.write(machine.projects)
    more = ClaudeTranscript(session=story(2).session, started=old.started + 900).prompt("on").run("make more", "fine")
    path = more.write(machine.projects)
    with open(path, "wb") as stream:
        stream.write(
            copied.replace(f"msg_{story(2).session[:8]}".encode(), f"msg_{old.session[:8]}".encode()) + more.data()
        )
    machine.sync()
    calls = {row[0]: row[15] for row in machine.contents()["sessions"]}
    assert calls == {f"claude_code:{old.session}": 4, f"claude_code:{story(2).session}": 1}


@pytest.mark.usefixtures("each_database")
def test_call_ids_that_small_models_repeat_are_not_copies(machine: Machine) -> None:
    for number in (1, 2):
        transcript = story(number, 0)
        transcript.call("Bash", {"command": "ls"}, call_id="call_0").result("x", call_id="call_0").write(
            machine.projects
        )
    machine.sync()
    assert machine.rows("SELECT count(*) FROM calls WHERE NOT copied") == [(2,)]


@pytest.mark.usefixtures("each_database")
def test_a_new_reader_version_reads_again_what_is_still_there(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, there = story(1).write(machine.projects), story(2).write(machine.projects)
    machine.sync()
    before = machine.contents()
    os.unlink(gone)
    place = places_of("claude_code")
    monkeypatch.setattr(place, "reader_version", place.reader_version + 1)
    sizes = Sizes()
    machine.sync(sizes)
    assert sizes.read == [os.path.getsize(there)]
    assert machine.contents() == before


def test_a_killed_sync_loses_and_duplicates_nothing(tmp_path: Any) -> None:
    """Killed at random moments; the last sync gives the same archive as a single one."""
    killed, calm = Machine(tmp_path / "killed"), Machine(tmp_path / "calm")
    for number in range(60):
        for machine in (killed, calm):
            story(number, steps=30).write(machine.projects)
    chance = random.Random(7)
    killed_at_work, latest = 0, 0.6
    while killed_at_work < 3:
        process = killed.start()
        time.sleep(chance.uniform(0.1, 1.0) * latest)
        killed_at_work += process.poll() is None
        process.kill()
        process.communicate()
        latest *= 0.9  # there is less to do each time, and the machine may be a quick one
    killed.sync()
    calm.sync()
    assert killed.analyses() == calm.analyses()
    assert calm.rows("SELECT count(*) FROM judgements") == [(60,)]
    mine, theirs = killed.contents(), calm.contents()
    mine.pop("bytes"), theirs.pop("bytes")
    assert mine == theirs
    connection = killed.connection()
    assert list(verify(connection)) == []
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_two_syncs_at_once_store_every_session_once(tmp_path: Any) -> None:
    rivals, calm = Machine(tmp_path / "rivals"), Machine(tmp_path / "calm")
    for number in range(40):
        for machine in (rivals, calm):
            story(number, steps=10).write(machine.projects)
    processes = [rivals.start() for _ in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=HUNG)
        assert process.returncode == 0, errors
    calm.sync()
    assert rivals.analyses() == calm.analyses()
    mine, theirs = rivals.contents(), calm.contents()
    mine.pop("bytes"), theirs.pop("bytes")
    assert mine == theirs


def test_a_file_that_grows_during_syncs_is_read_completely_in_the_end(machine: Machine) -> None:
    data = story(1, steps=60).data()
    path = story(1).write(machine.projects)
    with open(path, "wb"):
        pass

    def write() -> None:
        with open(path, "ab", buffering=0) as stream:
            for start in range(0, len(data), 700):
                stream.write(data[start : start + 700])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert not machine.sync().problems
    writer.join()
    machine.sync()
    assert load(machine, f"claude_code:{story(1).session}").events == read(path)[0].events


def change(path: str) -> SourceChange:
    return SourceChange("claude_code", SourceFile(path, 100, "stamp"), 1, None)


def test_a_file_that_vanishes_is_reported_and_the_others_stored(machine: Machine) -> None:
    there = story(1).write(machine.projects)
    connection = machine.connection()
    failures = read_changes(
        connection, machine.folder, [change("/nowhere/x.jsonl"), change(there)], lambda result: None, load_analyser
    )
    assert [(failure.path, failure.why) for failure in failures] == [("/nowhere/x.jsonl", "it is not there (any more)")]
    assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    connection.close()


@needs_permissions
def test_a_file_without_permission_is_reported_and_read_later(machine: Machine) -> None:
    path = story(1).write(machine.projects)
    machine.sync()
    locked = story(2).write(machine.projects)
    os.chmod(locked, 0)
    with bound_by_permissions(os.path.dirname(machine.folder)):
        report = machine.sync()
    assert [(failure.path, failure.why) for failure in report.failures] == [(locked, "no permission")]
    assert os.path.exists(path)
    os.chmod(locked, 0o600)
    assert not machine.sync().failures
    assert machine.rows("SELECT count(*) FROM sessions") == [(2,)]


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        (b"", 0),
        (b"\n\n\n", 0),
        (b"\x00\x01\x02" * 1000, 1),
        (b"\xff\xfe{\n}\n" * 200, 51),
        (b"[1, 2]\n", 1),
        (b'"a"\nnull\n', 2),
    ],
)
def test_a_file_of_another_format_is_reported_and_gives_no_session(
    machine: Machine, content: bytes, problems: int
) -> None:
    os.makedirs(os.path.join(machine.projects, "p"))
    with open(os.path.join(machine.projects, "p", "x.jsonl"), "wb") as stream:
        stream.write(content)
    story(1).write(machine.projects)
    report = machine.sync()
    assert len(report.problems) == problems
    assert all(path.endswith("x.jsonl") for path, _, _ in report.problems)
    assert machine.rows("SELECT count(*) FROM sessions") == [(1,)]


def test_a_line_that_is_too_long_to_parse_is_kept(machine: Machine) -> None:
    path = story(1).write(machine.projects)
    data = story(1).data()
    long = b'{"type":"user","x":"' + b"word " * (8 << 20) + b'"}\n'
    with open(path, "wb") as stream:
        stream.write(data[: data.index(b"\n") + 1] + long + data[data.index(b"\n") + 1 :])
    report = machine.sync()
    assert [(line, "more than 32 MB" in why) for _, line, why in report.problems] == [(2, True)]
    assert machine.rows("SELECT sum(length) FROM segments") == [(os.path.getsize(path),)]
    assert len(load(machine, f"claude_code:{story(1).session}").events) == len(read(path)[0].events)


def test_everything_is_readable_by_its_owner_only(machine: Machine) -> None:
    story(1).write(machine.projects)
    before = os.umask(0)
    try:
        machine.sync()
        connection = machine.connection()
        connection.execute("BEGIN IMMEDIATE")  # the log file is there while somebody writes
        for folder, _, names in os.walk(machine.folder):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
            for name in names:
                assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600, name
        connection.close()
    finally:
        os.umask(before)


@pytest.mark.usefixtures("each_database")
def test_no_secret_is_stored_anywhere(machine: Machine) -> None:
    """Not in packs, rows, search index or saved parser states."""
    key = "sk-" + "ant-api03-" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" * 2 + "-AA"
    transcript = (
        story(1)
        .prompt(f"use {key} please")
        .run(f"export ANTHROPIC_API_KEY={key}", f"set to {key}")
        .answer(f"done: {key}")
    )
    path = transcript.write(machine.projects)
    report = machine.sync()
    assert sum(report.redactions.values()) >= 4
    session = load(machine, f"claude_code:{transcript.session}")
    assert key not in repr(session)
    assert "REDACTED" in repr(session)
    assert key.encode() not in machine.everything_on_disk()
    assert len(session.events) == len(read(path)[0].events)


# An archive that cannot be used.
def test_a_full_disk_is_reported_and_loses_nothing(machine: Machine, tmp_path: Any) -> None:
    """On a real file system without room."""
    small = str(tmp_path / "small")
    os.makedirs(small)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        machine.folder = os.path.join(small, "archive")
        story(1).write(machine.projects)
        machine.sync()
        for number in range(2, 9):
            noise = random.Random(number).randbytes(300_000).hex()
            story(number).prompt(noise).write(machine.projects)
        with pytest.raises(ArchiveUnusable, match="is full"):
            machine.sync()
        connection = machine.connection()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        machine.sync()
        assert machine.rows("SELECT count(*) FROM sessions") == [(8,)]
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def test_a_damaged_archive_is_reported(machine: Machine) -> None:
    story(1).write(machine.projects)
    machine.sync()
    with open(machine.archive, "r+b") as stream:
        stream.write(b"no database at all" * 100)
    with pytest.raises(ArchiveUnusable, match="damaged"):
        machine.sync()


def test_an_archive_of_a_newer_version_is_left_alone(machine: Machine) -> None:
    story(1).write(machine.projects)
    machine.sync()
    connection = sqlite3.connect(machine.archive)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(ArchiveUnusable, match="newer Preheat"):
        machine.sync()


def test_a_locked_archive_is_reported(machine: Machine) -> None:
    story(1).write(machine.projects)
    machine.sync()
    holder = sqlite3.connect(machine.archive, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    more = [change(story(2).write(machine.projects))]
    connection = connect(machine.folder, wait=0.05)
    with pytest.raises(ArchiveBusy, match="another program holds"):
        read_changes(connection, machine.folder, more, lambda result: None, load_analyser)
    connection.close()
    holder.close()


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("")
    machine = Machine(tmp_path)
    machine.folder = str(tmp_path / "file" / "archive")
    with pytest.raises(ArchiveUnusable, match="PREHEAT_HOME"):
        connect(machine.folder)


# The quick path.
def test_the_quick_path_imports_nothing_slow(machine: Machine) -> None:
    """No database, no typing, no third-party package."""
    story(1).write(machine.projects)
    machine.sync()
    code = (
        "import sys; from preheat.quick import look_for_changes; seen = look_for_changes(); "
        "heavy = {'sqlite3', 'typing', 're', 'json', 'msgspec', 'click', 'rich', 'sqlalchemy', 'zstandard', 're2'}; "
        "print(seen.counts, len(seen.changed), sorted(heavy & set(sys.modules)))"
    )
    environment = {
        **os.environ,
        "HOME": machine.home,
        "PREHEAT_HOME": machine.folder,
        "CLAUDE_CONFIG_DIR": "",
    }
    command = [
        sys.executable,
        "-S",
        "-c",
        f"sys_path = {sys.path!r}; import sys; sys.path[:] = sys_path; {code}",
    ]
    assert subprocess.check_output(command, env=environment, text=True).strip() == "{'claude_code': 1} 0 []"
    story(2).write(machine.projects)
    assert subprocess.check_output(command, env=environment, text=True).strip() == "{'claude_code': 2} 1 []"


def test_the_quick_path_ignores_a_list_that_is_older_than_the_archive(machine: Machine) -> None:
    story(1).write(machine.projects)
    machine.sync()
    os.unlink(machine.archive)
    sizes = Sizes()
    machine.sync(sizes)
    assert len(sizes.read) == 1


def test_interrupting_leaves_no_process_behind(tmp_path: Any) -> None:
    machine = Machine(tmp_path)
    for number in range(30):
        story(number, steps=200).prompt("x " * 600_000).write(machine.projects)
    process = machine.start()
    until(lambda: os.path.exists(machine.archive), "the archive")
    time.sleep(0.15)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HUNG)
    assert process.returncode in (0, 130), errors
    assert b"Traceback" not in errors
    machine.sync()
    assert machine.rows("SELECT count(*) FROM sessions") == [(30,)]


def test_every_agent_has_its_places() -> None:
    for agent in AGENTS:
        assert isinstance(places_of(agent).roots({"HOME": "/h", "USERPROFILE": "/h"}), list)


def test_a_session_in_several_files_has_changed_when_any_of_them_has(machine: Machine, tmp_path: Any) -> None:
    """The person names one of the files."""
    copy = tmp_path / "conversation"
    source = next(os.path.dirname(path) for path in fixture_files("openhands") if path.endswith("base_state.json"))
    shutil.copytree(os.path.join(FIXTURES, source), copy)
    named = [("openhands", str(copy / "base_state.json"))]
    assert sync(machine.folder, files=named).agents["openhands"].read == 1
    assert sync(machine.folder, files=named).agents["openhands"].read == 0
    events = copy / "events"
    (events / "event-99999-00000000-0000-0000-0000-000000000000.json").write_text("{}")
    assert sync(machine.folder, files=named).agents["openhands"].read == 1
