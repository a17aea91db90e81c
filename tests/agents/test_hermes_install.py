"""`preheat install hermes` and `uninstall`: each way, earlier installations, failures, and complete removal."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from preheat import __version__
from preheat.agents.hermes import plugin
from preheat.agents.hooks import PackageStep
from preheat.cli.run import main
from preheat.installing import packages
from preheat.installing.ledger import digest_of
from tests.agents.fake_hermes import add_package, launcher, make_hermes, make_python, packages_of, python_of, tree

POINTS = "[hermes_agent.plugins]\npreheat = preheat.agents.hermes.plugin\n"
MINE = "# my settings\nmodel: {default: large}   # the best\nplugins:\n  enabled:\n  - mine\n  - other\n\nend: 'yes'\n"
Output = pytest.CaptureFixture[str]


class Place:
    """A person's home with a Hermes."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.own = folder / ".hermes"
        self.venv = folder / "venv"
        self.data = folder / "data"
        self.config = self.own / "config.yaml"
        self.plugin = self.own / "plugins" / "preheat"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """No package index can be reached, so that nothing is fetched."""
    found = Place(tmp_path)
    make_hermes(found.venv)
    found.own.mkdir()
    for name in ("HERMES_HOME", "HERMES_SAFE_MODE", "HERMES_ACCEPT_HOOKS", "XDG_DATA_HOME", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(found.data))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PATH", os.pathsep.join([str(found.venv / "bin"), "/usr/bin", "/bin"]))
    (tmp_path / "proj").mkdir()
    monkeypatch.chdir(tmp_path / "proj")
    return found


