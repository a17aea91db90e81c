"""The Codex reader on damaged rollouts: nothing raises, and nothing else is lost."""

from typing import Any

import pytest

from preheat.agents.codex.reader import READER
from preheat.model.session import Session, UserMessage
from tests.agents.codex_rollout import Rollout
from tests.agents.parsing import read_whole_and_in_pieces


def read(rollout: Rollout) -> Session:
    return read_whole_and_in_pieces(READER, rollout.data(), "rollout.jsonl")


def user_messages(session: Session) -> list[UserMessage]:
    return [event for event in session.events if isinstance(event, UserMessage)]


@pytest.mark.parametrize(
    "line",
    [
        b'{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":{"type":"mess',
        b"[1, 2]",
        b'"text"',
        b"\xff\xfe",
        b'{"type": 5, "payload": {}}',
        b'{"type": "response_item", "payload": [1]}',
        b'{"type": "response_item", "payload": {"type": ["x"]}}',
        b'{"type": "event_msg", "payload": {"type": "item_completed", "item": "x"}}',
        b"[" * 5000,
    ],
)
def test_broken_lines_become_problems_and_nothing_else_is_lost(line: bytes) -> None:
    session = read(Rollout().turn().prompt("Before.").raw(line).prompt("After."))
    assert [event.text for event in user_messages(session)] == ["Before.", "After."]
    assert [problem.line for problem in session.problems] == [6]


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "message", "role": "user", "content": 7},
        {"type": "message", "role": ["user"], "content": [7, None, {"type": 3, "text": {}}]},
        {"type": "reasoning", "summary": {"a": 1}},
        {"type": "function_call", "call_id": 5, "name": None, "arguments": [1]},
        {"type": "function_call_output", "call_id": None, "output": None},
        {"type": "function_call_output", "call_id": "x", "output": 10**400},
        {"type": "local_shell_call", "action": "ls"},
        {"type": "web_search_call", "action": None, "status": {}},
        {
            "type": "token_count",
            "info": {"total_token_usage": {"input_tokens": 10**30, "output_tokens": "x"}},
        },
        {"type": "token_count", "info": []},
        {"type": "thread_rolled_back", "num_turns": "two"},
        {"type": "thread_rolled_back", "num_turns": 10**30},
        {"type": "exec_command_end", "call_id": {}, "exit_code": "2", "duration": []},
        {"type": "item_completed", "item": {"type": "McpToolCall", "result": [], "duration": "long"}},
        {"type": "turn_context", "model": 5},
    ],
)
@pytest.mark.parametrize("envelope", ["response_item", "event_msg", "compacted", "turn_context", "session_meta"])
def test_fields_of_the_wrong_type_are_ignored(envelope: str, payload: dict[str, Any]) -> None:
    rollout = Rollout().turn().prompt("Before.").add(envelope, payload)
    if envelope == "session_meta":  # that is then a parent's: its own part begins with the next turn
        rollout.turn()
    texts = [event.text for event in user_messages(read(rollout.prompt("After."))) if event.text]
    assert texts[0] == "Before."
    assert texts[-1] == "After."


def test_lone_surrogates_and_bad_bytes_are_replaced() -> None:
    line = rb'{"type":"response_item","payload":{"type":"message","role":"user","content":"\ud800 and ' + b'\xff"}}'
    (message,) = user_messages(read(Rollout().turn().raw(line)))
    assert message.text == "\ufffd and \ufffd"


def test_two_records_on_one_line_are_both_read() -> None:
    """As in a real rollout with a missing line end."""
    rollout = Rollout().turn().prompt("Before.").message("user", "One.").message("user", "Two.")
    second = rollout.lines.pop()
    rollout.lines[-1] += second
    texts = [event.text for event in user_messages(read(rollout.prompt("After.")))]
    assert texts == ["Before.", "One.", "Two.", "After."]
