"""Reading hook payloads: each becomes an event, and anything else becomes none and raises nothing."""

import json
import os
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import WITH_HOOKS, hooks_of, reader_of
from preheat.agents.hooks import Hooks
from preheat.model.live import HookEvent
from tests.shared import TESTS

FIXTURES = os.path.join(TESTS, "fixtures", "hooks")
NAMES = {
    "claude_code": [
        "session_start", "prompt", "before_tool", "tool_failed", "after_tool", "after_tool", "after_tool", "after_tool",
        "before_compaction", "session_start", "subagent_stop", "stop", "session_end",
    ],
    "codex": [
        "session_start", "prompt", "before_tool", "after_tool", "after_tool", "before_tool", "after_tool", "stop", "session_end",
    ],
    "gemini": ["session_start", "prompt", "before_tool", "after_tool", "tool_failed", "after_tool", "stop", "session_end"],
    "cursor": [
        "session_start", "prompt", "tool_failed", "after_tool", "before_compaction", "subagent_stop", "stop", "session_end",
    ],
    "hermes": ["session_start", "before_tool", "after_tool", "after_tool", "after_tool", "stop", "session_end"],
}  # fmt: skip


def hooks(agent: str) -> Hooks:
    found = hooks_of(agent)
    assert found is not None
    return found


def payloads(agent: str) -> list[bytes]:
    with open(os.path.join(FIXTURES, f"{agent}.jsonl"), "rb") as stream:
        return stream.read().splitlines()


def events(agent: str) -> list[HookEvent]:
    found = [hooks(agent).read(payload, 7.0) for payload in payloads(agent)]
    assert None not in found
    return [event for event in found if event is not None]


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_every_recorded_payload_is_an_event_of_its_session(agent: str) -> None:
    """With the given time, the folder, and the program's own name of the event, which the answer needs."""
    found = events(agent)
    assert {(event.agent, event.at) for event in found} == {(agent, 7.0)}
    assert len({event.session for event in found if not event.subagent}) == 1
    assert all(event.session and (event.host_event or event.name == "subagent_start") for event in found)
    assert all(event.cwd.startswith("/w") for event in found)
    assert "other" not in {event.name for event in found}


@pytest.mark.parametrize("agent", NAMES)
def test_events_get_their_common_names(agent: str) -> None:
    assert [event.name for event in events(agent)] == NAMES[agent]


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_tools_in_hook_events_have_a_known_kind(agent: str) -> None:
    reader_of(agent)
    module = __import__(f"preheat.agents.{agent}.tools", fromlist=["kind_of"])
    for event in events(agent):
        if event.tool and event.name != "before_tool":
            kind = module.kind_of(event.tool, event.arguments) if agent == "copilot" else module.kind_of(event.tool)
            assert kind != "other", event.tool


def test_a_failed_command_has_its_exit_code() -> None:
    """Codex's payload does not contain it."""
    found = {
        agent: [event.exit_code for event in events(agent) if event.name in ("after_tool", "tool_failed")]
        for agent in ("claude_code", "gemini", "copilot", "opencode", "cursor", "hermes")
    }
    assert found == {
        "claude_code": [1, None, None, None, None],
        "gemini": [2, None, None],
        "copilot": [0, None, 2, None, None],
        "opencode": [2, None],
        "cursor": [None, 0],
        "hermes": [2, None, None],
    }


def test_results_are_the_output_of_the_tool_alone() -> None:
    results = {agent: [event.result for event in events(agent) if event.result is not None] for agent in WITH_HOOKS}
    missing = "ls: cannot access 'missing-folder': No such file or directory"
    assert results["claude_code"] == [
        "Exit code 1\n1 failed, 3 passed in 0.20s",
        "",
        "b\n",
        "4 passed in 0.21s",
        "parser.py",
    ]
    assert results["gemini"][0] == results["copilot"][2] == missing
    assert results["codex"][0] == results["opencode"][0] == missing + "\n"
    assert results["cursor"] == ["1 failed, 3 passed in 0.20s", "4 passed in 0.21s"]


