"""`preheat status` sends a test event through the whole chain: every link that can break is named with what to do, and the event
leaves no trace."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from preheat import daemon_client
from preheat.app.installation import Installation, InstallPlace
from preheat.daemon_client import TEST_EVENT
from preheat.files import write_atomically
from preheat.installing.chain import ChainLink
from tests.daemon.builders import daemon, learned, spooled_files

AGENTS = ("claude_code", "gemini", "copilot", "opencode", "cursor")
"""Every agent whose settings are one file, but Codex, whose hooks a person has to trust first."""
LINKS = ["settings", "client", "python", "daemon", "archive", "answer"]


class Home:
    """A person's machine with Preheat's hooks in one agent."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.data = str(folder / "data")
        self.agent = agent
        os.makedirs(folder / "home")
        self.installation = Installation(self.data, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]})
        self.installation.install(agent)
        learned(self.data, str(folder / "shop"), str(folder / "earlier"))

    @property
    def path(self) -> Path:
        return Path(self._place().path)

    def _place(self) -> InstallPlace:
        (found,) = (each.places for each in self.installation.status().agents if each.agent == self.agent)
        (place,) = found
        return place

    def chain(self) -> list[ChainLink]:
        return list(self._place().chain)

    def broken(self) -> ChainLink:
        """The one link that is broken: those before it work, those after it are untested."""
        chain = self.chain()
        at = [link.state for link in chain].index("broken")
        assert [link.name for link in chain] == LINKS
        assert {link.state for link in chain[:at]} <= {"works"}
        assert {link.state for link in chain[at + 1 :]} <= {"untested"}
        return chain[at]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path, "gemini")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_test_event_goes_through_every_link_and_leaves_no_trace(tmp_path: Path, agent: str) -> None:
    """From the command in the settings file to an answer in the agent's own form."""
    home = Home(tmp_path, agent)
    with daemon(home.data) as running:
        before = running.status()
        assert [(link.name, link.state) for link in home.chain()] == [(name, "works") for name in LINKS]
        after = running.status()
    for name in ("events", "contexts", "advisories", "failures", "sessions", "waiting", "troubles"):
        assert after[name] == before[name], name
    assert spooled_files(home.data) == []
    assert os.listdir(os.path.join(home.data, "live", "sessions")) == []
    state = sqlite3.connect(os.path.join(home.data, "state.db"))
    assert state.execute("SELECT count(*) FROM assignments").fetchone() == (0,)
    state.close()


def test_an_agent_that_asks_the_daemon_by_itself_is_tried_without_a_client(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    with daemon(data):
        assert b"preheat-test: fine" in daemon_client.ask("hermes", TEST_EVENT, data, 60)
        assert daemon_client.ask("nobody", TEST_EVENT, data, 60) == b""


def test_without_a_daemon_nothing_is_started_and_the_rest_is_tried(home: Home) -> None:
    """That none runs is no fault: it ends when nobody needs it."""
    chain = {link.name: link for link in home.chain()}
    assert [link.state for link in chain.values()] == ["works"] * 5 + ["untested"]
    assert "the next session starts one" in chain["daemon"].detail
    assert daemon_client.find_daemon(home.data) is None
    assert spooled_files(home.data) == []


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
def test_a_python_that_does_not_run_is_named(tmp_path: Path, agent: str) -> None:
    """One that exists and ends with an error, as after an upgrade; in a shell's command and in a plugin."""
    home = Home(tmp_path, agent)
    dead = tmp_path / "python3"
    dead.write_text("#!/bin/sh\nexit 1\n")
    dead.chmod(0o755)
    path = home.path
    path.write_text(path.read_text().replace(sys.executable, str(dead)))
    with daemon(home.data):
        link = home.broken()
    assert (link.name, str(dead) in link.detail, f"preheat install {agent}" in link.detail) == ("python", True, True)


def test_a_client_of_another_version_and_a_missing_one_are_named(home: Home) -> None:
    client = Path(home.data, "hook.py")
    client.write_text(client.read_text() + "# another\n")
    link = home.broken()
    assert (link.name, "another version" in link.detail) == ("client", True)
    client.unlink()
    link = home.broken()
    assert (link.name, "is gone" in link.detail) == ("client", True)


def test_hooks_that_the_program_does_not_run_are_named(tmp_path: Path) -> None:
    """Codex skips them without a word until the person trusts them."""
    link = Home(tmp_path, "codex").broken()
    assert (link.name, "/hooks" in link.detail) == ("settings", True)


def test_a_missing_hook_is_no_place(home: Home) -> None:
    """Nothing is said to work where the settings file no longer names Preheat."""
    home.path.write_text("{}")
    assert [each.places for each in home.installation.status().agents if each.agent == "gemini"] == [()]


@pytest.mark.parametrize("has_daemon", [True, False])
def test_a_damaged_archive_is_named(home: Home, has_daemon: bool) -> None:
    with daemon(home.data):
        pass  # what it writes by itself is written
    archive = Path(home.data, "archive.db")
    for beside in ("archive.db-wal", "archive.db-shm"):
        Path(home.data, beside).unlink(missing_ok=True)
    archive.write_bytes(b"no archive " * 1000)
    if has_daemon:
        with daemon(home.data):
            link = home.broken()
    else:
        link = home.broken()
    assert (link.name, "archive" in link.detail) == ("archive", True)


@pytest.fixture
def stopped_daemon(home: Home) -> Iterator[int]:
    with daemon(home.data) as running:
        running.process.send_signal(signal.SIGSTOP)
        yield running.process.pid
        running.process.send_signal(signal.SIGCONT)


def test_a_daemon_that_does_not_answer_is_named(home: Home, stopped_daemon: int) -> None:
    """Its process, and how to end it; the test event is not left for a later one."""
    link = home.broken()
    assert (link.name, f"kill -9 {stopped_daemon}" in link.detail) == ("daemon", True)
    assert spooled_files(home.data) == []


def test_a_daemon_of_another_version_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with daemon(home.data):
        monkeypatch.setattr("preheat.installing.chain.__version__", "9.9.9")
        link = home.broken()
    assert (link.name, "9.9.9" in link.detail, "preheat admin serve" in link.detail) == ("daemon", True, True)


def test_the_screen_names_the_broken_link(home: Home, tmp_path: Path) -> None:
    write_atomically(os.path.join(home.data, "hook.py"), b"another")
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "status"], capture_output=True, text=True, check=True,
        env={**os.environ, "HOME": str(tmp_path / "home"), "PREHEAT_HOME": home.data, "COLUMNS": "400"},
    )  # fmt: skip
    assert "does not work, at the link `client`: " in done.stdout
