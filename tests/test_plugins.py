"""The plugins in each agent's form are what the script makes, and do nothing where Preheat is not installed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from preheat import __version__
from scripts.make_plugins import CHECKOUT, PLACES, make_files

MANIFESTS = (
    "plugins/preheat/.claude-plugin/plugin.json",
    "plugins/preheat/.codex-plugin/plugin.json",
    "plugins/preheat/plugin.json",
)
HOOKS = [name for name in make_files() if "/hooks/" in name]


def read_json(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(CHECKOUT, name).read_text(encoding="utf-8"))
    return found


def commands_in(value: Any) -> list[str]:
    """Every command for a shell in a hooks file."""
    if isinstance(value, dict):
        own = [value[key] for key in ("command", "bash") if isinstance(value.get(key), str)]
        return own + [each for inner in value.values() for each in commands_in(inner)]
    return [each for inner in value for each in commands_in(inner)] if isinstance(value, list) else []


def test_the_files_are_what_the_script_makes_and_there_are_no_others() -> None:
    """Run `python scripts/make_plugins.py` after changing a hook or the version."""
    made = make_files()
    there = {
        os.path.relpath(path, CHECKOUT): path.read_text(encoding="utf-8")
        for place in PLACES
        for path in Path(CHECKOUT, place).rglob("*")
        if path.is_file()
    }
    assert there == made


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_names_a_hooks_file_that_exists_and_no_default_one_does(name: str) -> None:
    """A file `hooks/hooks.json` would be run by programs that it is not for."""
    manifest, folder = read_json(name), Path(CHECKOUT, "plugins", "preheat")
    assert manifest["version"] == __version__
    assert (folder / manifest["hooks"]).is_file()
    assert not (folder / "hooks" / "hooks.json").exists()


@pytest.mark.parametrize("name", HOOKS)
def test_without_preheat_every_hook_ends_well_and_says_nothing(name: str, tmp_path: Path) -> None:
    commands = set(commands_in(read_json(name)))
    assert commands
    for command in commands:
        done = subprocess.run(
            ["/bin/sh", "-c", command], env={"PATH": str(tmp_path)}, input=b"{}", capture_output=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not shutil.which("node"), reason="there is no `node`")
def test_the_package_for_opencode_can_be_imported_and_its_hooks_do_nothing_without_preheat(tmp_path: Path) -> None:
    program = f"""
const made = await import({json.dumps(Path(CHECKOUT, "plugins", "opencode", "index.js").as_uri())})
const hooks = await Object.values(made)[0]({{ directory: "/tmp", client: {{}} }})
const output = {{ title: "", output: "fine", metadata: {{}} }}
await hooks["tool.execute.after"]({{ tool: "bash", sessionID: "s", callID: "c", args: {{}} }}, output)
console.log(output.output)
"""
    script = tmp_path / "try.mjs"
    script.write_text(program)
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [shutil.which("node") or "", script], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr


@pytest.mark.parametrize("payload", [b"", b"{ no JSON", b"\xff" * 100])
def test_the_client_of_plugins_ends_well_whatever_it_is_given(payload: bytes, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PREHEAT_RUN": "1"}  # starts no daemon
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "hook", "codex"],
        env=environment,
        input=payload,
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_client_of_plugins_ends_well_where_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PREHEAT_HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "hook", "codex"],
        env=environment,
        input=b"{}",
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(folder.iterdir()) == []
