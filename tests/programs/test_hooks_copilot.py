"""Our hooks in the real Copilot CLI, with the scripted model: answers reach the model, and failures do not disturb it.

CI does not install it (`scripts/install-agents copilot` does): what it tells is recorded in the fixtures.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.hooks import ANSWER_TEXTS, REFUSAL_REASON, REPLACED_OUTPUT, HookRecorder, Mode
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.copilot import CopilotHome, find_copilot

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(
        find_copilot() is None,
        reason="the `copilot` program is not installed: run `scripts/install-agents copilot`",
    ),
]


def bash(command: str) -> Call:
    return Call("bash", {"command": command, "description": "Run it"})


def run_session(folder: Path, mode: Mode = "answer") -> tuple[HookRecorder, list[Any]]:
    """The hooks, and the messages of the last request to the model."""
    view = Call("view", {"path": str(folder / "proj" / "missing.txt")})
    script = [
        Reply("I look.", [bash("ls missing-folder")]),
        Reply(calls=[view]),
        Reply(calls=[bash("echo good")]),
        Reply("Done."),
    ]
    with ModelServer(script) as server:
        home = CopilotHome(str(folder), server.url)
        hooked = HookRecorder(str(folder / "data"), "copilot", home.environment, mode)
        home.prompt("Look around.")
        assert server.unused_replies == 0
        return hooked, server.main_requests[-1].body["messages"]


def results(messages: list[Any]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_context_reaches_the_model(tmp_path: Path) -> None:
    """At the start, at the prompt, before and after a call, and after a tool's error."""
    hooked, messages = run_session(tmp_path)
    names = [event.name for event in hooked.events]
    assert sorted(names[:2]) == ["prompt", "session_start"]  # the program starts both at once
    assert names[2:] == [
        "before_tool", "after_tool", "tool_failed", "before_tool", "after_tool", "stop", "session_end",
    ]  # fmt: skip
    for name in ("session_start", "prompt", "before_tool", "after_tool", "tool_failed"):
        assert ANSWER_TEXTS[name] in json.dumps(messages)
    assert ANSWER_TEXTS["after_tool"] in results(messages)[0]


def test_events_report_what_happened(tmp_path: Path) -> None:
    """Tools by their names in the session, outputs without the program's own line, exit codes, and the transcript."""
    hooked, _ = run_session(tmp_path)
    calls = [event for event in hooked.events if event.name in ("after_tool", "tool_failed")]
    assert [(call.tool, call.is_error, call.exit_code) for call in calls] == [
        ("bash", False, 2),
        ("view", True, None),
        ("bash", False, 0),
    ]
    assert calls[2].result == "good"
    stop = next(event for event in hooked.events if event.name == "stop")
    assert os.path.exists(stop.transcript)


@pytest.mark.parametrize("mode", ["crash", "garbage", "hang"])
def test_a_broken_or_hanging_hook_does_not_disturb_the_session(tmp_path: Path, mode: Mode) -> None:
    """Copilot CLI treats a failing hook before a call as a refusal, so ours never fails."""
    _, messages = run_session(tmp_path, mode)
    assert "exit code 2" in results(messages)[0]
    assert "good" in results(messages)[2]


def test_a_missing_client_refuses_nothing(tmp_path: Path) -> None:
    """Neither the script nor its Python exists any more: every call still runs."""
    with ModelServer([Reply(calls=[bash("echo good")]), Reply("Done.")]) as server:
        home = CopilotHome(str(tmp_path), server.url)
        hooked = HookRecorder(str(tmp_path / "data"), "copilot", home.environment)
        installed = Path(hooked.plan.path)
        installed.write_text(
            installed.read_text().replace("/data/hook.py", "/gone/hook.py").replace("/bin/python", "/bin/gone")
        )
        home.prompt("Look around.")
        assert "good" in results(server.main_requests[-1].body["messages"])[0]


def test_an_output_is_replaced(tmp_path: Path) -> None:
    _, messages = run_session(tmp_path, "replace")
    assert REPLACED_OUTPUT in results(messages)[0]
    assert "No such file" not in results(messages)[0]


def test_a_call_is_refused_and_a_stop_held_once(tmp_path: Path) -> None:
    """The model gets the reason."""
    hooked, messages = run_session(tmp_path, "block")
    assert REFUSAL_REASON in results(messages)[0]
    assert [event.stop_again for event in hooked.events if event.name == "stop"] == [False, True]
