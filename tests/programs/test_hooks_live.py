"""The whole way in the real programs: installed hooks, the real client, a daemon that it starts, and what the model gets."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from preheat.daemon_client import find_daemon
from preheat.installing.plans import apply_file_plan, plan_install
from preheat.model.session import PREHEAT_MARK
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs import gemini, opencode
from tests.programs.codex import CodexHome, find_codex
from tests.programs.copilot import CopilotHome, find_copilot
from tests.programs.program import clean_environment

pytestmark = pytest.mark.program

PROMPT = "Find out why the folder is missing."
AGAIN = "ls missing-folder"


def script(tool: str, arguments: dict[str, Any]) -> list[Reply]:
    """The same call five times, and nothing changed in between."""
    return [*(Reply(calls=[Call(tool, arguments)]) for _ in range(5)), Reply("Done.")]


def installed(agent: str, folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    data = str(folder / "data")
    plan = plan_install(agent, data, environment)
    apply_file_plan(plan, data, time.time())
    found: dict[str, Any] = json.loads(plan.after or b"{}") if agent != "opencode" else {}
    return found


def in_codex(folder: Path) -> str:
    with ModelServer(script("exec_command", {"cmd": AGAIN})) as server:
        home = CodexHome(str(folder), server.url)
        installed("codex", folder, home.environment)
        home.exec(PROMPT, "--dangerously-bypass-hook-trust")
        return json.dumps(server.main_requests[-1].body["input"])


def in_copilot(folder: Path) -> str:
    with ModelServer(script("bash", {"command": AGAIN, "description": "List"})) as server:
        home = CopilotHome(str(folder), server.url)
        installed("copilot", folder, home.environment)
        home.prompt(PROMPT)
        return json.dumps(server.main_requests[-1].body["messages"])


def in_gemini(folder: Path) -> str:
    home = str(folder / "home")
    settings = installed("gemini", folder, clean_environment(home, {"GEMINI_CLI_HOME": home}))
    replies = script("run_shell_command", {"command": AGAIN})
    job = gemini.Job(program=gemini.find_gemini() or "", home=home, prompt=PROMPT, script=replies, settings=settings)
    return json.dumps([request.body for request in gemini.run(job).requests][-1])


def in_opencode(folder: Path) -> str:
    home = str(folder / "home")
    installed("opencode", folder, clean_environment(home))
    locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    Path(home, ".config", "opencode", "node_modules").mkdir()
    Path(home, ".config", "opencode", "package-lock.json").write_text(json.dumps(locked))
    replies = script("bash", {"command": AGAIN, "description": "List"})
    program = opencode.find_opencode() or ""
    job = opencode.Job(program=program, home=home, arguments=["run", PROMPT], script=replies)
    finished = opencode.run(job)
    return json.dumps([request.body for request in finished.requests if not request.auxiliary][-1])


RUNS: dict[str, tuple[Callable[[], str | None], Callable[[Path], str]]] = {
    "codex": (find_codex, in_codex),
    "copilot": (find_copilot, in_copilot),
    "gemini": (gemini.find_gemini, in_gemini),
    "opencode": (opencode.find_opencode, in_opencode),
}


@pytest.fixture(autouse=True)
def no_daemon_left(tmp_path: Path) -> Iterator[None]:
    yield
    environment = {**os.environ, "PREHEAT_HOME": str(tmp_path / "data")}
    subprocess.run(
        [sys.executable, "-m", "preheat", "serve", "--stop"], env=environment, capture_output=True, check=False
    )


@pytest.mark.parametrize("agent", RUNS)
def test_a_loop_is_reported_to_the_model_while_it_runs(tmp_path: Path, agent: str) -> None:
    """Nothing but `preheat install` was done before: the first hook starts the daemon."""
    find, run = RUNS[agent]
    if find() is None:
        pytest.skip(f"the `{agent}` program is not installed: run `scripts/install-agents {agent}`")
    request = run(tmp_path)
    assert PREHEAT_MARK.strip("<>") in request
    assert "with the same result" in request
    assert find_daemon(str(tmp_path / "data")) is not None
