"""Preheat as a plugin, installed by each program's own command: its hooks reach the daemon, and the answers reach the model.

The client is the real one, started as `preheat hook AGENT`; only the daemon's answers are fixed.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from preheat.daemon_client import write_client
from preheat.model.live import HookAnswer
from preheat.testing.hooks import ListeningDaemon
from preheat.testing.model_server import Reply
from tests.programs import codex, copilot, gemini, opencode
from tests.programs.machines import MACHINES, CodexMachine, Conversation, Machine, wait_longer
from tests.programs.moments import text_of
from tests.programs.program import run_program
from tests.shared import TESTS, real_program

pytestmark = pytest.mark.program
PLUGINS_ON = ("-c", "features.plugins=true")
"""For Codex: the configuration of the tests turns plugins off, and is written anew for each run."""
CHECKOUT = os.path.dirname(TESTS)


def install_codex(machine: Machine, plugins: Path) -> None:
    program = codex.find_codex() or ""
    run_program(
        [program, "plugin", "marketplace", "add", *PLUGINS_ON, str(plugins)], machine.project, machine.environment
    )
    run_program([program, "plugin", "add", *PLUGINS_ON, "preheat@preheat"], machine.project, machine.environment)


def install_copilot(machine: Machine, plugins: Path) -> None:
    program = copilot.find_copilot() or ""
    run_program([program, "plugin", "marketplace", "add", str(plugins)], machine.project, machine.environment)
    run_program([program, "plugin", "install", "preheat@preheat"], machine.project, machine.environment)


def install_gemini(machine: Machine, plugins: Path) -> None:
    """Its own check first. A folder that the person has not trusted is asked about, so that is turned off."""
    program, extension = gemini.find_gemini() or "", str(plugins / "plugins" / "gemini")
    checked = run_program([program, "extensions", "validate", extension], machine.project, machine.environment)
    assert "successfully validated" in checked.output + checked.errors
    settings = Path(machine.home, ".gemini", "settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"security": {"folderTrust": {"enabled": False}}}))
    run_program([program, "extensions", "install", extension, "--consent"], machine.project, machine.environment)
    settings.unlink()


def install_opencode(machine: Machine, plugins: Path) -> None:
    """The package in the project's configuration, by its folder: without a network nothing is fetched by name."""
    named = {"plugin": [(plugins / "plugins" / "opencode").as_uri()]}
    Path(machine.project, "opencode.json").write_text(json.dumps(named))


def run_codex(machine: Machine, script: Sequence[Reply]) -> Conversation:
    assert isinstance(machine, CodexMachine)
    wanted = (*PLUGINS_ON, "-c", 'plugins={"preheat@preheat"={enabled=true}}')
    return machine.run("Look around.", script, options=wanted)


def run_other(machine: Machine, script: Sequence[Reply]) -> Conversation:
    return machine.run("Look around.", script)


PROGRAMS: dict[str, tuple[Callable[[], str | None], Callable[[Machine, Path], None]]] = {
    "codex": (codex.find_codex, install_codex),
    "copilot": (copilot.find_copilot, install_copilot),
    "gemini": (gemini.find_gemini, install_gemini),
    "opencode": (opencode.find_opencode, install_opencode),
}


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """The plugins as somebody has them who cloned the repository, with longer limits because the machine may be busy."""
    folder = tmp_path / "clone"
    for name in ("plugins", ".claude-plugin"):
        shutil.copytree(os.path.join(CHECKOUT, name), folder / name)
    wait_longer(*(str(path) for path in folder.rglob("*") if path.suffix in (".json", ".js")))
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder on the PATH with `preheat` in it, as an installation makes it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "preheat").write_text(f'#!/bin/sh\nexec {sys.executable} -m preheat "$@"\n')
    (folder / "preheat").chmod(0o755)
    (folder / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("agent", PROGRAMS)
def test_the_plugin_reports_to_the_daemon_and_the_answers_reach_the_model(
    agent: str, tmp_path: Path, plugins: Path, programs: None
) -> None:
    find, install = PROGRAMS[agent]
    real_program(find(), agent)
    data = str(tmp_path / "machine" / "home" / ".local" / "share" / "preheat")
    os.makedirs(data, mode=0o700)
    wait_longer(write_client(data))
    machine = MACHINES[agent](tmp_path / "machine", data)
    install(machine, plugins)
    script = [Reply(calls=[machine.shell("echo good")]), Reply("Done.")]
    with ListeningDaemon(data, agent, lambda event: HookAnswer(context=text_of(event))) as daemon:
        seen = (run_codex if agent == "codex" else run_other)(machine, script)
    said = {event.name: text_of(event) for event in daemon.events}
    assert {"session_start", "prompt", "after_tool"} <= set(said)
    assert said["session_start"] in seen.requests[0]
    assert said["after_tool"] in seen.requests[-1]
    assert len([event for event in daemon.events if event.name == "after_tool"]) == 1, "no hook stands there twice"
