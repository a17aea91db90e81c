"""Reading Gemini CLI's sessions: newer versions of messages in the journal, rewinds, results and places."""

import glob
import json
import os
from pathlib import Path

import pytest

from preheat.agents.gemini import PLACES
from preheat.agents.gemini.reader import READER
from preheat.agents.sources import HEAD_SIZE, detect, read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)
from tests.agents.gemini_journal import START, TOKENS, answer, call, read_journal, user
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "gemini")


def fixture(name: str) -> Session:
    (path,) = glob.glob(os.path.join(FOLDER, name, "proj", "chats", "session-*"))
    (session,) = read(path)
    assert session.problems == ()
    return session


def texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]


# The real program's own sessions.


def test_results_of_the_real_session_are_read() -> None:
    """Exit 2 under `success`, `error` of a missing file, exit 0 without a line for it, an unknown tool."""
    results = [result for _, result in pair_calls_with_results(fixture("work")) if result is not None]
    assert [result.exit_code for result in results] == [2, None, 0, None, None]
    assert [result.is_error for result in results] == [None, True, None, True, False]
    assert [result.detail["status"] for result in results] == ["success", "error", "success", "error", "success"]
    assert results[0].text == "ls: cannot access 'missing-folder': No such file or directory"
    assert results[2].text == "good\nExit Code: 7"  # what the command itself printed


def test_tokens_count_once_by_kind() -> None:
    """Gemini counts cached tokens as input and thoughts not as output; a message written twice counts once."""
    assert sum_usage(fixture("work")) == Usage(input=295, cache_read=350, output=82, reasoning=5)
    session = read_journal(answer("g1", "a", tokens=TOKENS), answer("g1", "a", [call("c1")], tokens=TOKENS))
    assert sum_usage(session) == Usage(input=72, cache_read=30, output=25, reasoning=5)


def test_the_older_document_gives_the_same_session_as_the_journal() -> None:
    """Before 0.40 a session was one JSON document."""
    old, new = fixture("older"), fixture("work")
    assert [(a.tool, a.input, b and b.text) for a, b in pair_calls_with_results(old)] == [
        (a.tool, a.input, b and b.text) for a, b in pair_calls_with_results(new)
    ]
    assert (texts(old), sum_usage(old)) == (texts(new), sum_usage(new))
    assert old.id == "0d0c0000-0000-4000-8000-000000000001"


