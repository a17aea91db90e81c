"""Reading Pi's session files; `fed` reads every case whole and line by line from a saved state."""

import json
import os
from typing import Any

import pytest

from preheat.agents.pi import PLACES
from preheat.agents.pi.reader import READER
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)
from tests.agents.parsing import events_of, read_whole_and_in_pieces
from tests.shared import FIXTURES, SHARED, needs_corpus

HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-03-01T10:00:00Z", "cwd": "/w/proj"}


def read_fixture(name: str) -> Session:
    (session,) = read(os.path.join(FIXTURES, "pi", name))
    assert session.problems == ()
    return session


def entry(name: str, parent: str | None, message: Any = None, kind: str = "message", **more: Any) -> dict[str, Any]:
    moment = f"2026-03-01T10:00:{len(name):02}Z"
    made = {"type": kind, "id": name, "parentId": parent, "timestamp": moment, **more}
    return made if message is None else {**made, "message": message}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def call_message(*names: str) -> dict[str, Any]:
    blocks = [{"type": "toolCall", "id": name, "name": "bash", "arguments": {"command": "ls"}} for name in names]
    return {"role": "assistant", "content": blocks}


def result(name: str, text: str = "x", failed: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": name, "toolName": "bash", "content": content, "isError": failed}


def session_of(*entries: dict[str, Any], header: dict[str, Any] = HEADER) -> Session:
    return read_whole_and_in_pieces(READER, b"".join(json.dumps(line).encode() + b"\n" for line in (header, *entries)))


# What the real program wrote.
def test_a_headless_session_is_read() -> None:
    """Flags, exit codes, tokens, thoughts and the heading are those of the script."""
    session = read_fixture("headless.jsonl")
    assert (session.agent, session.version, session.project, session.model) == ("pi", "3", "/w/proj", "scripted")
    ends = [
        (call.tool, call.kind, result and result.is_error, result and result.exit_code)
        for call, result in pair_calls_with_results(session)
    ]
    assert ends == [
        ("bash", "shell", True, 2),
        ("read", "read", True, None),
        ("bash", "shell", False, None),
        ("write", "write", False, None),
        ("edit", "edit", False, None),
        ("edit", "edit", True, None),
        ("no_such_tool", "other", True, None),
    ]
    assert [event.text for event in events_of(session, Reasoning)] == ["It may not be there."]
    assert sum_usage(session) == Usage(input=575, output=82, cache_read=230)


def test_going_back_is_a_rewind_and_the_branch_is_summarised() -> None:
    session = read_fixture("branching.jsonl")
    (back,) = events_of(session, Rewind)
    kept = [event.text for event in surviving_events(session) if isinstance(event, AssistantMessage)]
    assert kept == ["The first way.", "The second way.", "It was the second way.", "After the summary."]
    assert back.after == 5
    injected = [event.text for event in events_of(session, UserMessage) if event.origin == "injected"]
    assert injected[0].startswith("The user explored a different conversation branch")
    assert injected[1] == "Mind the clock."
    assert session.title == "Two ways"


def test_a_command_of_the_person_is_an_other_event() -> None:
    session = read_fixture("branching.jsonl")
    (own,) = (event for event in events_of(session, Other) if event.name == "bashExecution")
    assert own.raw["message"]["exitCode"] == 3
    assert [call.call_id for call, _ in pair_calls_with_results(session)] == ["call_1", "call_2"]


def test_a_timeout_has_no_exit_code() -> None:
    last = events_of(read_fixture("branching.jsonl"), ToolResult)[-1]
    assert (last.is_error, last.exit_code, last.detail) == (True, None, {"timeout": True})


def test_a_compaction_is_one_event() -> None:
    (compaction,) = events_of(read_fixture("branching.jsonl"), Compaction)
    assert (compaction.summary, compaction.tokens_before) == ("Scripted side answer", 110)


def test_entries_copied_into_a_fork_are_not_counted_there() -> None:
    parent, fork = read_fixture("branching.jsonl"), read_fixture("forked.jsonl")
    assert (fork.parent, fork.relation) == (parent.id, "fork")
    assert [event.text for event in events_of(fork, UserMessage)] == ["Go on elsewhere."]
    assert events_of(fork, ToolCall) == []
    assert events_of(fork, Rewind) == []
    assert sum_usage(fork) == Usage(input=100, output=10)


def test_version_1_without_ids_is_read() -> None:
    """With the older fork field, a response broken off in a call, and images."""
    session = read_fixture("version-1.jsonl")
    assert (session.version, session.model) == ("", "scripted-2")
    pairs = [(call.call_id, result and result.exit_code) for call, result in pair_calls_with_results(session)]
    assert pairs == [("call_a", 2), ("call_b", None), ("call_c", None)]
    assert [event.images for event in events_of(session, UserMessage)] == [1, 0]
    names = [event.name for event in events_of(session, Other)]
    assert names == ["thinking_level_change", "model_change", "response_aborted"]
    assert sum_usage(session) == Usage(input=40, output=9, cache_read=10, cache_write=3)


# Traps.
def test_the_older_name_of_the_fork_field_is_read() -> None:
    header = {**HEADER, "branchedFrom": "/home/me/.pi/agent/sessions/--w--/2026-02-01T00-00-00_abc-def.jsonl"}
    session = session_of(entry("a", None, user("hi")), header=header)
    assert (session.parent, session.relation) == ("abc-def", "fork")


def test_a_rewind_to_the_beginning_removes_all_events() -> None:
    session = session_of(entry("a", None, user("one")), entry("bb", None, user("two")))
    assert [event.text for event in surviving_events(session) if isinstance(event, UserMessage)] == ["two"]


def test_a_rewind_to_an_older_branch_keeps_what_both_share() -> None:
    """The rest of the older branch does not come back."""
    session = session_of(
        entry("a", None, user("root")),
        entry("bb", "a", user("left")),
        entry("ccc", "a", user("right")),
        entry("dddd", "bb", user("left again")),
    )
    assert [rewind.after for rewind in events_of(session, Rewind)] == [2, 2]
    assert [event.text for event in surviving_events(session) if isinstance(event, UserMessage)] == [
        "root",
        "left again",
    ]


def test_entries_between_messages_are_no_rewind() -> None:
    """A change of the model or a label is part of the tree."""
    session = session_of(
        entry("a", None, user("one")),
        entry("bb", "a", kind="label", targetId="a", label="here"),
        entry("ccc", "bb", kind="model_change", provider="p", modelId="m2"),
        entry("dddd", "ccc", user("two")),
    )
    assert events_of(session, Rewind) == []
    assert session.model == "m2"


def test_the_same_entry_twice_counts_once() -> None:
    """One release wrote the header and everything after it twice."""
    once = [entry("a", None, call_message("c1")), entry("bb", "a", result("c1"))]
    session = session_of(*once, HEADER, *once)
    assert len(events_of(session, ToolCall)) == len(events_of(session, ToolResult)) == 1


def test_a_repeated_id_is_another_call() -> None:
    session = session_of(
        entry("a", None, call_message("call_0")),
        entry("bb", "a", result("call_0", "first")),
        entry("ccc", "bb", call_message("call_0")),
        entry("dddd", "ccc", result("call_0", "second")),
    )
    assert [result and result.text for _, result in pair_calls_with_results(session)] == ["first", "second"]


def test_a_result_without_a_call_is_an_other_event() -> None:
    session = session_of(entry("a", None, result("nobody")))
    assert [event.name for event in events_of(session, Other)] == ["result without a call"]


@pytest.mark.parametrize(
    ("text", "failed", "code", "detail"),
    [
        ("x\n\n\nCommand exited with code 137", True, 137, {}),
        ("x\n\nCommand aborted", True, None, {"aborted": True}),
        ("Command timed out after 1.5 seconds", True, None, {"timeout": True}),
        ("cat log\nCommand exited with code 1\nmore", True, None, {}),
        ("Command exited with code 1", False, None, {}),
    ],
)
def test_only_the_last_line_of_a_failure_gives_the_exit_code(
    text: str, failed: bool, code: int | None, detail: dict[str, Any]
) -> None:
    (ended,) = events_of(
        session_of(entry("a", None, call_message("c")), entry("bb", "a", result("c", text, failed))), ToolResult
    )
    assert (ended.exit_code, ended.detail, ended.is_error) == (code, detail, failed)


def test_text_of_preheat_has_the_origin_preheat() -> None:
    note = entry("a", None, kind="custom_message", customType="x", content="<preheat-context>warm", display=False)
    assert [event.origin for event in events_of(session_of(note), UserMessage)] == ["preheat"]


@pytest.mark.parametrize(
    "message",
    [None, 3, {"role": 4}, {"role": "assistant", "content": [None, 3, {}], "usage": [1]}, {"role": "toolResult"}],
)
def test_records_of_wrong_types_do_not_affect_others(message: Any) -> None:
    broken = {"type": "message", "id": "b", "parentId": {}, "timestamp": [], "message": message}
    session = session_of(entry("a", None, user("before")), broken, entry("ccc", "b", user("after")))
    assert [event.text for event in surviving_events(session) if isinstance(event, UserMessage)] == ["before", "after"]


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"session","id":"x"}',
        b'{"type":"session.start","id":"x","timestamp":"t","cwd":"/"}',
        b'{"type":"message","id":"x","timestamp":"t","cwd":"/"}',
        b"[]",
        b"",
    ],
)
def test_other_formats_are_not_detected(head: bytes) -> None:
    assert not READER.detect(head, "file")


