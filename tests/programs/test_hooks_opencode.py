"""Our plugin in the real OpenCode with the scripted model: answers reach the model, and failures do not disturb it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.hooks import ANSWER_TEXTS, REFUSAL_REASON, REPLACED_OUTPUT, HookRecorder, Mode
from preheat.testing.model_server import Call, Reply
from tests.programs import opencode
from tests.programs.program import clean_environment
from tests.shared import real_program

pytestmark = pytest.mark.program


@pytest.fixture(scope="module", autouse=True)
def program() -> str:
    return real_program(opencode.find_opencode(), "opencode")


def bash(command: str) -> Call:
    return Call("bash", {"command": command, "description": "Run it"})


def place_package_lock(home: str) -> None:
    """As on a machine where OpenCode ran before: before it loads any plugin it fetches a package of its own, once."""
    folder = Path(home, ".config", "opencode")
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(locked))


def run_session(
    folder: Path, program: str, mode: Mode = "answer", more: list[Reply] | None = None
) -> tuple[HookRecorder, list[Any]]:
    """The hooks, and every main request to the model."""
    home = str(folder / "home")
    place_package_lock(home)
    missing = Call("read", {"filePath": os.path.join(opencode.project(home), "missing.txt")})
    script = more or [
        Reply("I look.", [bash("ls missing-folder")]),
        Reply(calls=[missing]),
        Reply(calls=[bash("echo good")]),
        Reply("Done."),
    ]
    hooked = HookRecorder(str(folder / "data"), "opencode", clean_environment(home), mode)
    finished = opencode.run(opencode.Job(program=program, home=home, arguments=["run", "Look around."], script=script))
    assert finished.remaining == 0, finished.errors
    requests = [request.body for request in finished.requests if request.method == "POST" and not request.auxiliary]
    return hooked, requests


def results(request: Any) -> list[str]:
    return [json.dumps(message["content"]) for message in request["messages"] if message["role"] == "tool"]


def system(request: Any) -> str:
    return json.dumps([message["content"] for message in request["messages"] if message["role"] == "system"])


@pytest.fixture(scope="module")
def answered_run(tmp_path_factory: pytest.TempPathFactory, program: str) -> tuple[HookRecorder, list[Any]]:
    """One run that several tests look at."""
    return run_session(tmp_path_factory.mktemp("answered"), program)


def test_context_reaches_the_model(answered_run: tuple[HookRecorder, list[Any]]) -> None:
    """The context is in the system prompt of every request, what is said with a prompt in the prompt's message from then on; an
    advisory comes after the call's output."""
    hooked, requests = answered_run
    names = [event.name for event in hooked.events]
    assert names[:4] == ["session_start", "prompt", "before_tool", "after_tool"]
    assert names.count("session_start") == 1
    assert "tool_failed" in names
    assert "stop" in names
    assert all(ANSWER_TEXTS["session_start"] in system(request) for request in requests)
    assert all(ANSWER_TEXTS["prompt"] in json.dumps(request) for request in requests)
    assert ANSWER_TEXTS["before_tool"] in results(requests[-1])[0]
    assert ANSWER_TEXTS["after_tool"] in results(requests[-1])[0]
    assert any(ANSWER_TEXTS["tool_failed"] in system(request) for request in requests)


def test_events_report_what_happened(answered_run: tuple[HookRecorder, list[Any]]) -> None:
    """Outputs, exit codes, and a tool's error, which OpenCode's own hook does not report."""
    hooked, _ = answered_run
    calls = [event for event in hooked.events if event.name in ("after_tool", "tool_failed")]
    assert sorted((call.tool, call.is_error, call.exit_code) for call in calls if call.tool == "bash") == [
        ("bash", False, 0),
        ("bash", False, 2),
    ]
    (failed,) = (call for call in calls if call.name == "tool_failed")
    assert (failed.tool, failed.is_error) == ("read", True)
    assert all(event.session.startswith("ses_") and event.cwd for event in hooked.events)


@pytest.mark.parametrize("mode", ["crash", "garbage", "hang"])
def test_a_broken_or_hanging_hook_does_not_disturb_the_session(tmp_path: Path, program: str, mode: Mode) -> None:
    """OpenCode has no time limit for a plugin, but our plugin has one."""
    _, requests = run_session(tmp_path, program, mode)
    assert "missing-folder" in results(requests[-1])[0]
    assert "good" in results(requests[-1])[2]


def test_a_missing_client_does_not_disturb_the_session(tmp_path: Path, program: str) -> None:
    """Neither the script nor its Python exists any more."""
    home = str(tmp_path / "home")
    place_package_lock(home)
    hooked = HookRecorder(str(tmp_path / "data"), "opencode", clean_environment(home))
    plugin = Path(hooked.plan.path)
    plugin.write_text(plugin.read_text().replace("/bin/python", "/bin/gone"))
    script = [Reply(calls=[bash("echo good")]), Reply("Done.")]
    finished = opencode.run(opencode.Job(program=program, home=home, arguments=["run", "Look."], script=script))
    assert finished.remaining == 0
    assert hooked.payloads == []


def test_an_output_is_replaced(tmp_path: Path, program: str) -> None:
    _, requests = run_session(tmp_path, program, "replace")
    assert REPLACED_OUTPUT in results(requests[-1])[0]
    assert "No such file" not in results(requests[-1])[0]


def test_a_call_is_refused(tmp_path: Path, program: str) -> None:
    """The model gets the reason."""
    _, requests = run_session(tmp_path, program, "block")
    assert REFUSAL_REASON in results(requests[-1])[0]


def test_subagents_are_not_watched(tmp_path: Path, program: str) -> None:
    """No event of a subagent's session is reported."""
    task = Call("task", {"description": "Count", "prompt": "Count the files.", "subagent_type": "general"})
    script = [Reply("Ask.", [task]), Reply(calls=[bash("ls | wc -l")]), Reply("None."), Reply("Zero.")]
    hooked, _ = run_session(tmp_path, program, more=script)
    assert len({event.session for event in hooked.events}) == 1
    assert all(event.arguments.get("command") != "ls | wc -l" for event in hooked.events)