def test_a_resumed_session_adds_only_new_events() -> None:
    """Resuming writes the metadata again, empties the messages by `$set` and puts them back without calls and tokens."""
    session = fixture("resumed")
    human = [event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human"]
    assert human == ["Count.", "Count on.", "And on."]
    assert texts(session) == ["I count.", "One.", "Three.", "Going on after the summary."]
    assert sum_usage(session) == Usage(input=500, output=50)
    assert [result and result.exit_code for _, result in pair_calls_with_results(session)] == [0, 3]
    assert not [event for event in session.events if isinstance(event, Rewind | Other)]


def test_a_compaction_is_one_event_and_copied_messages_none() -> None:
    session = fixture("resumed")
    (compaction,) = (event for event in session.events if isinstance(event, Compaction))
    assert "<goal>Counting on.</goal>" in compaction.summary


def test_a_subagent_is_a_child_of_the_session_named_by_its_folder() -> None:
    parent = fixture("delegating")
    (path,) = glob.glob(os.path.join(FOLDER, "delegating", "proj", "chats", "*", "*.jsonl"))
    (child,) = read(path)
    assert (child.parent, child.relation) == (parent.id, "subagent")
    (spawn,) = (event for event in parent.events if isinstance(event, Spawn))
    assert (spawn.session, spawn.call_id) == (child.id, "invoke_agent__call_1")
    assert [event.origin for event in child.events if isinstance(event, UserMessage)] == ["injected"]
    (result,) = (result for _, result in pair_calls_with_results(parent))
    assert result is not None
    assert result.detail == {"status": "success", "termination": "GOAL"}
    assert child.project == "/w/proj"  # the folder the program states


# Newer versions of a message.


def test_a_newer_version_of_a_message_adds_only_what_is_new() -> None:
    """First the text, then a call, then its end, then another call."""
    waiting = {"id": "c1", "name": "read_file", "args": {"file_path": "a"}, "status": "executing"}
    session = read_journal(
        answer("g1", "Look", thoughts=[{"subject": "One", "description": "first"}]),
        answer("g1", "Look", [waiting], thoughts=[{"subject": "One", "description": "first"}]),
        answer("g1", "Look", [call("c1")]),
        answer("g1", "Looking.", [call("c1"), call("c2", "error", "gone")], tokens=TOKENS),
    )
    kinds = [(event.line, type(event)) for event in session.events]
    assert kinds == [
        (2, Reasoning), (2, AssistantMessage), (3, ToolCall), (4, ToolResult),
        (5, AssistantMessage), (5, ToolCall), (5, ToolResult),
    ]  # fmt: skip
    assert texts(session) == ["Look", "ing."]
    assert sum_usage(session).output == 25
    assert [event.call_id for event in session.events if isinstance(event, ToolCall)] == ["c1", "c2"]


def test_a_version_with_changed_text_is_an_other_event() -> None:
    """Events are never changed, and the text does not count twice."""
    session = read_journal(user("u1", "Go."), answer("g1", "Before."), user("u1", "Went."), answer("g1", "After"))
    assert texts(session) == ["Before."]
    kept = [event for event in session.events if isinstance(event, Other)]
    assert [(event.name, event.raw["id"]) for event in kept] == [("changed message", "u1"), ("changed message", "g1")]


def test_a_result_that_is_recorded_twice_counts_once() -> None:
    """It is in the call's record and in the message to the model."""
    sent = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "fine"}}}
    session = read_journal(answer("g1", "", [call("c1")]), user("u1", sent), user("g1_response", sent))
    assert len([event for event in session.events if isinstance(event, ToolResult)]) == 1
    assert not [event for event in session.events if isinstance(event, UserMessage)]


def test_a_result_only_in_the_message_to_the_model_is_read() -> None:
    asked = {"functionCall": {"id": "c1", "name": "read_file", "args": {"file_path": "a"}}}
    sent = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"error": "gone"}}}
    lost = {"functionResponse": {"id": "c9", "name": "read_file", "response": {"output": "?"}}}
    session = read_journal(answer("g1", [{"text": "Hm."}, asked]), user("u1", sent, lost))
    ((asking, result),) = pair_calls_with_results(session)
    assert result is not None
    assert (asking.input, result.text, result.is_error) == ({"file_path": "a"}, "gone", True)
    assert [event.name for event in session.events if isinstance(event, Other)] == ["result without a call"]


def test_only_a_calls_own_response_is_its_result() -> None:
    """The program copies all responses of a turn into each call's record."""
    both = [
        {"functionResponse": {"id": "c2", "name": "glob", "response": {"output": "two"}}},
        {"functionResponse": {"id": "c1", "name": "glob", "response": {"output": "one"}}},
    ]
    session = read_journal(answer("g1", "", [call("c1", result=both), call("c2", result=both)]))
    assert [result and result.text for _, result in pair_calls_with_results(session)] == ["one", "two"]


def test_a_repeated_id_is_another_call() -> None:
    session = read_journal(answer("g1", "", [call("c1")]), answer("g2", "", [call("c1", "error", "gone")]))
    assert [(asked.call_id, result and result.text) for asked, result in pair_calls_with_results(session)] == [
        ("c1", "fine"),
        ("c1 3", "gone"),
    ]


def test_thoughts_repeated_among_the_parts_count_once() -> None:
    thought = {"subject": "One", "description": "first"}
    parts = [{"text": "**One** first", "thought": True}, {"text": "Yes."}]
    session = read_journal(answer("g1", "Yes.", thoughts=[thought]), {"$set": {"messages": [answer("g1", parts)]}})
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["One\nfirst"]
    assert texts(session) == ["Yes."]