def run_json(capsys: Output, *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def hermes_status(capsys: Output) -> Any:
    return next(each for each in run_json(capsys, "status")["agents"] if each["agent"] == "hermes")


def test_without_pip_a_folder_is_installed_with_the_reason(place: Place, capsys: Output) -> None:
    """Without an index: the folder is chosen, Hermes's Python is untouched, and the reason is one line."""
    before = tree(place.venv)
    found = run_json(capsys, "install", "hermes")
    assert (found["how"], bool(found["why"]), found["program"]["version"]) == ("directory", True, "0.19.0")
    assert [(step["kind"], step["action"]) for step in found["steps"]] == [("folder", "create"), ("file", "create")]
    assert tree(place.venv) == before
    assert place.config.read_text() == "plugins:\n  enabled:\n    - preheat\n"
    start = json.loads((place.plugin / "preheat.json").read_text())
    assert start == {"interpreter": sys.executable, "home": str(place.data), "version": __version__}
    source = Path(packages.__file__).parent.parent / "agents" / "hermes" / "plugin"
    for name in ("__init__.py", "plugin.yaml", "commands.py"):
        assert (place.plugin / name).read_bytes() == (source / name).read_bytes()
    assert (place.data / "hook.py").exists()


@pytest.mark.parametrize("how", ["directory", "hook"])
@pytest.mark.parametrize("config", [None, "", MINE, MINE.replace("\n", "\r\n")])
def test_uninstalling_restores_every_file(place: Place, capsys: Output, how: str, config: str | None) -> None:
    """Home and Python are restored to the byte, whatever was in the settings; a dry run changes nothing."""
    if config is not None:
        place.config.write_bytes(config.encode())
        place.config.chmod(0o640)
    before = tree(place.own, place.venv)
    assert main(["install", "hermes", "--how", how, "--dry-run"]) == 0
    assert "+++ ~/.hermes/config.yaml" in capsys.readouterr().out
    assert tree(place.own, place.venv) == before
    assert not place.data.exists()
    assert main(["install", "hermes", "--how", how]) == 0
    assert tree(place.own, place.venv) != before
    assert run_json(capsys, "install", "hermes", "--how", how)["action"] == "nothing"
    assert run_json(capsys, "install", "hermes")["how"] == how  # the way it is installed by is kept
    if how == "directory":
        (place.plugin / "__pycache__").mkdir()
        (place.plugin / "__pycache__" / "commands.cpython-311.pyc").write_bytes(b"compiled")
    installed = tree(place.own, place.venv)
    assert main(["uninstall", "hermes", "--dry-run"]) == 0
    assert tree(place.own, place.venv) == installed
    assert main(["uninstall", "hermes"]) == 0
    assert tree(place.own, place.venv) == before
    assert config is None or place.config.stat().st_mode & 0o777 == 0o640
    assert run_json(capsys, "uninstall", "hermes")["action"] == "nothing"


def test_uninstalling_removes_a_home_that_installing_made(place: Place) -> None:
    """Hermes is installed but was never started."""
    place.own.rmdir()
    assert main(["install", "hermes", "--how", "directory"]) == 0
    assert place.plugin.is_dir()
    assert main(["uninstall", "hermes"]) == 0
    assert not place.own.exists()


def test_uninstalling_keeps_later_changes_of_the_settings(place: Place, capsys: Output) -> None:
    """Hermes rewrites its settings whenever something is set: only our entry is removed."""
    place.config.write_text(MINE)
    main(["install", "hermes", "--how", "directory"])
    place.config.write_text("model: {default: small}\nplugins:\n  enabled: [mine, preheat, third]\n")
    assert run_json(capsys, "uninstall", "hermes")["action"] == "change"
    assert place.config.read_text() == "model: {default: small}\nplugins:\n  enabled: [mine, third]\n"
    assert not place.plugin.exists()


def test_uninstalling_keeps_foreign_and_changed_files(place: Place, capsys: Output) -> None:
    """A foreign file, and one of ours that was changed, are kept and named."""
    main(["install", "hermes", "--how", "directory"])
    (place.plugin / "notes.txt").write_text("mine")
    (place.plugin / "plugin.yaml").write_text("name: changed\n")
    found = run_json(capsys, "uninstall", "hermes")
    assert found["kept"] == [str(place.plugin / "notes.txt"), str(place.plugin / "plugin.yaml")]
    assert sorted(os.listdir(place.plugin)) == ["notes.txt", "plugin.yaml"]


FORMER = ("inserting.py", "program.py", "watching.py", "wire.py")
"""The files that the plugin of 0.1.0 had and that this one lacks."""


def pretend_an_older_version_was_installed(place: Place) -> None:
    """The folder and the record of it as 0.1.0 left them."""
    main(["install", "hermes", "--how", "directory"])
    ledger = json.loads((place.data / "installed.json").read_text())
    (folder,) = (each for each in ledger["files"] if each["kind"] == "folder")
    for name in ("daemon.py", "watcher.py"):
        (place.plugin / name).unlink()
        del folder["files"][name]
    for name in FORMER:
        (place.plugin / name).write_text(f"# {name}\n")
        folder["files"][name] = digest_of((place.plugin / name).read_bytes())
    (place.data / "installed.json").write_text(json.dumps(ledger))


@pytest.mark.parametrize("recorded", [True, False])
def test_a_newer_version_replaces_the_files_of_an_older_one(place: Place, capsys: Output, recorded: bool) -> None:
    """Files that the plugin no longer has are removed, also where the record of the installation is lost; others' stay."""
    pretend_an_older_version_was_installed(place)
    (place.plugin / "notes.txt").write_text("mine")
    if not recorded:
        (place.data / "installed.json").unlink()
    assert hermes_status(capsys)["places"][0]["current"] is False
    steps = run_json(capsys, "install", "hermes")["steps"]
    assert ("folder", "change") in [(step["kind"], step["action"]) for step in steps]
    source = Path(plugin.__file__).parent
    shipped = {path.name for path in source.iterdir() if path.is_file()}
    assert set(os.listdir(place.plugin)) == {*shipped, "ownership.py", "preheat.json", "notes.txt"}
    assert hermes_status(capsys)["places"][0]["current"] is True
    (place.plugin / "notes.txt").unlink()
    assert main(["uninstall", "hermes"]) == 0
    assert not place.plugin.exists()


@pytest.mark.parametrize("recorded", [True, False])
def test_uninstalling_removes_the_files_of_an_older_version(place: Place, recorded: bool) -> None:
    """Without installing the newer version first."""
    pretend_an_older_version_was_installed(place)
    if not recorded:
        (place.data / "installed.json").unlink()
    assert main(["uninstall", "hermes"]) == 0
    assert not place.plugin.exists()


def test_installing_another_way_replaces_the_first(place: Place, capsys: Output) -> None:
    """Never two at a time; uninstalling afterwards restores everything to the byte."""
    place.config.write_text(MINE)
    before = tree(place.own)
    main(["install", "hermes", "--how", "hook"])
    assert "hooks:\n  pre_llm_call:\n    - {" in place.config.read_text()
    main(["install", "hermes", "--how", "directory"])
    assert place.config.read_text() == MINE.replace("  - other\n", "  - other\n  - preheat\n")
    assert place.plugin.exists()
    main(["install", "hermes", "--how", "hook"])
    assert not place.plugin.exists()
    assert main(["uninstall", "hermes"]) == 0
    assert tree(place.own) == before


def test_installing_takes_the_plugin_out_of_the_disabled_ones(place: Place, capsys: Output) -> None:
    """`plugins.disabled` outranks `enabled` in Hermes. Uninstalling restores the entry."""
    before = "plugins:\n  disabled:\n    - preheat\n    - loud\n"
    place.config.write_text(before)
    main(["install", "hermes", "--how", "directory"])
    assert place.config.read_text() == "plugins:\n  disabled:\n    - loud\n  enabled:\n    - preheat\n"
    main(["uninstall", "hermes"])
    assert place.config.read_text() == before


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ("a: 1\nplugins:\n  enabled: preheat\n", "line 3: `plugins.enabled`"),
        ("a: [\n", "line 2: "),
        ("plugins:\n  enabled: [a]\nplugins: {}\n", "line 3: `plugins`"),
        ("a: 1\n---\nb: 1\n", "line 2: "),
        ("a: \udcff\n", "line 1: "),
    ],
)
def test_settings_that_cannot_be_edited_safely_change_nothing(
    place: Place, capsys: Output, config: str, line: str
) -> None:
    """The error names the line. `status` and `doctor` do not fail on such settings."""
    place.config.write_bytes(config.encode(errors="surrogateescape"))
    before = tree(place.own, place.venv)
    for how in ([], ["--how", "directory"]):
        assert main(["install", "hermes", *how]) == 2
        error = capsys.readouterr().err
        assert f"config.yaml`, {line}" in error
        assert "nothing was changed" in error
        assert tree(place.own, place.venv) == before
    assert main(["status"]) == 0
    capsys.readouterr()
    assert main(["doctor"]) in (0, 1)


