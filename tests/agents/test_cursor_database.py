"""Reading Cursor's `state.vscdb`: with its write-ahead log, without writing to it, and whatever its rows hold."""

import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.cursor import PLACES
from preheat.agents.cursor.reader import READER
from preheat.agents.sources import read
from preheat.errors import SourceUnreadable, UserError
from preheat.model.session import (
    Other,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.agents.cursor_database import CursorDatabase
from tests.agents.parsing import events_of
from tests.shared import FIXTURES

FIXTURE = os.path.join(FIXTURES, "cursor", "state.vscdb")
MAIN, CHILD = "c0ffee00-0000-4000-8000-000000000001", "c0ffee00-0000-4000-8000-000000000002"


def sessions_in(path: str) -> dict[str, Session]:
    return {session.id: session for session in read(path, READER)}


def read_call(tmp_path: Path, **former: Any) -> ToolResult | None:
    """The call and the result that are read from one `toolFormerData`."""
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c")
        database.call("c", "b", "run_terminal_cmd", {"command": "ls"}, **former)
    ((_, result),) = pair_calls_with_results(sessions_in(database.path)["c"])
    return result


# What is in a conversation.
def test_the_heading_comes_from_the_composer() -> None:
    session = sessions_in(FIXTURE)[MAIN]
    assert (session.title, session.model, session.project, session.branch) == (
        "The late clock", "scripted-1", "/w/proj", "main",
    )  # fmt: skip
    assert session.starter == "human"
    assert session.started_at is not None
    assert session.ended_at is not None


def test_an_empty_conversation_is_left_out() -> None:
    """The editor creates one whenever the panel is opened."""
    assert set(sessions_in(FIXTURE)) == {MAIN, CHILD, "composer-first"}


def test_results_show_exit_code_refusal_and_error() -> None:
    """A refused and a failing command have the status `completed` too."""
    ends = {
        call.call_id: (call.kind, result and result.is_error, result and result.exit_code)
        for call, result in pair_calls_with_results(sessions_in(FIXTURE)[MAIN])
    }
    assert ends == {
        "tool_b4": ("shell", False, 2),
        "tool_b5": ("read", True, None),
        "tool_b6": ("shell", True, None),
        "tool_b7": ("edit", None, None),
        "tool_b8": ("delegate", False, None),
        "tool_b9": ("search", None, None),
    }
    results = {result.call_id: result for result in events_of(sessions_in(FIXTURE)[MAIN], ToolResult)}
    assert results["tool_b4"].text.startswith("ls: clocks")
    assert results["tool_b5"].text == "`absent.py` is not there"
    assert results["tool_b6"].detail == {"status": "completed", "user_decision": "rejected", "rejected": True}
    assert results["tool_b7"].detail == {"status": "cancelled"}
    assert "tool_b9" not in results  # still running


def test_thoughts_and_tokens_are_read() -> None:
    session = sessions_in(FIXTURE)[MAIN]
    assert [event.text for event in events_of(session, Reasoning)] == ["Look at it."]
    assert sum_usage(session) == Usage(input=120, output=9)


def test_a_subagent_is_a_child() -> None:
    sessions = sessions_in(FIXTURE)
    assert (sessions[CHILD].parent, sessions[CHILD].relation) == (MAIN, "subagent")
    assert [event.origin for event in events_of(sessions[CHILD], UserMessage)] == ["injected"]
    assert [(spawn.session, spawn.call_id) for spawn in events_of(sessions[MAIN], Spawn)] == [(CHILD, "tool_b8")]


def test_a_conversation_of_the_first_version_is_read() -> None:
    session = sessions_in(FIXTURE)["composer-first"]
    ((call, result),) = pair_calls_with_results(session)
    assert (call.tool, call.input, result and result.text) == ("read_file", {"path": "a.py"}, "print(1)")


def test_keys_drafts_and_copies_of_files_are_left_out(tmp_path: Path) -> None:
    (about,) = (event for event in events_of(sessions_in(FIXTURE)[MAIN], Other) if event.name == "composer")
    assert {"text", "blobEncryptionKey", "fullConversationHeadersOnly"}.isdisjoint(about.raw)


def test_unknown_members_are_kept(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c", fromTheFuture={"answer": 42})
        database.bubble("c", "b", 7, "?", alsoNew=[1])
    raw = [event.raw for event in events_of(sessions_in(database.path)["c"], Other)]
    assert raw[0]["fromTheFuture"] == {"answer": 42}
    assert raw[1]["row"]["alsoNew"] == [1]


@pytest.mark.parametrize(
    ("former", "is_error", "exit_code"),
    [
        ({"status": "completed", "result": {"output": "x", "exitCodeV2": 0}}, False, 0),
        ({"status": "completed", "result": {"output": "x", "exitCode": 1}}, False, 1),
        ({"status": "completed", "result": {"output": "x"}}, False, None),
        ({"status": "completed", "result": {"output": "x", "exitCodeV2": "0"}}, False, None),
        ({"status": "error", "error": "broken"}, True, None),
        ({"status": "cancelled", "result": ""}, None, None),
        ({"status": "completed", "result": "{not json"}, False, None),
        ({"result": "plain"}, None, None),
    ],
)
def test_status_error_and_decision_give_the_result(
    tmp_path: Path, former: dict[str, Any], is_error: bool | None, exit_code: int | None
) -> None:
    result = read_call(tmp_path, **former)
    assert result is not None
    assert (result.is_error, result.exit_code) == (is_error, exit_code)


@pytest.mark.parametrize("former", [{}, {"status": "loading"}, {"status": "pending", "result": ""}])
def test_a_running_call_has_no_result(tmp_path: Path, former: dict[str, Any]) -> None:
    assert read_call(tmp_path, **former) is None


def test_arguments_and_results_may_be_objects(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c")
        former = {
            "tool": 7,
            "rawArgs": "",
            "params": {"command": "ls"},
            "result": {"output": "x"},
            "status": "completed",
        }
        database.bubble("c", "b", 2, toolFormerData=former)
    ((call, result),) = pair_calls_with_results(sessions_in(database.path)["c"])
    assert (call.tool, call.input, result and result.text) == ("tool 7", {"command": "ls"}, "x")


# The order, and what is not in it.
def test_headers_give_the_order_and_leave_out_rewound_bubbles(tmp_path: Path) -> None:
    """Keys sort in another order; a bubble that no header names was taken back."""
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c")
        database.bubble("c", "z", 1, "first")
        database.bubble("c", "a", 1, "second")
        database.put("bubbleId:c:m", {"type": 1, "bubbleId": "m", "text": "taken back"})
    assert [event.text for event in events_of(sessions_in(database.path)["c"], UserMessage)] == ["first", "second"]


def test_a_missing_or_broken_bubble_is_a_problem(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c")
        for name in ("gone", "broken", "good"):
            database.bubble("c", name, 1, name)
        database.connection.execute("DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c:gone'")
        database.put("bubbleId:c:broken", b"\xff{half")
    session = sessions_in(database.path)["c"]
    assert [event.text for event in events_of(session, UserMessage)] == ["good"]
    assert [problem.file for problem in session.problems] == [database.path, database.path]


@pytest.mark.parametrize("value", [None, "", "{", "[]", b"\xff", {"fullConversationHeadersOnly": {"a": 1}}])
def test_a_broken_conversation_does_not_affect_others(tmp_path: Path, value: Any) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("good")
        database.bubble("good", "b", 1, "hello")
        database.put("composerData:bad", value)
        database.put("bubbleId:bad:b", {"type": 1, "text": "lost"})
    sessions = sessions_in(database.path)
    assert [event.text for event in events_of(sessions["good"], UserMessage)] == ["hello"]
    assert events_of(sessions["bad"], UserMessage) == []


def test_conversations_whose_ids_share_a_beginning_are_separate(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        for name in ("c", "c1"):
            database.composer(name)
            database.bubble(name, "b", 1, name)
    sessions = sessions_in(database.path)
    texts = {name: [event.text for event in events_of(session, UserMessage)] for name, session in sessions.items()}
    assert texts == {"c": ["c"], "c1": ["c1"]}


# The database of a running editor.
def test_rows_in_the_log_are_read_and_no_file_is_changed(tmp_path: Path) -> None:
    path = str(tmp_path / "state.vscdb")
    with CursorDatabase(path, journal="WAL") as database:
        database.composer("c")
        database.bubble("c", "b", 1, "only in the log")
        before = _digests(path)
        (session,) = read(path)
        assert [event.text for event in events_of(session, UserMessage)] == ["only in the log"]
        assert _digests(path) == before
        database.bubble("c", "b2", 1, "written while we look")  # it was never locked


def test_only_a_changed_conversation_has_a_new_stamp(tmp_path: Path) -> None:
    """Also when a bubble is written again under its id, as while it streams."""
    with CursorDatabase(str(tmp_path / "state.vscdb"), journal="WAL") as database:
        for name in ("one", "two"):
            database.composer(name)
            database.bubble(name, "b", 2, "be")
        first = dict(READER.parts(database.path))
        database.put("bubbleId:one:b", {"type": 2, "bubbleId": "b", "text": "begun"})
        second = dict(READER.parts(database.path))
    assert first["one"] != second["one"]
    assert first["two"] == second["two"]


def test_a_locked_database_is_unreadable_for_now(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SourceUnreadable, match="locked"):
            READER.parts(database.path)


def test_another_database_of_that_name_is_not_detected(tmp_path: Path) -> None:
    """Every editor of this family has a `state.vscdb`."""
    path = str(tmp_path / "state.vscdb")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    connection.close()
    with open(path, "rb") as file:
        assert not READER.detect(file.read(), path)
    with pytest.raises(UserError, match="cursorDiskKV"):
        read(path, READER)


def test_the_stamp_of_the_database_includes_its_log(tmp_path: Path) -> None:
    root = tmp_path / "Cursor" / "User" / "globalStorage"
    root.mkdir(parents=True)
    with CursorDatabase(str(root / "state.vscdb"), journal="WAL") as database:
        (first,) = PLACES.discover(str(root))
        database.composer("c")
        (second,) = PLACES.discover(str(root))
    assert first.stamp != second.stamp


def _digests(path: str) -> list[str]:
    return [hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in (path, f"{path}-wal")]


def test_a_bubble_that_the_headers_name_twice_counts_once(tmp_path: Path) -> None:
    with CursorDatabase(str(tmp_path / "state.vscdb")) as database:
        database.composer("c")
        for _ in range(2):
            database.call("c", "b", "grep", {})
    assert len(events_of(sessions_in(database.path)["c"], ToolCall)) == 1
