"""Advice and contexts at the moments that each agent declares: what cannot be sent is not counted and waits for the next moment
that can carry it, and a context that the agent's history lost is given again."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.agents import WITH_HOOKS, hooks_of
from preheat.app.live.hooks import Hooks
from preheat.daemon.engine import Engine
from preheat.daemon_client import prepare_folder
from preheat.model.live import HookAnswer
from tests.daemon.builders import MISSING, RIGHT, WRONG, PatientTimeLimit, learned
from tests.shared import FIXTURES

CARRIERS = ("session_start", "prompt", "before_tool", "after_tool", "tool_failed")


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_what_an_agent_declares_is_what_it_writes(agent: str) -> None:
    """By the recorded events of its program: a text is written where a moment carries one, and nowhere else."""
    hooks = hooks_of(agent)
    assert hooks is not None
    payloads = Path(FIXTURES, "hooks", f"{agent}.jsonl").read_bytes().splitlines()
    events = [event for payload in payloads if (event := hooks.read(payload, None)) is not None and not event.subagent]
    names = {event.name for event in events}
    assert {"session_start", "after_tool", "stop"} <= names
    for event in events:
        if event.name in CARRIERS:
            written = hooks.write(event, HookAnswer(context="A text.")) or b""
            assert (b"A text." in written) == hooks.moments.carry(event.name), event.name
        elif event.name == "stop":
            written = hooks.write(event, HookAnswer(person="A line.")) or b""
            assert (b"A line." in written) == hooks.moments.person


class Machine:
    """A project on which four sessions have worked, and an engine."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.agent = agent
        self.project = str(folder / "shop")
        (folder / "shop" / ".git").mkdir(parents=True)
        data = str(folder / "data")
        learned(data, self.project, str(folder))
        Path(data, "settings.toml").write_text("[experiment]\nholdout = 0\n")
        self.hooks = Hooks(data)
        self.hooks.prepare_folder(self.project)
        self.engine = Engine(prepare_folder(data), self.hooks, PatientTimeLimit())
        self._number = 0

    def send(self, **fields: Any) -> str:
        """The answer to an event, as a text."""
        self._number += 1
        at = float(self._number)
        body = {"session_id": "s1", "session": "s1", "cwd": self.project, "timestamp": f"t{at}", **fields}
        return self.engine.handle(self.agent, json.dumps(body).encode(), at).decode()

    def event(self, name: str, **fields: Any) -> str:
        return self.send(hook_event_name=name, **fields)

    @property
    def advisories(self) -> int:
        return self.engine.counts["advisories"]


def gemini_call(command: str, error: str = "", output: str = "fine") -> dict[str, Any]:
    response = {"error": {"message": error}} if error else {"llmContent": f"Output: {output}\nExit Code: 0"}
    return {"tool_name": "run_shell_command", "tool_input": {"command": command}, "tool_response": response}


@pytest.fixture
def gemini(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path, "gemini")
    machine.event("SessionStart", source="startup")
    machine.event("BeforeAgent", prompt="Make it work")
    return machine


def test_advice_that_cannot_be_sent_before_a_call_is_sent_when_the_call_has_failed(gemini: Machine) -> None:
    """It is not counted as given before; and of a call that worked nothing is said."""
    planned = {"tool_name": "run_shell_command", "tool_input": {"command": WRONG}}
    assert gemini.event("BeforeTool", **planned) == ""
    assert gemini.advisories == 0
    failed = {"llmContent": f"Output: {MISSING}\nExit Code: 127"}
    assert RIGHT in gemini.event("AfterTool", **{**planned, "tool_response": failed})
    assert gemini.advisories == 1


def test_advice_that_a_failure_cannot_carry_comes_with_the_next_result(gemini: Machine) -> None:
    assert gemini.event("AfterTool", **gemini_call(WRONG, MISSING)) == ""
    assert gemini.advisories == 0
    assert RIGHT in gemini.event("AfterTool", **gemini_call("ls"))
    assert gemini.advisories == 1
    assert gemini.event("AfterTool", **gemini_call("ls -l")) == ""


