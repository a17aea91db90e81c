"""The commands `preheat install`, `uninstall` and `status`."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.cli.run import main


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "OPENCODE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "HERMES_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    (tmp_path / "proj" / ".git").mkdir(parents=True)
    (tmp_path / "proj" / "src").mkdir()
    monkeypatch.chdir(tmp_path / "proj" / "src")
    return tmp_path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_dry_run_shows_a_patch_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "codex", "--dry-run"]) == 0
    patch = capsys.readouterr().out
    assert "+++ ~/.codex/hooks.json" in patch
    assert '+    "SessionStart": [' in patch
    assert not (home / ".codex").exists()
    assert not (home / "data").exists()


def test_install_prints_the_next_steps(capsys: pytest.CaptureFixture[str]) -> None:
    """Codex runs only trusted hooks, and does not say so itself."""
    assert main(["install", "codex"]) == 0
    printed = capsys.readouterr()
    assert "~/.codex/hooks.json" in printed.out
    assert "`/hooks`" in printed.out
    assert "preheat uninstall codex" in printed.err


def test_installing_twice_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (run_json(capsys, "install", "codex") for _ in range(2))
    assert (first["action"], second["action"]) == ("create", "nothing")
    assert first["path"] == second["path"] == str(home / ".codex" / "hooks.json")
    assert len(first["events"]) == 7


def test_a_project_is_the_root_of_its_repository(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = home / "proj" / ".gemini" / "settings.json"
    installed = run_json(capsys, "install", "gemini", "--project")
    assert (installed["path"], installed["action"]) == (str(settings), "create")
    assert run_json(capsys, "uninstall", "gemini")["action"] == "nothing"
    assert settings.exists()
    run_json(capsys, "uninstall", "gemini", "--project")
    assert not settings.exists()


def test_an_agent_without_hooks_and_malformed_settings_are_errors_of_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "aider"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text('{\n"hooks": [\n')
    assert main(["install", "codex"]) == 2
    assert "hooks.json`, line 3: " in capsys.readouterr().err


def test_status_shows_what_is_installed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not any(each["places"] for each in run_json(capsys, "status")["agents"])
    run_json(capsys, "install", "codex")
    run_json(capsys, "install", "opencode")
    status = run_json(capsys, "status")
    agents = {each["agent"]: each for each in status["agents"]}
    assert set(agents) == {"claude_code", "codex", "opencode", "copilot", "gemini", "cursor", "hermes"}
    (codex,), (opencode,) = agents["codex"]["places"], agents["opencode"]["places"]
    assert (codex["path"], len(codex["events"]), codex["active"]) == (str(home / ".codex" / "hooks.json"), 7, "no")
    assert opencode["path"] == str(home / ".config" / "opencode" / "plugins" / "preheat.js")
    assert opencode["active"] == "yes"
    assert status["self_test"]["client"] == "works"
    assert main(["status"]) == 0
    screen = capsys.readouterr().out
    assert "~/.codex/hooks.json" in screen
    assert "~/.config/opencode/plugins/preheat.js" in screen