def test_events_of_subagents_are_marked() -> None:
    assert [event.tool for event in events("claude_code") if event.subagent and event.tool] == ["Grep"]
    inside = [event for event in events("copilot") if event.subagent]
    assert {event.name for event in inside} >= {"prompt", "after_tool", "stop"}


def test_session_starts_have_their_source() -> None:
    assert [event.source for event in events("claude_code") if event.source] == ["startup", "compact"]
    assert [event.source for event in events("copilot") if event.source] == ["startup"]
    payload = json.loads(payloads("codex")[0])
    for source in ("resume", "clear", "compact", "fork"):
        event = hooks("codex").read(json.dumps({**payload, "source": source}).encode(), None)
        assert event is not None
        assert event.source == source


def test_payloads_of_other_programs_are_ignored() -> None:
    """Cursor and Copilot run the hooks in Claude Code's settings, but have hooks of their own."""
    for agent in ("cursor", "copilot"):
        for payload in payloads(agent):
            told = {"session_id": "x", **json.loads(payload)}
            if agent == "cursor" or "tool_result" in told or "initial_prompt" in told:
                assert hooks("claude_code").read(json.dumps(told).encode(), None) is None


def test_a_prompt_is_the_persons_text_alone() -> None:
    """Gemini CLI puts the texts of hooks before the first prompt."""
    (prompt,) = (event.prompt for event in events("gemini") if event.name == "prompt")
    assert prompt == "Look around."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    [
        "session_id",
        "sessionId",
        "session",
        "conversation_id",
        "hook_event_name",
        "event",
        "cwd",
        "transcript_path",
        "transcriptPath",
        "source",
        "prompt",
        "text",
        "tool_name",
        "tool",
        "tool_input",
        "args",
        "tool_response",
        "tool_result",
        "tool_output",
        "output",
        "error",
        "error_message",
        "metadata",
        "agent_id",
        "duration_ms",
        "duration",
        "exitCode",
        "loop_count",
        "workspace_roots",
        "timestamp",
        "is_interrupt",
        "stop_hook_active",
        "parent",
        "call",
    ]
)
EVENTS = st.sampled_from(
    [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SessionEnd",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "sessionStart",
        "postToolUse",
        "postToolUseFailure",
        "stop",
        "toolAfter",
        "toolError",
        "idle",
        "prompt",
        "SubagentStop",
    ]
)


@settings(max_examples=300, deadline=None)
@given(agent=st.sampled_from(WITH_HOOKS), payload=st.binary(max_size=200))
def test_any_bytes_raise_nothing(agent: str, payload: bytes) -> None:
    assert isinstance(hooks(agent).read(payload, None), HookEvent | None)


@settings(max_examples=500, deadline=None)
@given(
    agent=st.sampled_from(WITH_HOOKS),
    told=st.dictionaries(FIELDS, JSON, max_size=10),
    event=EVENTS,
    session=st.text(min_size=1),
)
def test_any_json_raises_nothing_and_its_event_can_be_stored(
    agent: str, told: dict[str, Any], event: str, session: str
) -> None:
    whole = {"session_id": session, "session": session, **told, "hook_event_name": event, "event": event}
    payload = json.dumps(whole, allow_nan=True).encode("utf-8", "surrogatepass")
    found = hooks(agent).read(payload, 1.0)
    if found is not None:
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=HookEvent) == found


def test_deep_and_large_payloads_raise_nothing() -> None:
    deep = b'{"session_id":"a","hook_event_name":"PostToolUse","tool_input":' + b"[" * 100_000
    large = json.dumps(
        {"session_id": "a", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": "x" * 5_000_000}
    )
    for agent in WITH_HOOKS:
        assert hooks(agent).read(deep, None) is None
        hooks(agent).read(large.encode(), None)


def test_a_payload_with_a_lone_surrogate_is_an_event() -> None:
    """Programs cut outputs at any place."""
    payload = (
        b'{"session_id":"a","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":"\\ud83d x"}}'
    )
    event = hooks("claude_code").read(payload, None)
    assert event is not None
    assert (event.result or "").endswith(" x")
    event = hooks("claude_code").read(payload.replace(b"\\ud83d", b"\xff\xfe"), None)
    assert event is not None
