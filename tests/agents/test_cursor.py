"""Reading transcripts of Cursor's agent, which lack ids, times and nearly all results: none of these is invented."""

import json
import os
from typing import Any

import pytest

from preheat.agents.cursor import PLACES
from preheat.agents.cursor.reader import READER
from preheat.agents.cursor.tools import kind_of
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
)
from tests.agents.parsing import events_of, read_whole_and_in_pieces
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "cursor", "projects", "w-proj", "agent-transcripts")
MAIN, CHILD = "5d1c7c0e-9d0d-4b6e-8a51-0c6d3f0e7a11", "77aa1c52-0f4b-4f5e-9c62-4bb0d3a4e0c2"


def read_fixture(*below: str) -> Session:
    (session,) = read(os.path.join(FOLDER, *below))
    assert session.problems == ()
    return session


def session_of(*records: Any) -> Session:
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    return read_whole_and_in_pieces(READER, data, "/h/.cursor/projects/w-proj/agent-transcripts/t1/t1.jsonl")


def message(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def tool_use(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": {}, **more}


def test_id_and_project_come_from_the_path() -> None:
    session = read_fixture(MAIN, f"{MAIN}.jsonl")
    assert (session.agent, session.id, session.project, session.parent) == ("cursor", MAIN, "w-proj", None)
    assert (session.model, session.started_at, session.reported) == ("", None, None)


def test_an_older_transcript_without_own_folder_is_read() -> None:
    session = read_fixture("1f0e8c1a-2b7d-4c55-b1a0-5f3a9d7c6e22.jsonl")
    assert session.id == "1f0e8c1a-2b7d-4c55-b1a0-5f3a9d7c6e22"
    ((call, result),) = pair_calls_with_results(session)
    assert (call.call_id, result and result.text, result and result.is_error) == ("toolu_1", "noon", None)


def test_a_subagent_is_a_child_and_its_prompt_is_injected() -> None:
    session = read_fixture(MAIN, "subagents", f"{CHILD}.jsonl")
    assert (session.id, session.parent, session.relation) == (CHILD, MAIN, "subagent")
    assert [event.origin for event in events_of(session, UserMessage)] == ["injected"]


def test_calls_get_stable_ids_and_no_results() -> None:
    session = read_fixture(MAIN, f"{MAIN}.jsonl")
    calls = [(call.call_id, call.tool, call.kind) for call in events_of(session, ToolCall)]
    assert calls == [
        ("call 2.2", "Shell", "shell"),
        ("call 2.3", "Read", "read"),
        ("call 3.2", "Task", "delegate"),
        ("call 7.1", "StrReplace", "edit"),
    ]
    assert events_of(session, ToolResult) == []


def test_only_the_query_is_a_human_message() -> None:
    session = read_fixture(MAIN, f"{MAIN}.jsonl")
    assert [(event.origin, event.text) for event in events_of(session, UserMessage)] == [
        ("injected", "<timestamp>Sunday, Nov 15, 2026</timestamp>"),
        ("human", "Why is the clock late?"),
        ("human", "Mend it."),
    ]


def test_the_end_of_a_turn_is_an_other_event() -> None:
    assert [event.name for event in events_of(read_fixture(MAIN, f"{MAIN}.jsonl"), Other)] == [
        "turn_ended",
        "turn_ended",
    ]


def test_results_without_ids_are_matched_by_order_within_their_turn() -> None:
    """A call of an earlier turn gets no result of a later one."""
    result = {"type": "tool_result", "content": "x", "is_error": True}
    session = session_of(
        message("assistant", tool_use("Read")),
        {"type": "turn_ended", "status": "success"},
        message("assistant", tool_use("Shell", id=None)),
        message("user", result),
    )
    assert [(call.tool, result and result.is_error) for call, result in pair_calls_with_results(session)] == [
        ("Read", None),
        ("Shell", True),
    ]


def test_thoughts_and_texts_of_a_response_are_read() -> None:
    session = session_of(
        message("assistant", {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."})
    )
    assert [event.text for event in events_of(session, Reasoning)] == ["Hm."]
    assert [event.text for event in events_of(session, AssistantMessage)] == ["Yes."]


@pytest.mark.parametrize(
    "record",
    [
        {"role": "assistant", "message": None},
        {"role": "assistant", "message": {"content": 7}},
        {"role": 3, "message": {"content": []}},
        {"role": "user", "message": {"content": [None, 4, {"type": []}]}},
        {"type": ["x"]},
    ],
)
def test_records_of_wrong_types_do_not_affect_others(record: Any) -> None:
    session = session_of(message("user", "before"), record, message("user", "after"))
    assert [event.text for event in events_of(session, UserMessage)] == ["before", "after"]


@pytest.mark.parametrize(
    "head",
    [
        b'{"role":"user","message":{"content":"a"},"uuid":"1"}',
        b'{"type":"user","message":{"role":"user","content":"a"}}',
        b'{"role":"user","message":{"role":"user","content":"a"}}',
        b'{"role":"user","content":"a"}',
        b'{"role":"system","message":{"content":"a"}}',
        b'[{"role":"user","message":{"content":"a"}}]',
        b"",
    ],
)
def test_other_formats_are_not_detected(head: bytes) -> None:
    assert not READER.detect(head, "file.jsonl")


def test_a_transcript_with_a_very_long_first_message_is_detected() -> None:
    line = json.dumps(message("user", {"type": "text", "text": "x" * 70_000})).encode()
    assert READER.detect(line[:65536], "file.jsonl")


def test_kinds_of_tools_of_editor_and_command_line() -> None:
    assert kind_of("run_terminal_command_v2") == kind_of("Shell") == "shell"
    assert kind_of("codebase_search") == kind_of("Grep") == "search"
    assert kind_of("mcp_clocks_find") == "other"


def test_only_transcripts_are_found(tmp_path: Any) -> None:
    """Projects hold other folders too, some with JSONL files."""
    for name in (
        "w-proj/agent-transcripts/a/a.jsonl",
        "w-proj/agent-transcripts/a/subagents/b.jsonl",
        "w-proj/mcps/c.jsonl",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "w-proj/agent-transcripts/old.txt").write_text("user:\n")
    found = {os.path.basename(found.path) for found in PLACES.discover(str(tmp_path))}
    assert found == {"a.jsonl", "b.jsonl"}


@pytest.mark.corpus
@needs_corpus
def test_no_file_of_the_corpus_is_detected() -> None:
    for folder, _, names in os.walk(os.path.join(SHARED, "corpus")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                assert not READER.detect(file.read(65536), path), path