# Going back.


def test_a_rewind_removes_the_message_and_all_after_it() -> None:
    session = read_journal(
        user("u1", "Go."), answer("g1", "Gone."), user("u2", "No."), answer("g2", "", [call("c1")]),
        {"$rewindTo": "u2"}, user("u3", "Yes."), answer("g3", "", [call("c1")]),
    )  # fmt: skip
    kept = surviving_events(session)
    assert [event.text for event in kept if isinstance(event, UserMessage)] == ["Go.", "Yes."]
    assert [event.call_id for event in kept if isinstance(event, ToolCall)] == ["c1 8"]


def test_a_rewind_to_an_unknown_message_removes_nothing() -> None:
    parser = READER.parser("session-1.jsonl")
    parser.feed("\n".join(json.dumps(record) for record in (START, {"$rewindTo": "nobody"})).encode() + b"\n", 1)
    (session,) = parser.take()
    assert [event.name for event in session.events if isinstance(event, Other)] == ["$rewindTo"]
    assert [problem.line for problem in session.problems] == [2]


def test_a_set_record_adds_new_messages_and_removes_none() -> None:
    session = read_journal(
        user("u1", "Go."), answer("g1", "Gone."),
        {"$set": {"messages": [user("u1", "Go.")], "lastUpdated": "2026-05-01T11:00:00.000Z"}},
        {"$set": {"messages": [user("u1", "Go."), answer("g1", [{"text": "Gone."}]), answer("g2", "New.")]}},
    )  # fmt: skip
    assert texts(session) == ["Gone.", "New."]
    assert len([event for event in session.events if isinstance(event, UserMessage)]) == 1
    assert session.ended_at == 1_777_633_200.0


def test_messages_kept_by_a_compaction_under_new_ids_count_once() -> None:
    summary = user("n1", "<state_snapshot>short</state_snapshot>")
    copied = answer("n3", [{"text": "Gone."}, {"functionCall": {"id": "c1", "name": "read_file", "args": {}}}])
    session = read_journal(
        user("u1", "Go."), answer("g1", "Gone.", [call("c1")]),
        {"$set": {"messages": [summary, answer("n2", [{"text": "Got it."}]), copied]}},
        user("u2", "On."),
    )  # fmt: skip
    assert texts(session) == ["Gone."]
    assert len(list(pair_calls_with_results(session))) == 1
    assert [event.summary for event in session.events if isinstance(event, Compaction)] == [
        "<state_snapshot>short</state_snapshot>"
    ]


# Whose words, which project.


def test_text_that_the_program_adds_to_a_prompt_is_injected() -> None:
    session = read_journal(
        user("u1", "Fix it.", "<hook_context>be kind</hook_context>"),
        user("u2", "See @a.txt", "--- Content from referenced files ---", "hello", displayContent="See @a.txt"),
        user("u3", {"inlineData": {"mimeType": "image/png", "data": ""}}),
    )
    origins = [(event.text, event.origin, event.images) for event in session.events if isinstance(event, UserMessage)]
    assert origins == [
        ("Fix it.", "human", 0),
        ("<hook_context>be kind</hook_context>", "injected", 0),
        ("See @a.txt", "human", 0),
        ("--- Content from referenced files ---\nhello", "injected", 0),
        ("", "human", 1),
    ]


def test_the_project_comes_from_the_records_else_from_the_folder() -> None:
    context = (
        "<session_context>\n- **Workspace Directories:**\n  - /w/clock\n- **Directory Structure:**\n</session_context>"
    )
    assert read_journal({"$set": {"messages": [user("c", context)]}}).project == "/w/clock"
    assert read_journal(user("u1", "Go.")).project == "clock"
    hashed = f"/h/.gemini/tmp/{'0' * 64}/chats/session-1.jsonl"
    assert read_journal(user("u1", "Go."), path=hashed).project == ""
    described = call("c1", tool="run_shell_command", description="ls [current working directory /w/far] (Look)")
    assert read_journal(answer("g1", "", [described]), path=hashed).project == "/w/far"


