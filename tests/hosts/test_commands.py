"""The commands `preheat install`, `uninstall` and `status`."""

import json
from pathlib import Path

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


def test_a_dry_run_shows_a_patch_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "codex", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "+++ ~/.codex/hooks.json" in shown
    assert '+    "SessionStart": [' in shown
    assert not (home / ".codex").exists()
    assert not (home / "data").exists()


def test_install_prints_the_next_steps(capsys: pytest.CaptureFixture[str]) -> None:
    """Codex runs only trusted hooks, and does not say so itself."""
    assert main(["install", "codex"]) == 0
    shown = capsys.readouterr()
    assert "7 hooks put into ~/.codex/hooks.json" in shown.out
    assert "open `/hooks`" in shown.out
    assert "preheat uninstall codex" in shown.err
    assert main(["install", "codex"]) == 0
    assert "has them already" in capsys.readouterr().out


def test_a_project_is_the_root_of_its_repository(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "gemini", "--project", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["path"] == str(home / "proj" / ".gemini" / "settings.json")
    assert told["action"] == "create"
    assert main(["uninstall", "gemini"]) == 0
    assert "does not call Preheat" in capsys.readouterr().out
    assert main(["uninstall", "gemini", "--project"]) == 0
    assert "is gone: there was none before" in capsys.readouterr().out


def test_an_agent_without_hooks_and_malformed_settings_are_errors_of_one_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "aider"]) == 2
    assert "has no hooks" in capsys.readouterr().err
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text('{\n"hooks": [\n')
    assert main(["install", "codex"]) == 2
    assert "hooks.json`, line 3: " in capsys.readouterr().err


def test_status_shows_what_is_installed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    assert "Nothing is installed yet" in capsys.readouterr().out
    main(["install", "codex"])
    main(["install", "opencode"])
    capsys.readouterr()
    assert main(["status"]) == 0
    shown = capsys.readouterr().out
    assert "7 hooks in ~/.codex/hooks.json" in shown
    assert "does not run: not trusted yet" in shown
    assert "plugin in ~/.config/opencode/plugins/preheat.js" in shown
    assert "Self-test: the hook client works" in shown
    assert main(["status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["agent"] for each in told["agents"]} == {
        "claude_code",
        "codex",
        "opencode",
        "copilot",
        "gemini",
        "cursor",
        "hermes",
    }
    assert told["self_test"]["client"] == "works"
