"""Installing hooks changes one settings file, uninstalling restores it, and a failure leaves it unchanged."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from preheat.agents import WITH_HOOKS
from preheat.errors import UserError
from preheat.installing.ledger import LEDGER_NAME
from preheat.installing.plans import (
    apply_file_plan,
    find_missing_file,
    make_client,
    plan_install,
    plan_uninstall,
    readable_by_others,
    require_hooks,
)
from preheat.installing.status import check_client, find_double_hooks, install_statuses

MINE = b'{\n    "model": "large",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}'
AT = 1_800_000_000.0
ONE_FILE = [agent for agent in WITH_HOOKS if require_hooks(agent).setup.ways is None]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environment(home: Path) -> Mapping[str, str]:
    return {"HOME": str(home), "USERPROFILE": str(home)}


@pytest.fixture
def data(tmp_path: Path) -> str:
    return str(tmp_path / "data")


def path_of(agent: str, environment: Mapping[str, str]) -> Path:
    return Path(require_hooks(agent).setup.user_file(environment))


def install(agent: str, data: str, environment: Mapping[str, str], project: str = "", http: bool | None = None) -> str:
    return apply_file_plan(plan_install(agent, data, environment, project, http), data, AT)


def uninstall(agent: str, data: str, environment: Mapping[str, str], project: str = "") -> str:
    plan = plan_uninstall(agent, data, environment, project)
    assert plan is not None
    apply_file_plan(plan, data, AT)
    return plan.action


@pytest.mark.parametrize("agent", ONE_FILE)
def test_uninstalling_removes_a_file_that_installing_created(
    agent: str, data: str, environment: Mapping[str, str]
) -> None:
    assert install(agent, data, environment) == ""
    path = path_of(agent, environment)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert uninstall(agent, data, environment) == "delete"
    assert not path.exists()
    assert plan_uninstall(agent, data, environment) is None


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "cursor"])
def test_uninstalling_restores_an_existing_file_byte_by_byte(
    agent: str, data: str, environment: Mapping[str, str]
) -> None:
    """With its permissions, and the backup is removed."""
    path = path_of(agent, environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    path.chmod(0o640)
    backup = install(agent, data, environment)
    assert Path(backup).read_bytes() == MINE
    assert Path(backup).name.startswith(f"{path.name}.preheat-backup-2027")
    assert json.loads(path.read_bytes())["hooks"]["Stop"][0] == json.loads(MINE)["hooks"]["Stop"][0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert uninstall(agent, data, environment) == "restore"
    assert path.read_bytes() == MINE
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("agent", ONE_FILE)
def test_installing_again_changes_nothing(agent: str, data: str, environment: Mapping[str, str]) -> None:
    install(agent, data, environment)
    path = path_of(agent, environment)
    before = path.read_bytes()
    assert plan_install(agent, data, environment).action == "nothing"
    install(agent, data, environment)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_changes_since_installing_survive_uninstalling(data: str, environment: Mapping[str, str]) -> None:
    """Only Preheat's entries are removed, and the backup is kept."""
    path = path_of("gemini", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    backup = install("gemini", data, environment)
    path.write_bytes(path.read_bytes().replace(b'"large"', b'"small"'))
    assert uninstall("gemini", data, environment) == "change"
    assert path.read_bytes() == MINE.replace(b'"large"', b'"small"')
    assert Path(backup).exists()


def test_installing_with_another_python_updates_and_can_be_undone(
    data: str, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first backup is restored."""
    path = path_of("codex", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    first, before = install("codex", data, environment), sys.executable
    monkeypatch.setattr("sys.executable", "/opt/another/python")
    assert plan_install("codex", data, environment).action == "change"
    assert install("codex", data, environment) == first
    assert path.read_bytes().count(b"exec /opt/another/python") == 7
    assert os.fsencode(before) not in path.read_bytes()
    assert uninstall("codex", data, environment) == "restore"
    assert path.read_bytes() == MINE


def test_entries_are_found_without_a_ledger(data: str, environment: Mapping[str, str]) -> None:
    path = path_of("claude_code", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    install("claude_code", data, environment)
    for damaged in (b"", b"{", b'{"version": 1, "files": 3}'):
        Path(data, LEDGER_NAME).write_bytes(damaged)
        plan = plan_uninstall("claude_code", data, environment)
        assert plan is not None
        assert plan.after == MINE


def test_a_symbolic_link_stays_a_link(data: str, environment: Mapping[str, str], tmp_path: Path) -> None:
    """People keep their settings in a repository and link to them."""
    kept = tmp_path / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    kept.write_bytes(MINE)
    path = path_of("claude_code", environment)
    path.parent.mkdir(parents=True)
    path.symlink_to(kept)
    install("claude_code", data, environment)
    assert path.is_symlink()
    assert b"hook.py" in kept.read_bytes()
    uninstall("claude_code", data, environment)
    assert path.is_symlink()
    assert kept.read_bytes() == MINE


def test_malformed_settings_are_left_unchanged(data: str, environment: Mapping[str, str]) -> None:
    """The message names the line, and no client is installed."""
    path = path_of("codex", environment)
    path.parent.mkdir(parents=True)
    for text in (b'{\n  "hooks": {\n', b'{\n "a": "\xff"}'):
        path.write_bytes(text)
        with pytest.raises(UserError, match=r"line \d"):
            plan_install("codex", data, environment)
        assert path.read_bytes() == text
    assert not os.path.exists(data)


def test_a_foreign_plugin_is_not_overwritten(data: str, environment: Mapping[str, str]) -> None:
    path = path_of("opencode", environment)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    with pytest.raises(UserError, match="not Preheat's"):
        plan_install("opencode", data, environment)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_read_only_folder_leaves_everything_unchanged(data: str, environment: Mapping[str, str]) -> None:
    path = path_of("gemini", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            install("gemini", data, environment)
    finally:
        path.parent.chmod(0o700)
    assert path.read_bytes() == MINE


# Posting.
def test_events_are_posted_only_if_nobody_else_can_read_the_token(
    data: str, environment: Mapping[str, str], home: Path
) -> None:
    """Frequent events are posted; events that may start a daemon are commands. On request the token is written anyway."""
    path = path_of("claude_code", environment)
    assert plan_install("claude_code", data, environment).posts
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    path.chmod(0o644)
    for folder in (home, path.parent):
        folder.chmod(0o755)
    open_to_others = readable_by_others(str(path))
    assert plan_install("claude_code", data, environment).posts is not open_to_others
    home.chmod(0o700)
    assert not readable_by_others(str(path))
    plan = plan_install("claude_code", data, environment)
    hooks = json.loads(plan.after or b"")["hooks"]
    kinds = {event: groups[0]["hooks"][0]["type"] for event, groups in hooks.items()}
    assert {event for event, kind in kinds.items() if kind == "http"} == {
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
    }
    assert kinds["SessionStart"] == "command"
    assert not plan_install("claude_code", data, environment, http=False).posts
    assert not plan_install("codex", data, environment, http=True).posts


def test_project_settings_get_no_token_unless_requested(
    data: str, environment: Mapping[str, str], tmp_path: Path
) -> None:
    project = str(tmp_path / "proj")
    assert not plan_install("claude_code", data, environment, project).posts
    assert plan_install("claude_code", data, environment, project, http=True).posts


def test_a_dry_run_creates_no_address(data: str, environment: Mapping[str, str]) -> None:
    plan = plan_install("claude_code", data, environment, is_preview=True)
    assert plan.posts
    assert not os.path.exists(data)


# The command.
def test_the_installed_command_exits_with_0_even_if_the_client_is_gone(data: str, tmp_path: Path) -> None:
    """Also if its Python is gone or it is killed; it prints nothing."""
    folder = str(tmp_path / "a folder with 'odd' $names")
    client = make_client("codex", folder)
    for command in (client.command, client.safe_command.replace(client.arguments[0], "/gone/python")):
        done = subprocess.run(["sh", "-c", command], input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (0, b"")
    os.makedirs(folder)
    Path(folder, "hook.py").write_text("import sys; print(sys.argv[1:])")
    done = subprocess.run(["sh", "-c", client.command], input=b"{}", capture_output=True, check=False)
    assert done.stdout == b"['codex']\n"
    Path(folder, "hook.py").write_text("import os; os.kill(os.getpid(), 9)")
    assert subprocess.run(["sh", "-c", client.safe_command], capture_output=True, check=False).returncode == 0


def test_missing_files_of_an_installed_command_are_found(data: str) -> None:
    client = make_client("codex", data)
    assert find_missing_file(client.command) == os.path.join(data, "hook.py")
    assert find_missing_file("exec /bin/sh -c true") == ""


# How things stand.
def test_installed_hooks_are_found_with_their_events(data: str, environment: Mapping[str, str], tmp_path: Path) -> None:
    project = str(tmp_path / "proj")
    install("codex", data, environment)
    install("gemini", data, environment, project)
    found = {each.agent: each for each in install_statuses(data, environment, project)}
    (codex,) = found["codex"].places
    assert (codex.scope, codex.current, codex.active, len(codex.events)) == ("person", True, "no", 7)
    assert "not trusted yet" in codex.reason
    (gemini,) = found["gemini"].places
    assert (gemini.scope, gemini.active) == ("project", "yes")
    assert found["cursor"].places == ()
    Path(data, "hook.py").unlink()
    (codex,) = next(each for each in install_statuses(data, environment, project) if each.agent == "codex").places
    assert (codex.active, codex.missing) == ("no", os.path.join(data, "hook.py"))


def test_an_outdated_entry_is_found(data: str, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    install("cursor", data, environment)
    monkeypatch.setattr("sys.executable", "/opt/another/python")
    found = next(each for each in install_statuses(data, environment, "") if each.agent == "cursor")
    assert not found.places[0].current


def test_disabled_hooks_are_found(data: str, environment: Mapping[str, str], tmp_path: Path) -> None:
    """Each program has its own switch, and folders that are not trusted."""
    project = str(tmp_path / "proj")
    claude = path_of("claude_code", environment)
    gemini = path_of("gemini", environment)
    for path in (claude, gemini):
        path.parent.mkdir(parents=True)
    claude.write_text('{"disableAllHooks": true}')
    gemini.write_text('{"hooksConfig": {"disabled": ["preheat"]}}')
    for agent in ("claude_code", "gemini"):
        install(agent, data, environment)
    found = {each.agent: each.places[0] for each in install_statuses(data, environment, project) if each.places}
    assert (found["claude_code"].active, found["gemini"].active) == ("no", "no")
    gemini.write_text("{}")
    install("gemini", data, environment, project)
    (gemini.parent / "trustedFolders.json").write_text(json.dumps({project: "DO_NOT_TRUST"}))
    places = next(each.places for each in install_statuses(data, environment, project) if each.agent == "gemini")
    assert "not trusted" in next(place.reason for place in places if place.scope == "project")


def test_hooks_that_fire_twice_are_found(data: str, environment: Mapping[str, str], tmp_path: Path) -> None:
    """Through another agent's settings, or installed for all projects and for one."""
    project = str(tmp_path / "proj")
    install("claude_code", data, environment)
    assert find_double_hooks("cursor", environment, project) == []
    install("cursor", data, environment)
    assert len(find_double_hooks("cursor", environment, project)) == 2
    assert find_double_hooks("claude_code", environment, project) == []
    assert find_double_hooks("copilot", environment, project) == []
    install("codex", data, environment)
    install("codex", data, environment, project)
    assert len(find_double_hooks("codex", environment, project)) == 2
    found = {each.agent: each for each in install_statuses(data, environment, project)}
    assert "third-party" in found["cursor"].advice
    assert "uninstall codex --project" in found["codex"].advice


def test_the_daemons_last_event_is_shown(data: str, environment: Mapping[str, str]) -> None:
    live = Path(data, "live")
    live.mkdir(parents=True)
    for text in ("[", "[]", '{"codex": 3}', '{"codex": {"at": "x"}}'):
        (live / "last-seen.json").write_text(text)
        assert all(each.last_at is None for each in install_statuses(data, environment, ""))
    (live / "last-seen.json").write_text('{"codex": {"at": 12.5, "event": "Stop", "session": "s"}}')
    found = next(each for each in install_statuses(data, environment, "") if each.agent == "codex")
    assert (found.last_at, found.last_event) == (12.5, "Stop")


def test_the_self_test_runs_the_client_and_starts_no_daemon(data: str, environment: Mapping[str, str]) -> None:
    assert check_client(data).client == "missing"
    install("codex", data, environment)
    found = check_client(data)
    assert (found.client, found.daemon) == ("works", "away")
    assert not os.path.exists(os.path.join(data, "live", "lock"))
    Path(data, "hook.py").write_text("raise SystemExit(3)")
    assert check_client(data).client == "fails"


def test_settings_survive_a_lost_backup(data: str, environment: Mapping[str, str]) -> None:
    """On installing again with other entries, and on uninstalling."""
    path = path_of("claude_code", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    Path(install("claude_code", data, environment, http=False)).unlink()
    install("claude_code", data, environment, http=True)
    assert json.loads(path.read_bytes())["model"] == "large"
    uninstall("claude_code", data, environment)
    assert json.loads(path.read_bytes()) == json.loads(MINE)


def test_entries_of_an_older_installation_do_not_come_back(data: str, environment: Mapping[str, str]) -> None:
    """Installed, changed by the person, installed with other entries, uninstalled: no entry of Preheat's is left."""
    path = path_of("claude_code", environment)
    path.parent.mkdir(parents=True)
    path.write_bytes(MINE)
    install("claude_code", data, environment, http=False)
    path.write_bytes(path.read_bytes().replace(b"large", b"small"))
    install("claude_code", data, environment, http=True)
    uninstall("claude_code", data, environment)
    assert json.loads(path.read_bytes()) == json.loads(MINE.replace(b"large", b"small"))