def test_titles_models_and_notes_are_read() -> None:
    session = read_journal(
        answer("g1", "a", model="gemini-3"),
        {"id": "i1", "type": "info", "content": "Request cancelled."},
        {"id": "i1", "type": "info", "content": "Request cancelled."},
        {"$set": {"summary": "Clocks", "memoryScratchpad": {"version": 1}}},
    )
    assert (session.model, session.title) == ("gemini-3", "Clocks")
    assert [event.name for event in session.events if isinstance(event, Other)] == ["info", "metadata"]


# Files.


def test_a_document_named_jsonl_is_read(tmp_path: Path) -> None:
    """Copies that others made of sessions are pretty-printed documents named `.jsonl`, or journals."""
    document = {**START, "messages": [user("u1", "Go."), answer("g1", "Gone.")]}
    path = tmp_path / "copy.jsonl"
    path.write_text(json.dumps(document, indent=2))
    assert detect(str(path)) is READER
    assert texts(read(str(path))[0]) == ["Gone."]
    path.write_text("\n".join(json.dumps(record) for record in (START, user("u1", "Go."), answer("g1", "Gone."))))
    assert texts(read(str(path))[0]) == ["Gone."]
    in_place = tmp_path / "session-1.jsonl"
    in_place.write_text(json.dumps(document) + "\n" + json.dumps(answer("g2", "More.")) + "\n")
    assert texts(read(str(in_place))[0]) == ["Gone.", "More."]


@pytest.mark.parametrize(
    "data", [b"{", b'{"sessionId": "s", "projectHash": "p", "messages": 7}', b"[]", b"\xff", b"null"]
)
def test_a_file_without_session_is_a_session_with_a_problem(data: bytes) -> None:
    parser = READER.parser("/some/where/cut.json")
    parser.feed(data, 1)
    sessions = parser.take()
    assert [problem.file for session in sessions for problem in session.problems] == ["/some/where/cut.json"]


def test_a_document_beside_its_journal_is_not_found(tmp_path: Path) -> None:
    assert PLACES.roots({"GEMINI_CLI_HOME": "/x", "HOME": "/h"}) == [os.path.join("/x", ".gemini", "tmp")]
    assert PLACES.roots({"HOME": "/h", "USERPROFILE": "/h"}) == [os.path.join("/h", ".gemini", "tmp")]
    chats = tmp_path / "proj" / "chats"
    (chats / "s1").mkdir(parents=True)
    (tmp_path / "proj" / "logs.json").write_text("[]")
    for name in ("session-a.json", "session-a.jsonl", "session-b.json", "s1/s2.jsonl", "session-c.jsonl.tmp-1"):
        (chats / name).write_text("{}")
    found = sorted(os.path.relpath(item.path, chats) for item in PLACES.discover(str(tmp_path)))
    assert found == [os.path.join("s1", "s2.jsonl"), "session-a.jsonl", "session-b.json"]
    assert list(PLACES.discover(str(tmp_path / "nowhere"))) == []


@pytest.mark.corpus
@needs_corpus
def test_real_sessions_have_the_counts_of_the_corpus() -> None:
    """Three sessions (one in a folder `unknown`): 59 calls, all with a status; two were denied."""
    sessions = []
    for path in glob.glob(os.path.join(SHARED, "corpus", "entire__*", "*", "*.jsonl")):
        with open(path, "rb") as file:
            if READER.detect(file.read(HEAD_SIZE), path):
                assert detect(path) is READER
                sessions += read(path, READER)
    assert [len(list(pair_calls_with_results(session))) for session in sorted(sessions, key=lambda one: one.id)] == [
        40,
        10,
        9,
    ]
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    statuses = [result.detail["status"] for _, result in pairs if result is not None]
    assert (statuses.count("success"), statuses.count("cancelled"), len(statuses)) == (57, 2, 59)
    assert sum(result is not None and result.exit_code is not None for _, result in pairs) == 14
    assert not [problem for session in sessions for problem in session.problems]
    assert {session.project.rpartition("/")[2] for session in sessions} == {"session-bridge", ""}


