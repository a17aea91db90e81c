"""An archive on a server: what is synced while it is away waits in the local archive, and arrives once, whatever happens."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from preheat.app.learning import learn
from preheat.app.live.hooks import Hooks
from preheat.app.sessions import server as waiting
from preheat.app.sessions.archive import forget_sessions, sync
from preheat.archive import server as server_module
from preheat.archive.connect import connect, connect_for_hooks, connect_local
from preheat.archive.lessons import load_lessons
from preheat.archive.postgresql import end_keeping
from preheat.archive.queries import list_sessions
from preheat.errors import ServerGone
from preheat.model.listing import SessionFilter
from preheat.model.live import HookEvent
from tests.ingest.machine import Machine, story
from tests.postgresql import PostgresqlServer


@pytest.fixture
def machine(tmp_path: Path, postgresql_url: str) -> Machine:
    """A machine whose archive is on a server."""
    made = Machine(tmp_path / "mine")
    made.use_server(postgresql_url)
    return made


@pytest.fixture
def calm(tmp_path: Path) -> Machine:
    """A machine with the same sessions, whose archive is a file: nothing ever happens to it."""
    return Machine(tmp_path / "calm")


@pytest.fixture
def server(postgresql_server: PostgresqlServer) -> Iterator[PostgresqlServer]:
    """The server, which runs again afterwards."""
    yield postgresql_server
    if not postgresql_server.is_running():
        postgresql_server.start()


def write(*machines: Machine, first: int = 1, number: int = 4) -> None:
    for machine in machines:
        for each in range(first, first + number):
            story(each, steps=each).write(machine.projects)


def grow(machine: Machine, number: int) -> None:
    transcript = story(number, steps=number)
    more = transcript.prompt("and again").answer("yes").run("make again", "done")
    with open(transcript.write(machine.projects), "wb") as stream:
        stream.write(more.data())


def assert_same(machine: Machine, calm: Machine) -> None:
    """The server has the same rows as the file of the other machine, and nothing waits."""
    mine, theirs = machine.contents(), calm.contents()
    assert [row[1] for row in mine.pop("bytes")] == [row[1] for row in theirs.pop("bytes")]
    assert mine == theirs
    assert machine.analyses() == calm.analyses()
    assert waiting.count_waiting_sessions(machine.folder) == 0


def test_a_sync_without_the_server_waits_and_the_next_one_moves_it(
    machine: Machine, calm: Machine, server: PostgresqlServer
) -> None:
    write(machine, calm)
    assert machine.sync().server == ""
    write(machine, calm, first=5)
    for each in (machine, calm):
        grow(each, 2)
    server.stop()
    report = machine.sync()
    assert "cannot be reached" in report.server
    assert server.password not in report.server
    assert report.waiting == 5  # four new ones, and the grown one whole; the server has the others
    with pytest.raises(ServerGone, match="cannot be reached"):
        connect(machine.folder)
    server.start()
    report = machine.sync()
    assert (report.server, report.moved, report.waiting) == ("", 5, 0)
    assert sum(row.read for row in report.agents.values()) == 0  # everything had been read
    calm.sync()
    assert_same(machine, calm)


def test_a_server_that_stops_in_the_middle_of_a_sync_loses_and_doubles_nothing(
    machine: Machine, calm: Machine, server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(machine, calm, number=6)
    from preheat.ingest import sync as reading

    store = reading._store
    stored: list[int] = []

    def store_and_stop(*arguments: object) -> None:
        if stored and server.is_running():
            server.stop()
        store(*arguments)  # type: ignore[arg-type]
        stored.append(1)

    monkeypatch.setattr(reading, "PACK_SIZE", 1)  # each session is a batch
    monkeypatch.setattr(reading, "_store", store_and_stop)
    interrupted = sync(machine.folder, machine.environment)
    assert (interrupted.server != "", interrupted.waiting) == (True, 6)
    monkeypatch.undo()
    assert machine.sync().waiting == 6
    server.start()
    machine.sync()
    calm.sync()
    assert_same(machine, calm)


_KILLED = """
import os, signal, sys
from contextlib import closing
from preheat.app.sessions import server
from preheat.archive import waiting
from preheat.archive.connect import connect
def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(server, sys.argv[2], die)
with closing(connect(sys.argv[1])) as connection:
    server.move_waiting(sys.argv[1], connection)
