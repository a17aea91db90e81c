"""What a real session is given at its start, out of a real archive, through the stages that the daemon uses."""

import os
import time
from pathlib import Path

import pytest

from preheat.agents import AGENTS
from preheat.app.learning import learn
from preheat.app.live.hooks import Hooks
from preheat.app.sessions.archive import sync
from preheat.model.live import HookEvent
from preheat.testing.builders import ClaudeTranscript


@pytest.fixture
def project(tmp_path: Path) -> str:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return str(tmp_path / "shop")


@pytest.fixture
def folder(tmp_path: Path, project: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An archive with four sessions of a project, the last of which ended an hour ago with a failing test."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    for number in range(4):
        session = f"0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f60{number}"
        found = ClaudeTranscript(session=session, project=project, started=time.time() - 3600 * (4 - number))
        found = found.prompt("make the login keep its token in src/auth/login.py")
        found = found.run("make unit", "No rule to make target unit", 2).run("make test ARGS=auth", "12 passed")
        found = found.call("Edit", {"file_path": f"{project}/src/auth/login.py", "old_string": "a", "new_string": "b"})
        found = found.result("The file src/auth/login.py has been updated.")
        found = found.run("make test ARGS=auth", "E  AssertionError: token lost\n1 failed, 11 passed", 1)
        found.answer("The token is lost on refresh; I stop here.").write(str(tmp_path / "claude" / "projects"))
    data = str(tmp_path / "data")
    sync(data, agents=AGENTS)
    learn(data)
    return data


def event(cwd: str) -> HookEvent:
    return HookEvent(agent="claude_code", session="new", name="session_start", cwd=cwd, source="startup")


def test_a_new_session_gets_the_resume_packet_of_the_last_one(folder: str, project: str) -> None:
    stages = Hooks(folder)
    found = stages.choose_context(event(os.path.join(project, "src")), "")
    assert found is not None
    assert found.text.startswith("<preheat-context")
    assert "make test" in found.text
    assert "src/auth/login.py" in found.text


def test_another_project_gets_no_resume_packet(folder: str, tmp_path: Path) -> None:
    (tmp_path / "other" / ".git").mkdir(parents=True)
    found = Hooks(folder).choose_context(event(str(tmp_path / "other")), "")
    assert found is None or "login" not in found.text


def test_without_an_archive_there_is_no_context_and_no_archive_is_made(tmp_path: Path) -> None:
    stages = Hooks(str(tmp_path / "data"))
    assert stages.choose_context(event(str(tmp_path)), "") is None
    stages.prepare_folder(str(tmp_path))
    assert stages.is_prepared(str(tmp_path))
    stages.clear_folders()
    assert not stages.is_prepared(str(tmp_path))
    assert not (tmp_path / "data").exists()


def test_a_damaged_archive_gives_no_context_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_bytes(b"no database at all" * 1000)
    stages = Hooks(str(tmp_path))
    stages.prepare_folder(str(tmp_path))
    assert stages.is_prepared(str(tmp_path))