def test_settings_broken_after_installing_are_reported(place: Place, capsys: Output) -> None:
    """Hermes then loads nothing; `status` and `doctor` name the line, and repairing the file is enough."""
    main(["install", "hermes", "--how", "directory"])
    fine = place.config.read_text()
    place.config.write_text(fine + "model: [\n")
    (seen,) = hermes_status(capsys)["places"]
    assert (seen["active"], "line 5" in seen["reason"]) == ("no", True)
    assert main(["doctor", "--json"]) == 1
    assert any("does not call Preheat" in each for each in json.loads(capsys.readouterr().out)["findings"])
    assert main(["uninstall", "hermes"]) == 2
    place.config.write_text(fine)
    assert hermes_status(capsys)["places"][0]["active"] == "yes"


def test_a_foreign_folder_is_not_changed(place: Place, capsys: Output) -> None:
    """Somebody's own plugin of that name."""
    place.plugin.mkdir(parents=True)
    (place.plugin / "__init__.py").write_text("def register(ctx): ...\n")
    before = tree(place.own)
    assert main(["install", "hermes", "--how", "directory"]) == 2
    assert "not Preheat's" in capsys.readouterr().err
    assert main(["uninstall", "hermes"]) == 0
    assert tree(place.own) == before


def test_missing_old_and_new_versions_are_reported(
    place: Place, capsys: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the places searched, the version needed, what an older version lacks, and that a newer one was not tried."""
    for version, code, says in (
        ("0.12.3", 2, "0.13"),
        ("0.15.2", 0, "start_as"),
        ("0.17.0", 0, "`hold_stop` does nothing"),
        ("0.21.0", 0, "up to 0.19.0"),
    ):
        make_hermes(tmp_path / version, version)
        monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / version / "bin"), "/usr/bin", "/bin"]))
        assert main(["install", "hermes", "--how", "directory", "--dry-run"]) == code
        shown = capsys.readouterr()
        assert says in shown.out + shown.err
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert main(["install", "hermes"]) == 2
    error = capsys.readouterr().err
    assert "looked for `hermes` on the PATH, " in error
    assert str(place.own / "hermes-agent" / "venv" / "bin" / "hermes") in error
    assert tree(place.own) == {str(place.own): ""}


def test_wrong_options_are_reported_in_one_line(place: Place, capsys: Output) -> None:
    """An unknown way, a way for an agent that has only one, a project, a way that is impossible."""
    for words, says in (
        (["hermes", "--how", "magic"], "pip, directory, hook"),
        (["codex", "--how", "pip"], "one way only"),
        (["hermes", "--project"], "for all projects"),
        (["hermes", "--how", "pip"], "`--how pip` cannot be done: "),
    ):
        assert main(["install", *words]) == 2
        assert says in capsys.readouterr().err
    assert tree(place.own) == {str(place.own): ""}


def test_other_homes_of_the_same_hermes_are_named(
    place: Place, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The active profile is set up, or the one in `HERMES_HOME`; each is uninstalled separately."""
    coder = place.own / "profiles" / "coder"
    coder.mkdir(parents=True)
    place.config.write_text(MINE)
    (place.own / "active_profile").write_text("coder")
    assert main(["install", "hermes", "--how", "directory"]) == 0
    shown = capsys.readouterr().out
    assert (coder / "plugins" / "preheat" / "plugin.yaml").exists()
    assert f"for `{coder}`" in shown
    assert str(place.own) in shown
    (place.own / "active_profile").write_text("default")
    main(["install", "hermes", "--how", "directory"])
    main(["uninstall", "hermes"])
    assert place.config.read_text() == MINE
    assert (coder / "config.yaml").read_text() == "plugins:\n  enabled:\n    - preheat\n"
    monkeypatch.setenv("HERMES_HOME", str(coder))
    main(["uninstall", "hermes"])
    assert os.listdir(coder) == []


# Status.
def test_status_reports_what_is_loaded_and_out_of_date(place: Place, capsys: Output) -> None:
    """A copy of an older Preheat, a missing Python, a plugin that is not enabled: each with the remedy."""
    main(["install", "hermes", "--how", "directory"])
    found = hermes_status(capsys)
    assert found["program"] == f"Hermes Agent 0.19.0, run by {python_of(place.venv)}"
    assert any("--safe-mode" in note for note in found["notes"])
    (seen,) = found["places"]
    assert (seen["how"], seen["active"], seen["current"], seen["version"]) == ("directory", "yes", True, __version__)
    (place.plugin / "commands.py").write_text("# of an older one\n")
    assert hermes_status(capsys)["places"][0]["current"] is False
    assert main(["status"]) == 0
    assert "preheat install hermes --how directory" in capsys.readouterr().out
    main(["install", "hermes"])
    assert hermes_status(capsys)["places"][0]["current"] is True
    place.config.write_text("plugins: {enabled: []}\n")
    assert "is not in `plugins.enabled`" in hermes_status(capsys)["places"][0]["reason"]
    place.config.write_text("plugins: {enabled: [preheat], disabled: [preheat]}\n")
    assert "is in `plugins.disabled`" in hermes_status(capsys)["places"][0]["reason"]
    main(["install", "hermes"])
    start = place.plugin / "preheat.json"
    start.write_text(start.read_text().replace(sys.executable, "/gone/python"))
    assert "`/gone/python` is gone" in hermes_status(capsys)["places"][0]["reason"]
    main(["install", "hermes"])
    assert hermes_status(capsys)["places"][0]["active"] == "yes"


def test_status_reports_safe_mode(place: Place, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["install", "hermes", "--how", "directory"])
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    assert "HERMES_SAFE_MODE is set" in hermes_status(capsys)["places"][0]["reason"]


def test_an_installed_package_is_only_enabled(place: Place, capsys: Output) -> None:
    """Nothing is fetched, and uninstalling does not remove a package that we did not install."""
    add_package(place.venv, "preheat", __version__, POINTS)
    before = tree(place.own, place.venv)
    found = run_json(capsys, "install", "hermes")
    assert (found["how"], found["why"], found["added"]) == ("pip", "", [])
    assert hermes_status(capsys)["places"][0]["how"] == "pip"
    assert main(["uninstall", "hermes"]) == 0
    assert tree(place.own, place.venv) == before


def test_an_older_package_is_reported_and_outranks_a_folder(place: Place, capsys: Output) -> None:
    """Hermes loads the package and not a folder of the same name."""
    add_package(place.venv, "preheat", "0.0.1", POINTS)
    assert main(["install", "hermes"]) == 2
    assert "`--how pip` cannot be done: " in capsys.readouterr().err
    assert main(["install", "hermes", "--how", "directory"]) == 0
    assert "is also a package in" in capsys.readouterr().out
    package, folder = hermes_status(capsys)["places"]
    assert (package["active"], package["current"], package["version"]) == ("yes", False, "0.0.1")
    assert (folder["active"], "is loaded in its place" in folder["reason"]) == ("no", True)


def test_a_shell_hook_needs_consent_and_doubles_a_plugin(place: Place, capsys: Output) -> None:
    """Hermes stores the consent; a hook beside a plugin would answer twice, and installing again leaves one."""
    main(["install", "hermes", "--how", "hook"])
    (seen,) = hermes_status(capsys)["places"]
    assert (seen["events"], seen["active"], "not agreed" in seen["reason"]) == (["pre_llm_call"], "no", True)
    command = place.config.read_text().split('"command": ')[1].split(', "timeout"')[0]
    consent = {"approvals": [{"event": "pre_llm_call", "command": json.loads(command)}]}
    (place.own / "shell-hooks-allowlist.json").write_text(json.dumps(consent))
    assert hermes_status(capsys)["places"][0]["active"] == "yes"
    hooked = place.config.read_text()
    main(["install", "hermes", "--how", "directory"])
    place.config.write_text(place.config.read_text() + hooked)
    found = hermes_status(capsys)
    assert found["doubles"] == [str(place.plugin), str(place.config)]
    assert found["advice"] == "`preheat install hermes --how directory` leaves one of them."
    assert main(["doctor", "--json"]) == 1
    assert "2 times in one session" in capsys.readouterr().out
    main(["install", "hermes", "--how", "directory"])
    assert hermes_status(capsys)["doubles"] == []


# Packages.
def test_a_uv_tools_python_is_not_changed(place: Place, capsys: Output) -> None:
    """`uv tool` rebuilds it at every upgrade, so the folder is installed instead."""
    (place.venv / "uv-receipt.toml").write_text("[tool]\n")
    found = run_json(capsys, "install", "hermes", "--dry-run")
    assert found["how"] == "directory"
    assert "uv tool upgrade" in str(found["why"])


PIP = """#!/bin/sh
case "$*" in
    *"-m pip install"*--dry-run*)
        while [ "$1" != --report ]; do shift; done
        echo '{"install": [{"metadata": {"name": "preheat", "version": "9"}}]}' >"$2" ;;
    *"-m pip install"*) echo "ERROR: No space left on device" >&2; exit 1 ;;
    *) exec "$(dirname "$0")/python3" "$@" ;;
esac
"""


def test_a_failing_pip_falls_back_to_the_folder(place: Place, capsys: Output) -> None:
    """The dry run worked, then the disk was full: the folder is installed, or nothing with `--how pip`."""
    python_of(place.venv).unlink()
    launcher(python_of(place.venv), PIP)
    add_package(place.venv, "pip", "23.2")
    (packages_of(place.venv) / "pip").mkdir()
    (packages_of(place.venv) / "pip" / "__init__.py").touch()
    before = tree(place.own, place.venv)
    assert run_json(capsys, "install", "hermes", "--dry-run")["how"] == "pip"
    assert main(["install", "hermes", "--how", "pip"]) == 2
    assert "No space left on device; nothing was changed" in capsys.readouterr().err
    assert tree(place.own, place.venv) == before
    found = run_json(capsys, "install", "hermes")
    assert (found["how"], found["why"]) == ("directory", "No space left on device")
    main(["uninstall", "hermes"])
    assert tree(place.own, place.venv) == before


def test_packages_that_others_need_are_not_removed(tmp_path: Path) -> None:
    """A package that we added is removed only in the version we added, and if no remaining package needs it."""
    python = make_python(tmp_path / "venv")
    for name, needs in (("preheat", "left"), ("left", ""), ("theirs", "shared[x]>=1; python_version > '3'"), ("shared", "deep"), ("deep", ""), ("changed", "")):  # fmt: skip # noqa: E501
        add_package(tmp_path / "venv", name, "2.0" if name == "changed" else "1.0", needs=needs)
    added = [f"{name}==1.0" for name in ("preheat", "left", "shared", "deep", "changed", "gone")]
    plan = packages.plan_package_removal(str(python), added, {})
    assert plan is not None
    assert plan.packages == ("left==1.0", "preheat==1.0")
    assert plan.kept == ("shared==1.0", "deep==1.0", "changed==2.0")
    assert packages.plan_package_removal(str(python), ["gone==1.0"], {}) is None
    assert packages.plan_package_removal(str(tmp_path / "no" / "python"), added, {}) is None


@pytest.mark.parametrize(
    ("what", "says"), [({"managed": True}, "managed by the system"), ({"writable": False}, "written to")]
)
def test_a_managed_or_read_only_python_is_refused(tmp_path: Path, what: dict[str, bool], says: str) -> None:
    """As the interpreter reports of itself."""
    report = {"prefix": "/p", "version": "3.11", "packages": {}, "needs": {}, "points": {}, "pip": True, "managed": False, "writable": True}  # fmt: skip # noqa: E501
    python = launcher(tmp_path / "bin" / "python", f"#!/bin/sh\necho 'preheat:{json.dumps({**report, **what})}'\n")
    with pytest.raises(packages.CannotInstall, match=says):
        packages.plan_packages(PackageStep(str(python), "x"), os.environ)


def test_a_python_that_does_not_run_or_keep_packages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(packages.CannotInstall, match="does not run"):
        packages.plan_packages(PackageStep(str(tmp_path / "python"), "x"), os.environ)
    python = make_python(tmp_path / "venv")
    with pytest.raises(packages.CannotInstall, match="swept"):
        packages.plan_packages(PackageStep(str(python), "x", "swept"), os.environ)


def test_the_package_is_installed_from_the_same_source() -> None:
    """In these tests Preheat is a checkout: its folder is the source."""
    *how, where = packages.find_origin()
    assert os.path.exists(os.path.join(where, "pyproject.toml")) or where == f"preheat=={__version__}"
    assert how in ([], ["--editable"])