# Results of calls in Gemini CLI
def shell(output: str, **more: str) -> ToolResult:
    session = read_journal(answer("g1", "", [call("c1", output=output, tool="run_shell_command", **more)]))
    (result,) = (event for event in session.events if isinstance(event, ToolResult))
    return result


@pytest.mark.parametrize(
    ("text", "code", "output"),
    [
        ("<untrusted_context>\nOutput: no\nExit Code: 2\nProcess Group PGID: 7\n</untrusted_context>", 2, "no"),
        ("<untrusted_context>\nOutput: yes\nProcess Group PGID: 7\n</untrusted_context>", 0, "yes"),
        ("Output: (empty)\nProcess Group PGID: 7", 0, ""),
        ("Output: x\nSignal: 9\nProcess Group PGID: 7", None, "x"),
        ("Command: ls\nDirectory: (root)\nOutput: x\nError: (none)\nExit Code: 1\nSignal: (none)\n"
         "Background PIDs: (none)\nProcess Group PGID: 7", 1, "x"),
        ("Command: rm x\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\n"
         "Background PIDs: (none)\nProcess Group PGID: 7", 0, ""),
        ("Exit Code: 3 is what it said, and more", None, "Exit Code: 3 is what it said, and more"),
        ("Command moved to background (PID: 7). Output hidden.", None, "Command moved to background (PID: 7). Output hidden."),
    ],
)  # fmt: skip
def test_the_exit_code_comes_from_the_programs_line(text: str, code: int | None, output: str) -> None:
    """The line is absent for 0; it is between the output and the process group."""
    result = shell(text)
    assert (result.exit_code, result.text) == (code, output)


def test_an_exit_line_printed_by_a_command_does_not_count() -> None:
    """The display holds the bare output."""
    result = shell("Output: a\nExit Code: 9\nProcess Group PGID: 7", resultDisplay="a\nExit Code: 9")
    assert (result.exit_code, result.text) == (0, "a\nExit Code: 9")


def test_only_the_shell_has_exit_lines() -> None:
    session = read_journal(answer("g1", "", [call("c1", output="Output: a\nExit Code: 9")]))
    ((_, result),) = pair_calls_with_results(session)
    assert result is not None
    assert (result.exit_code, result.is_error, result.text) == (None, False, "Output: a\nExit Code: 9")


def test_a_cancelled_call_is_an_error_with_its_reason() -> None:
    """Cancelled by the person before or while it ran, or by a timeout."""
    session = read_journal(
        answer("g1", "", [call("c1", "cancelled", "[Operation Cancelled] Reason: User denied execution.")])
    )
    ((_, result),) = pair_calls_with_results(session)
    assert result is not None
    assert (result.is_error, result.detail) == (True, {"status": "cancelled"})
    interrupted = shell("Command was cancelled by user before it could complete. There was no output")
    assert (interrupted.is_error, interrupted.detail["exception"]) == (True, "interrupted")
    late = shell("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.")
    assert (late.is_error, late.detail["exception"]) == (True, "timeout")


def test_texts_of_hooks_are_separated_from_the_result() -> None:
    """Brackets in a hook's text are entities; Preheat's text is known by its mark."""
    text = "Output: a\nProcess Group PGID: 7\n\n<hook_context>&lt;preheat-note&gt;try b</hook_context>"
    session = read_journal(answer("g1", "", [call("c1", output=text, tool="run_shell_command")]))
    ((_, result),) = pair_calls_with_results(session)
    assert result is not None
    assert result.text == "a"
    assert [event.origin for event in session.events if isinstance(event, UserMessage)] == ["preheat"]