def test_advice_that_waits_outlives_the_daemon(gemini: Machine, tmp_path: Path) -> None:
    gemini.event("AfterTool", **gemini_call(WRONG, MISSING))
    gemini.engine = Engine(prepare_folder(str(tmp_path / "data")), gemini.hooks, PatientTimeLimit())
    assert RIGHT in gemini.event("AfterTool", **gemini_call("ls"))


def test_advice_that_is_no_longer_true_is_not_sent(gemini: Machine) -> None:
    """The program that failed has worked since, or another failure came after it."""
    gemini.event("AfterTool", **gemini_call(WRONG, MISSING))
    assert gemini.event("AfterTool", **gemini_call("pytest --version", output="pytest 9.0")) == ""
    assert gemini.event("AfterTool", **gemini_call("ls")) == ""
    assert gemini.advisories == 0


def test_a_failure_that_only_the_transcript_tells_is_answered_with_the_next_event(tmp_path: Path) -> None:
    """Codex fires no hook after a tool's own error."""
    machine = Machine(tmp_path, "codex")
    machine.event("SessionStart", source="startup")
    running = machine.engine.sessions.get("codex", "s1")
    failed = machine.hooks.read("codex", codex_call(WRONG, machine.project), 1.0)
    assert failed is not None
    machine.engine.record_transcript_events(running, machine.hooks.live_events(failed), 2.0)
    assert machine.advisories == 0
    listed = {"tool_name": "Bash", "tool_use_id": "c2", "tool_input": {"command": "ls"}}
    assert RIGHT in machine.event("PreToolUse", **listed)
    assert machine.advisories == 1


def codex_call(command: str, cwd: str) -> bytes:
    fields = {"tool_name": "Bash", "tool_use_id": "c1", "tool_input": {"command": command}, "tool_response": MISSING}
    return json.dumps({"session_id": "s1", "hook_event_name": "PostToolUse", "cwd": cwd, **fields}).encode()


def test_advice_at_a_stop_waits_for_the_next_prompt_where_the_person_cannot_be_told(tmp_path: Path) -> None:
    """Unverified work: OpenCode shows nothing at the end of a turn."""
    machine = Machine(tmp_path, "opencode")
    machine.send(event="sessionStart", source="startup")
    machine.send(event="prompt", text="Change the parts")
    for number in range(4):
        args = {"filePath": f"{machine.project}/src/part{number}.py", "oldString": "a", "newString": f"b{number}"}
        machine.send(event="toolAfter", tool="edit", call=f"c{number}", args=args, output="Edit applied.")
    before = machine.advisories
    assert machine.send(event="idle") == ""
    assert machine.advisories == before
    assert "preheat-advisory" in machine.send(event="prompt", text="Go on")
    assert machine.advisories == before + 1


@pytest.mark.parametrize(("agent", "contexts"), [("codex", 1), ("claude_code", 1), ("gemini", 2), ("copilot", 2)])
def test_a_resumed_session_has_its_context_once(tmp_path: Path, agent: str, contexts: int) -> None:
    """It is given again only where the agent's history has lost it, whatever the task of the resumed session is."""
    machine = Machine(tmp_path, agent)
    first = machine.event("SessionStart", source="startup")
    assert RIGHT in first
    machine.event("UserPromptSubmit", prompt="fix the linting error in src/checkout.py")
    again = machine.event("SessionStart", source="resume")
    assert (first, again).count("") == 2 - contexts
    assert machine.engine.counts["contexts"] == contexts


def test_after_a_compaction_the_context_comes_with_the_next_event_that_carries_it(tmp_path: Path) -> None:
    """Copilot reports the compaction, and no start after it; the next event has the context and where the work stands."""
    machine = Machine(tmp_path, "copilot")
    machine.event("SessionStart", source="startup")
    machine.event("UserPromptSubmit", prompt="Make the next checkout step work")
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    result = {"tool_result": {"result_type": "success", "text_result_for_llm": "fine\n<exited with exit code 0>"}}
    assert machine.event("PostToolUse", **call, **result) == ""
    machine.event("PreCompact", trigger="auto")
    answer = machine.event("PostToolUse", **{**call, **result, "tool_input": {"command": "ls -l"}})
    assert RIGHT in answer
    assert "checkout" in answer
    assert machine.event("PostToolUse", **{**call, **result, "tool_input": {"command": "ls -a"}}) == ""
