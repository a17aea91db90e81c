"""Reading ShareGPT conversations: tags in the text, results without ids, and the real samples of the corpus."""

import json
import os
from typing import Any

import pytest

from preheat.agents import AGENTS, reader_of
from preheat.agents.sharegpt import READER
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    ToolCall,
    UserMessage,
    pair_calls_with_results,
)
from tests.shared import FIXTURES, SHARED, fixture_files, needs_corpus


def parse(*conversations: Any) -> list[Session]:
    parser = READER.parser("/x/data.jsonl")
    parser.feed("\n".join(json.dumps({"conversations": turns}) for turns in conversations).encode(), 1)
    return parser.take()


def say(who: str, text: str) -> dict[str, str]:
    return {"from": who, "value": text}


def test_tags_become_thoughts_calls_and_results() -> None:
    """Two calls in one response and two results in one turn are matched by order."""
    session, short = read(os.path.join(FIXTURES, "sharegpt", "conversations.jsonl"))
    found = {
        call.tool: (call.input, result and "File not found" in result.text)
        for call, result in pair_calls_with_results(session)
    }
    assert found == {"terminal": ({"command": "ls | wc -l"}, False), "read_file": ({"path": "notes.txt"}, True)}
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["List them."]
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage)]
    assert texts == ["I will look.", "Three files; there are no notes."]
    assert (session.model, session.started_at) == ("scripted", 1793527200.0)
    assert [type(event) for event in short.events] == [UserMessage, AssistantMessage, Other]


def test_a_tag_that_is_never_closed_and_a_call_that_is_no_json_are_kept() -> None:
    (session,) = parse([say("human", "go"), say("gpt", "<tool_call>not json")])
    (call,) = (event for event in session.events if isinstance(event, ToolCall))
    assert call.input == {"text": "not json"}


def test_the_same_conversation_twice_is_two_sessions() -> None:
    first, second = parse([say("human", "go")], [say("human", "go")])
    assert first.id != second.id


def test_damaged_lines_are_problems_with_their_lines() -> None:
    parser = READER.parser("/x/data.jsonl")
    parser.feed(b'{"conversations": [{"from": "human", "value": "go"}]}\n{broken\n{"other": 1}\n', 1)
    (session,) = parser.take()
    assert [problem.line for problem in session.problems] == [2, 3]


def test_no_file_of_another_agent_is_detected() -> None:
    for agent in AGENTS:
        for name in fixture_files(agent):
            with open(os.path.join(FIXTURES, name), "rb") as stream:
                claimed = READER.detect(stream.read(65536), name)
            assert claimed == (agent == "sharegpt"), name


@pytest.mark.corpus
@needs_corpus
def test_real_samples_have_the_counts_of_the_corpus() -> None:
    """13 sessions, 26 messages of people and models, no calls."""
    sessions = read(
        os.path.join(SHARED, "corpus", "hermes__HermesWith", "trajectory_samples.jsonl"), reader_of("sharegpt")
    )
    assert len(sessions) == 13
    messages = [
        event for session in sessions for event in session.events if isinstance(event, UserMessage | AssistantMessage)
    ]
    assert len(messages) == 26