def test_roots_follow_the_environment() -> None:
    """The usual folder, another one, and one for sessions alone; `~` is the home."""
    usual = os.path.join("/h", ".pi", "agent", "sessions")
    assert PLACES.roots({"HOME": "/h", "USERPROFILE": "/h"}) == [usual]
    assert PLACES.roots({"HOME": "/h", "USERPROFILE": "/h", "PI_CODING_AGENT_DIR": "/x"}) == [
        os.path.join("/x", "sessions")
    ]
    moved = {"HOME": "/h", "USERPROFILE": "/h", "PI_CODING_AGENT_SESSION_DIR": "~/s"}
    assert PLACES.roots(moved) == ["/h/s", usual]


@pytest.mark.corpus
@needs_corpus
def test_the_real_session_has_the_counts_of_the_corpus() -> None:
    (session,) = read(os.path.join(SHARED, "corpus", "pi__pi-mono", "large-session.jsonl"))
    pairs = list(pair_calls_with_results(session))
    assert (session.agent, session.problems, len(pairs)) == ("pi", (), 391)
    assert sum(result is not None and result.is_error is not None for _, result in pairs) == 373
    assert sum(result is not None and result.is_error is True for _, result in pairs) == 19
    assert sum(result is not None and result.exit_code is not None for _, result in pairs) == 17
