"""Reading the output of `codex exec --json`; `fed` reads every case whole and line by line from a saved state."""

import json
import os
from typing import Any

import pytest

from preheat.agents.codex_exec import READER
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    pair_calls_with_results,
    sum_usage,
)
from tests.agents.parsing import events_of, read_whole_and_in_pieces
from tests.shared import FIXTURES, SHARED, needs_corpus

STARTED = {"type": "thread.started", "thread_id": "t1"}


def read_fixture(name: str) -> Session:
    (session,) = read(os.path.join(FIXTURES, "codex_exec", name))
    assert session.problems == ()
    return session


def session_of(*records: Any) -> Session:
    return read_whole_and_in_pieces(
        READER, b"".join(json.dumps(record).encode() + b"\n" for record in (STARTED, *records))
    )


def item(when: str, name: str, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": name, "type": kind, **members}}


# What the real program printed.
def test_a_run_is_a_session() -> None:
    session = read_fixture("headless.jsonl")
    assert (session.agent, session.starter, session.started_at) == ("codex_exec", "headless", None)
    ends = [
        (call.kind, result and result.exit_code, result and result.is_error)
        for call, result in pair_calls_with_results(session)
    ]
    assert ends == [("shell", 2, None), ("shell", 0, None), ("shell", 3, None), ("edit", None, False)]
    assert [event.text for event in events_of(session, Reasoning)] == ["It may not be there."]
    assert sum_usage(session) == session.reported == Usage(input=395, output=92, cache_read=350, reasoning=5)


def test_a_run_and_its_continuation_are_one_session() -> None:
    """Ids of items start again, and tokens continue: two calls, and only the last total counts."""
    session = read_fixture("resumed.jsonl")
    assert [result and result.text for _, result in pair_calls_with_results(session)] == ["2026\n", "again\n"]
    assert sum_usage(session) == session.reported == Usage(input=400, output=40)


def test_a_failed_run_is_read() -> None:
    session = read_fixture("failed.jsonl")
    assert [event.name for event in events_of(session, Other)] == ["error", "turn.failed"]


# Items that the script has no servers for.
def test_every_kind_of_item_is_read() -> None:
    session = read_fixture("items.jsonl")
    ends = [(call.tool, call.kind, result and result.is_error) for call, result in pair_calls_with_results(session)]
    assert ends == [
        ("todo_list", "plan", None),
        ("mcp__clocks__find", "other", False),
        ("mcp__clocks__wind", "other", True),
        ("web_search", "web", None),
        ("file_change", "edit", True),
        ("command_execution", "shell", True),
        ("spawn_agent", "delegate", False),
        ("command_execution", "shell", None),
    ]
    results = {result.call_id: result for result in events_of(session, ToolResult)}
    assert (results["item_2"].text, results["item_3"].text) == ("one clock", "no such tool")
    assert results["item_6"].detail == {"status": "declined"}
    assert "item_9" not in results  # the run ended before the command did
    assert [spawn.session for spawn in events_of(session, Spawn)] == ["01a10000-0000-7000-8000-000000000002"]
    others = [event.name for event in events_of(session, Other)]
    assert others == ["item.updated/todo_list", "item.completed/error", "turn.failed"]


def test_a_web_search_becomes_a_call_when_it_ends() -> None:
    """It is announced without its query, and a call is never changed later."""
    (search,) = (call for call in events_of(read_fixture("items.jsonl"), ToolCall) if call.tool == "web_search")
    assert (search.line, search.input["query"]) == (11, "why are clocks late")


# Traps.
def test_an_item_that_was_not_announced_is_a_call_with_its_result() -> None:
    session = session_of(item("completed", "item_0", "file_change", changes=[{"path": "a"}], status="completed"))
    assert [(call.input, result and result.is_error) for call, result in pair_calls_with_results(session)] == [
        ({"changes": [{"path": "a"}]}, False)
    ]


def test_an_item_that_ends_twice_counts_once() -> None:
    done = item("completed", "item_0", "command_execution", command="ls", exit_code=0, status="completed")
    session = session_of(done, done)
    assert len(events_of(session, ToolCall)) == 1
    assert [event.name for event in events_of(session, Other)] == ["second command_execution"]


def test_a_call_of_a_run_that_was_cut_off_has_no_result() -> None:
    """The next run's item of the same id is another call."""
    begun = item("started", "item_0", "command_execution", command="sleep 9")
    done = item("completed", "item_0", "file_change", changes=[{"path": "a"}], status="completed")
    pairs = list(pair_calls_with_results(session_of(begun, STARTED, done)))
    assert [(call.tool, result is not None) for call, result in pairs] == [
        ("command_execution", False),
        ("file_change", True),
    ]


def test_several_threads_in_one_file_are_several_sessions() -> None:
    lines = [
        STARTED,
        item("completed", "item_0", "agent_message", text="one"),
        {"type": "thread.started", "thread_id": "t2"},
        item("completed", "item_0", "agent_message", text="two"),
    ]
    parser = READER.parser("runs.jsonl")
    parser.feed(b"".join(json.dumps(line).encode() + b"\n" for line in lines), 1)
    texts = {session.id: [event.text for event in events_of(session, AssistantMessage)] for session in parser.take()}
    assert texts == {"t1": ["one"], "t2": ["two"]}


def test_an_mcp_result_with_the_error_flag_is_an_error() -> None:
    flag = {"content": [{"type": "text", "text": "no"}], "is_error": True}
    session = session_of(
        item("completed", "i", "mcp_tool_call", server="s", tool="t", arguments={}, result=flag, status="completed")
    )
    assert [result.is_error for result in events_of(session, ToolResult)] == [True]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "item.completed", "item": {"type": ["a"], "id": 3}},
        {"type": "item.completed", "item": {"type": "command_execution", "exit_code": 2**70, "status": {}}},
        {"type": "item.started", "item": None},
        {"type": "turn.completed", "usage": {"input_tokens": "many"}},
        {"type": "turn.completed", "usage": None},
        {"type": "thread.started", "thread_id": 4},
    ],
)
def test_records_of_wrong_types_do_not_affect_others(record: Any) -> None:
    session = session_of(record, item("completed", "item_9", "agent_message", text="after"))
    assert [event.text for event in events_of(session, AssistantMessage) if event.text] == ["after"]


def test_output_is_detected_by_its_first_event_also_after_a_warning() -> None:
    started = json.dumps(STARTED).encode()
    assert READER.detect(b"warning: old\n" + started + b"\n", "file")
    assert not READER.detect(b'{"type":"thread.started"}\n', "file")
    assert not READER.detect(b'{"type":"user","text":"\\"thread.started\\""}\n', "file")


@pytest.mark.corpus
@needs_corpus
def test_real_runs_have_the_counts_of_the_corpus() -> None:
    folder = os.path.join(SHARED, "corpus", "codex_exec__SWE-PolyBench-pando")
    names = [name for name in sorted(os.listdir(folder)) if name.endswith(".jsonl")]
    sessions = [session for name in names for session in read(os.path.join(folder, name))]
    assert {session.agent for session in sessions} == {"codex_exec"}
    assert (len(sessions), sum(len(session.problems) for session in sessions)) == (10, 0)
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    truth = [result for _, result in pairs if result and (result.is_error is not None or result.exit_code is not None)]
    assert (len(pairs), len(truth)) == (174, 174)
    assert all(sum_usage(session) == session.reported for session in sessions)
