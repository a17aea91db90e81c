"""Our hooks in the real Gemini CLI, against the scripted model: what they say is heard, and nothing they do breaks it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.hooks import ANSWER_TEXTS, REFUSAL_REASON, REPLACED_OUTPUT, HookRecorder, Mode
from preheat.testing.model_server import Call, Reply
from tests.programs import gemini
from tests.programs.program import clean_environment
from tests.shared import real_program

pytestmark = pytest.mark.program

SCRIPT = [
    Reply("I look.", [Call("run_shell_command", {"command": "ls missing-folder"})]),
    Reply(calls=[Call("read_file", {"file_path": "missing.txt"})]),
    Reply(calls=[Call("run_shell_command", {"command": "echo good"})]),
    Reply("Done."),
]


@pytest.fixture(scope="module", autouse=True)
def program() -> str:
    return real_program(gemini.find_gemini(), "gemini")


def run_with_hooks(folder: Path, program: str, mode: Mode = "answer") -> tuple[HookRecorder, list[Any]]:
    """The hooks, and the contents of the last request to the model."""
    home = str(folder / "home")
    hooked = HookRecorder(str(folder / "data"), "gemini", clean_environment(home, {"GEMINI_CLI_HOME": home}), mode)
    job = gemini.Job(program=program, home=home, prompt="Look around.", script=SCRIPT, settings=hooked.settings)
    finished = gemini.run(job)
    assert finished.remaining == 0
    requests = [request for request in finished.requests if request.method == "POST" and not request.auxiliary]
    return hooked, requests[-1].body["contents"]


def responses(contents: list[Any]) -> list[dict[str, Any]]:
    parts = [part for content in contents for part in content["parts"]]
    return [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]


@pytest.fixture(scope="module")
def answered_run(tmp_path_factory: pytest.TempPathFactory, program: str) -> tuple[HookRecorder, list[Any]]:
    """One run that several tests look at."""
    return run_with_hooks(tmp_path_factory.mktemp("answered"), program)


def test_context_at_the_start_and_after_a_call_reaches_the_model(answered_run: tuple[HookRecorder, list[Any]]) -> None:
    """Not before a call and not after a tool's error: the program has no place for it there."""
    hooked, contents = answered_run
    assert [event.name for event in hooked.events] == [
        "session_start", "prompt", "before_tool", "after_tool", "tool_failed", "before_tool", "after_tool", "stop", "session_end",
    ]  # fmt: skip
    first, second, third = responses(contents)
    assert ANSWER_TEXTS["session_start"] in json.dumps(contents[0])
    assert ANSWER_TEXTS["prompt"] in json.dumps(contents[0])
    assert ANSWER_TEXTS["after_tool"] in first["output"]
    assert "error" in second
    assert ANSWER_TEXTS["after_tool"] in third["output"]


def test_events_report_what_happened(answered_run: tuple[HookRecorder, list[Any]]) -> None:
    """Outputs without the program's own lines, exit codes, and prompts without what hooks put before them."""
    hooked, _ = answered_run
    events = {event.name: event for event in reversed(hooked.events)}
    assert events["prompt"].prompt == "Look around."
    assert os.path.exists(events["stop"].transcript)
    calls = [event for event in hooked.events if event.name in ("after_tool", "tool_failed")]
    assert [(call.tool, call.is_error, call.exit_code) for call in calls] == [
        ("run_shell_command", None, 2),
        ("read_file", True, None),
        ("run_shell_command", None, 0),
    ]
    assert calls[2].result == "good"
    assert len({call.call_id for call in calls}) == 3


@pytest.mark.parametrize("mode", ["crash", "garbage", "hang"])
def test_a_broken_or_hanging_hook_does_not_disturb_the_session(tmp_path: Path, program: str, mode: Mode) -> None:
    _, contents = run_with_hooks(tmp_path, program, mode)
    first, _, third = responses(contents)
    assert "Exit Code: 2" in first["output"]
    assert "good" in third["output"]


def test_an_output_is_replaced(tmp_path: Path, program: str) -> None:
    _, contents = run_with_hooks(tmp_path, program, "replace")
    first, _, third = responses(contents)
    assert REPLACED_OUTPUT in json.dumps(first)
    assert "No such file" not in json.dumps(first)
    assert REPLACED_OUTPUT in json.dumps(third)


def test_a_call_is_refused(tmp_path: Path, program: str) -> None:
    """Only if the person asked for it; the model gets the reason."""
    hooked, contents = run_with_hooks(tmp_path, program, "block")
    assert REFUSAL_REASON in json.dumps(responses(contents)[0])
    assert [event.stop_again for event in hooked.events if event.name == "stop"] == [False, True]
