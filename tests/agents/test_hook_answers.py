"""Answers to hooks are exactly one JSON object that the program accepts, or nothing."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import WITH_HOOKS
from preheat.model.live import HookAnswer, HookEvent
from tests.agents.hook_schemas import SCHEMAS
from tests.agents.test_hook_events import events, hooks

RECORDED = [(agent, event) for agent in WITH_HOOKS for event in events(agent)]
TEXTS = st.text(max_size=40) | st.text(alphabet="ab \n", min_size=2, max_size=8).map(lambda text: text * 3_000)
ANSWERS = st.builds(HookAnswer, context=TEXTS, output=st.none() | TEXTS, block=TEXTS, person=TEXTS)


@settings(max_examples=400, deadline=None)
@given(recorded=st.sampled_from(RECORDED), answer=ANSWERS)
def test_every_answer_fits_the_programs_schema(recorded: tuple[str, HookEvent], answer: HookAnswer) -> None:
    """No unknown key and no text that is too long, for any answer to any event."""
    agent, event = recorded
    written = hooks(agent).write(event, answer)
    if written is not None:
        schema = SCHEMAS[agent].get(event.host_event)
        assert schema is not None, event.host_event
        jsonschema.validate(json.loads(written), schema)


@pytest.mark.parametrize(("agent", "event"), RECORDED)
def test_an_empty_answer_is_no_bytes(agent: str, event: HookEvent) -> None:
    assert hooks(agent).write(event, HookAnswer()) is None


def test_a_long_text_is_cut_at_the_end_of_a_line_with_a_mark() -> None:
    """Programs cut, drop or move longer texts; half a sentence could say the opposite."""
    start = events("codex")[0]
    written = json.loads(hooks("codex").write(start, HookAnswer(context="a whole line\n" * 2_000)) or b"")
    context = written["hookSpecificOutput"]["additionalContext"]
    assert len(context) < 10_000
    assert context.endswith("a whole line\n[cut]")


def test_an_answer_with_a_lone_surrogate_is_written() -> None:
    start = events("codex")[0]
    assert b"said" in (hooks("codex").write(start, HookAnswer(context="\ud83d said")) or b"")


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_every_program_takes_context_at_the_start_and_after_calls(agent: str) -> None:
    answers = {event.name: hooks(agent).write(event, HookAnswer(context="Said.")) for event in events(agent)}
    for name in ("session_start", "after_tool"):
        assert b"Said." in (answers[name] or b"")


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_only_a_block_continues_a_stopped_agent_and_only_once(agent: str) -> None:
    (stop,) = (event for event in events(agent) if event.name == "stop" and not event.subagent)
    written = json.loads(hooks(agent).write(stop, HookAnswer(context="Said.")) or b"{}")
    assert set(written) <= {"systemMessage"}
    again = HookEvent(agent=agent, session="s", name="stop", host_event=stop.host_event, stop_again=True)
    assert hooks(agent).write(again, HookAnswer(block="Wait.")) is None


@pytest.mark.parametrize("agent", WITH_HOOKS)
def test_no_answer_contains_the_word_allow(agent: str) -> None:
    """Preheat never widens a permission."""
    whole = HookAnswer(context="c", output="o", block="b", person="p")
    for event in events(agent):
        assert b'"allow' not in (hooks(agent).write(event, whole) or b"")
        assert b'"approve' not in (hooks(agent).write(event, whole) or b"")


def test_an_output_inside_a_script_is_not_replaced() -> None:
    """Codex gives a script the tool's own output, whatever the hook answers; advice still reaches the model."""
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "cwd": "/w",
        "tool_name": "Bash",
        "tool_response": "long",
    }
    for call_id, is_replaced in (("call_1", True), ("exec-1", False)):
        body = {**payload, "tool_use_id": call_id, "tool_input": {"command": "ls"}}
        event = hooks("codex").read(json.dumps(body).encode(), None)
        assert event is not None
        assert (event.tool, event.arguments) == ("exec_command", {"cmd": "ls"})
        written = json.loads(hooks("codex").write(event, HookAnswer(context="advice", output="short")) or b"{}")
        assert ("reason" in written) == is_replaced
        assert "advice" in json.dumps(written)