"""


@pytest.mark.parametrize("killed_in", ["move_sources", "clear_moved", "analyse_forks"])
def test_who_is_killed_while_moving_loses_and_doubles_nothing(
    machine: Machine, calm: Machine, server: PostgresqlServer, killed_in: str
) -> None:
    write(machine, calm)
    server.stop()
    assert machine.sync().waiting == 4
    server.start()
    died = subprocess.run([sys.executable, "-c", _KILLED, machine.folder, killed_in], check=False)
    assert died.returncode == -signal.SIGKILL
    machine.sync()
    calm.sync()
    assert_same(machine, calm)


def test_an_archive_from_before_moves_to_the_server_with_sessions_whose_files_are_gone(
    machine: Machine, calm: Machine
) -> None:
    os.rename(f"{machine.folder}/settings.toml", f"{machine.folder}/later.toml")
    write(machine, calm)
    machine.sync()
    os.unlink(next(Path(machine.projects).rglob("*.jsonl")))
    os.rename(f"{machine.folder}/later.toml", f"{machine.folder}/settings.toml")
    assert machine.sync().moved == 4
    assert machine.sync().moved == 0
    calm.sync()
    assert_same(machine, calm)


def test_lessons_are_at_hand_for_hooks_while_the_server_is_away(machine: Machine, server: PostgresqlServer) -> None:
    write(machine, number=6)
    machine.sync()
    learn(machine.folder)
    with closing(connect(machine.folder)) as connection:
        there = {each.id for each in load_lessons(connection)}
    server.stop()
    with closing(connect_for_hooks(machine.folder)) as local:
        assert {each.id for each in load_lessons(local)} == there != set()


def test_the_start_of_a_session_never_asks_the_server(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    write(machine, number=6)
    machine.sync()
    learn(machine.folder)
    asked: list[str] = []
    monkeypatch.setattr(server_module, "connect_server", lambda *arguments: asked.append("asked"))
    hooks = Hooks(machine.folder)
    event = HookEvent(
        agent="cursor",  # which is told at the start what others are told with a prompt
        session="new",
        name="session_start",
        host_event="sessionStart",
        cwd=story(1).project,
        source="startup",
    )
    hooks.prepare_folder(event.cwd)
    handed = hooks.choose_context(event, "")
    assert handed is not None
    assert "make step-0" in handed.text
    assert asked == []
    end_keeping()


def test_what_is_forgotten_on_the_server_is_gone_there_and_here(machine: Machine, server: PostgresqlServer) -> None:
    write(machine, number=3)
    story(9).answer("quicksilver in the vessel").write(machine.projects)
    machine.sync()
    assert b"quicksilver" in machine.everything_on_disk()
    with closing(connect(machine.folder)) as connection:
        doomed = [each.key for each in list_sessions(connection, SessionFilter()) if each.session == story(9).session]
    assert forget_sessions(machine.folder, doomed) == 1
    assert b"quicksilver" not in machine.everything_on_disk()
    machine.sync()
    server.stop()
    assert machine.sync().waiting == 0  # the local archive knows what was forgotten, too
    with closing(connect_local(machine.folder)) as local:
        assert list_sessions(local, SessionFilter()) == []


def test_two_machines_write_to_one_server_at_once(tmp_path: Path, postgresql_url: str, calm: Machine) -> None:
    machines = [Machine(tmp_path / name) for name in ("one", "two")]
    for place, each in enumerate(machines):
        each.use_server(postgresql_url)
        write(each, calm, first=1 + 4 * place)
    for process in [each.start() for each in machines]:
        _, said = process.communicate()
        assert (process.returncode, said) == (0, b"")
    calm.sync()
    assert machines[0].contents()["sessions"] == calm.contents()["sessions"]
