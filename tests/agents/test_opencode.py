"""OpenCode's messages and parts: every difficulty of the format."""

import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from preheat.agents.opencode.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Rewind,
    Session,
    Spawn,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)
from tests.shared import FIXTURES, SHARED, needs_corpus

CORPUS = os.path.join(SHARED, "corpus")
START = 1_790_000_000_000


def read_fixture(name: str) -> list[Session]:
    return read(os.path.join(FIXTURES, "opencode", name), READER)


def message(number: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    info = {"id": f"msg_{number}", "role": role, "time": {"created": START + number * 1000}, "modelID": "m", **more}
    return {"info": info, "parts": [{"id": f"prt_{number}_{place}", **part} for place, part in enumerate(parts)]}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def tool(name: str, status: str, call: str = "c", **state: Any) -> dict[str, Any]:
    times = {"start": START + 10, "end": START + 1010}
    return {"type": "tool", "tool": name, "callID": call, "state": {"status": status, "time": times, **state}}


def finish(**tokens: Any) -> dict[str, Any]:
    return {"type": "step-finish", "tokens": {"cache": {"read": 0, "write": 0}, **tokens}}


def session_of(*messages: dict[str, Any], **info: Any) -> Session:
    """What an export of these messages gives."""
    heading = {"id": "ses_x", "directory": "/w/proj", "time": {"created": START, "updated": START + 9000}, **info}
    parser = READER.parser("session.json")
    parser.feed(msgspec.json.encode({"info": heading, "messages": messages}), 1)
    (session,) = parser.take()
    return session


def results(session: Session) -> list[ToolResult]:
    return [event for event in session.events if isinstance(event, ToolResult)]


def others(session: Session, name: str) -> list[Any]:
    return [event.raw for event in session.events if isinstance(event, Other) and event.name == name]


def prompts(session: Session) -> list[tuple[str, str]]:
    return [(event.text, event.origin) for event in session.events if isinstance(event, UserMessage)]


# The outcome of a call.
def test_a_failed_command_has_an_exit_code_and_no_error_flag() -> None:
    """`completed` is the tool's status, `metadata.exit` the command's; a missing file is an `error` of the tool."""
    (session,) = read_fixture("ordinary/opencode.db")
    assert [
        (call.tool, call.kind, result.is_error, result.exit_code)
        for call, result in pair_calls_with_results(session)
        if result
    ] == [
        ("bash", "shell", False, 2),
        ("read", "read", True, None),
        ("invalid", "other", True, None),
        ("bash", "shell", False, 0),
        ("write", "write", False, None),
        ("bash", "shell", None, None),
        ("invalid", "other", True, None),
        ("bash", "shell", False, 0),
    ]
    assert session.problems == ()


def test_a_call_of_an_unknown_tool_is_rejected() -> None:
    """Calls of unknown tools and with broken arguments are recorded as `completed` calls of a tool `invalid`."""
    (session,) = read_fixture("ordinary/opencode.db")
    refused = [
        (call.input["tool"], result) for call, result in pair_calls_with_results(session) if call.tool == "invalid"
    ]
    assert [name for name, _ in refused] == ["no_such_tool", "bash"]
    assert [result.detail for _, result in refused if result] == [{"rejected": "invalid"}] * 2


def test_a_command_that_took_too_long_has_no_exit_code() -> None:
    (session,) = read_fixture("ordinary/opencode.db")
    assert [result.detail for result in results(session) if result.is_error is None] == [{"timed_out": True}]


def test_notes_printed_by_a_command_are_not_the_programs() -> None:
    """Only the note at the very end is the program's own."""
    output = "<bash_metadata>\nexceeding timeout\n</bash_metadata>\nand more"
    (result,) = results(
        session_of(message(1, "assistant", tool("bash", "completed", output=output, metadata={"exit": 0})))
    )
    assert (result.is_error, result.exit_code, result.detail, result.text) == (False, 0, {}, output)


@pytest.mark.parametrize(
    ("state", "detail"),
    [
        ({"error": "Tool execution aborted"}, {"interrupted": True}),
        ({"error": "gone", "metadata": {"interrupted": True, "output": "half"}}, {"interrupted": True}),
        (
            {"error": "The user rejected permission to use this specific tool call."},
            {"rejected": "permission"},
        ),
        ({"error": "The user has specified a rule which prevents you from it"}, {"rejected": "rule"}),
        ({"error": "The user dismissed this question"}, {"rejected": "question"}),
        ({"error": "File not found"}, {}),
    ],
)
def test_the_reason_of_a_failed_call_is_in_its_detail(state: dict[str, Any], detail: dict[str, Any]) -> None:
    (result,) = results(session_of(message(1, "assistant", tool("bash", "error", **state))))
    assert (result.is_error, result.text, result.detail) == (True, state["error"], detail)


def test_truncation_pruning_and_diagnostics_are_in_the_detail() -> None:
    """Cut output, output no longer sent to the model, and errors of language servers after an edit."""
    found = {"a.py": [{"severity": 1}, {"severity": 2}], "b.py": [{"severity": 1}]}
    metadata = {"truncated": True, "diagnostics": found}
    part = tool("edit", "completed", output="ok", metadata=metadata)
    part["state"]["time"]["compacted"] = START + 5000
    (result,) = results(session_of(message(1, "assistant", part)))
    assert result.detail == {"truncated": True, "pruned": True, "diagnostics": 2}
    assert result.seconds == 1.0


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_running_call_has_no_result(status: str) -> None:
    session = session_of(message(1, "assistant", tool("bash", status, input={"command": "ls"})))
    assert [(call.input, result) for call, result in pair_calls_with_results(session)] == [({"command": "ls"}, None)]


def test_arguments_that_are_still_being_written_are_kept() -> None:
    session = session_of(message(1, "assistant", tool("bash", "pending", input={}, raw='{"comm')))
    assert [call.input for call, _ in pair_calls_with_results(session)] == [{"text": '{"comm'}]


def test_text_added_by_a_plugin_is_not_part_of_the_output() -> None:
    """`metadata.output` keeps a command's output unchanged; the program's own note belongs to it."""
    note = "\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    session = session_of(
        message(
            1, "assistant",
            tool("bash", "completed", "a", output="one\nRemember this.", metadata={"output": "one\n", "exit": 0}),
            tool("bash", "completed", "b", output=f"two{note}\nAnd that.", metadata={"output": "two", "exit": None}),
            tool("read", "completed", "c", output="three\n<preheat-note>four</preheat-note>"),
        )
    )  # fmt: skip
    assert [result.text for result in results(session)] == ["one\n", f"two{note}", "three\n"]
    assert results(session)[1].detail == {"interrupted": True}
    assert prompts(session) == [
        ("Remember this.", "injected"),
        ("And that.", "injected"),
        ("<preheat-note>four</preheat-note>", "preheat"),
    ]


def test_a_command_that_the_person_ran_is_marked() -> None:
    session = session_of(
        message(1, "user", text("The following tool was executed by the user", synthetic=True)),
        message(2, "assistant", tool("bash", "completed", "a", output="", metadata={"exit": 0})),
        message(3, "assistant", tool("bash", "completed", "b", output="", metadata={"exit": 0})),
    )
    assert [result.detail for result in results(session)] == [{"by_person": True}, {}]


def test_a_repeated_call_id_is_two_calls() -> None:
    """Small models count their calls again in each response."""
    (session,) = read_fixture("ordinary/opencode.db")
    assert [call.call_id for call, _ in pair_calls_with_results(session)][::7] == ["call_1", "call_1 2"]


# Who says what.
def test_texts_of_the_program_are_injected() -> None:
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA"}
    page = {"type": "file", "mime": "text/plain", "url": "file:///w/proj/a.txt"}
    session = session_of(
        message(
            1, "user", text("Look"), image, text("at this."), page, text("Called the Read tool", synthetic=True),
            text("<preheat-brief>be careful</preheat-brief>", synthetic=True), text("3 notes", ignored=True),
        )
    )  # fmt: skip
    assert prompts(session) == [
        ("Look\nat this.", "human"),
        ("Called the Read tool", "injected"),
        ("<preheat-brief>be careful</preheat-brief>", "preheat"),
    ]
    assert [event.images for event in session.events if isinstance(event, UserMessage)] == [1, 0, 0]
    assert len(others(session, "file")) == len(others(session, "ignored")) == 1


def test_a_subagent_is_a_child_whose_prompt_is_injected() -> None:
    parent, child = read_fixture("subagent/opencode.db")
    assert (child.parent, child.relation, parent.relation) == (parent.id, "subagent", None)
    spawned = [(event.session, event.call_id) for event in parent.events if isinstance(event, Spawn)]
    assert spawned == [(child.id, "call_1")]
    assert prompts(child) == [("Count the files here.", "injected")]


def test_the_starter_is_known_by_parent_and_permissions() -> None:
    """`opencode run` denies the model questions."""
    rules = [{"permission": "question", "pattern": "*", "action": "deny"}]
    assert session_of(permission=rules).starter == "headless"
    assert session_of().starter == "human"
    assert read_fixture("ordinary/opencode.db")[0].starter == "headless"


def test_a_default_title_is_left_out() -> None:
    assert session_of(title="New session - 2026-08-11T16:16:00.424Z").title == ""
    assert session_of(title="Tidy up").title == "Tidy up"


# What went wrong, and what was taken back.
def test_an_aborted_message_keeps_its_parts() -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    session = session_of(message(1, "assistant", text("Half a"), error=error), message(2, "user", text("Go on")))
    assert [type(event).__name__ for event in session.events[1:]] == ["AssistantMessage", "Other", "UserMessage"]
    assert others(session, "error") == [error]


def test_a_retry_is_kept() -> None:
    retry = {"type": "retry", "attempt": 1, "error": {"name": "APIError"}, "time": {"created": START}}
    (kept,) = others(session_of(message(1, "assistant", retry, text("Now."))), "retry")
    assert kept["row"]["attempt"] == 1


def test_reverted_messages_are_removed() -> None:
    """They stay stored, and can be restored, until the person continues."""
    messages = [
        message(1, "user", text("One")),
        message(2, "assistant", text("First.")),
        message(3, "user", text("Two")),
        message(4, "assistant", text("Second."), tool("bash", "completed", output="")),
    ]
    session = session_of(*messages, revert={"messageID": "msg_3"})
    assert isinstance(session.events[-1], Rewind)
    said = [event.text for event in surviving_events(session) if isinstance(event, UserMessage | AssistantMessage)]
    assert said == ["One", "First."]
    assert not any(isinstance(event, Rewind) for event in session_of(*messages).events)


def test_a_message_can_be_reverted_from_a_part_on() -> None:
    answer = message(2, "assistant", text("First."), tool("bash", "completed", output=""), text("Second."))
    session = session_of(message(1, "user", text("One")), answer, revert={"messageID": "msg_2", "partID": "prt_2_1"})
    assert [event.text for event in surviving_events(session) if isinstance(event, AssistantMessage)] == ["First."]
    assert not any(isinstance(event, ToolResult) for event in surviving_events(session))


def test_a_compaction_is_one_event_with_its_summary() -> None:
    (session,) = read_fixture("compacted/opencode.db")
    (compaction,) = (event for event in session.events if isinstance(event, Compaction))
    assert (compaction.trigger, compaction.summary, compaction.tokens_before) == (
        "auto",
        "Work in a small folder",
        195_020,
    )
    assert [origin for _, origin in prompts(session)] == ["human", "injected"]
    said = [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]
    assert said == ["Counted."]


def test_a_failed_compaction_is_not_a_compaction() -> None:
    session = session_of(
        message(1, "user", {"type": "compaction", "auto": False}),
        message(2, "assistant", text("Half a summ"), summary=True, error={"name": "MessageAbortedError"}),
    )
    assert not any(isinstance(event, Compaction) for event in session.events)
    done = session_of(
        message(1, "user", {"type": "compaction", "auto": False}),
        message(2, "assistant", text("All of it."), summary=True, finish="stop"),
    )
    assert [event.trigger for event in done.events if isinstance(event, Compaction)] == ["manual"]


# Tokens.
def test_reasoning_is_added_to_the_stored_output() -> None:
    """Unless the total shows that it is included."""
    session = session_of(
        message(1, "assistant", finish(total=116, input=100, output=10, reasoning=6)),
        message(2, "assistant", finish(total=110, input=100, output=10, reasoning=6)),
        message(3, "assistant", finish(input=1, output=2, reasoning=3, cache={"read": 4, "write": 5})),
    )
    used = [event.usage for event in session.events if isinstance(event, AssistantMessage)]
    assert used == [
        Usage(input=100, output=16, reasoning=6),
        Usage(input=100, output=10, reasoning=6),
        Usage(input=1, output=5, cache_read=4, cache_write=5, reasoning=3),
    ]


def test_every_step_of_a_message_counts() -> None:
    """A message has only the tokens of its last step; older versions put several steps into one message."""
    begin = {"type": "step-start"}
    step = finish(input=100, output=10)
    session = session_of(message(1, "assistant", begin, step, begin, text("So."), step, tokens=step["tokens"]))
    assert sum_usage(session) == Usage(input=200, output=20)


def test_the_tokens_add_up_to_the_sessions_own_totals() -> None:
    for name in ("ordinary", "forked", "compacted", "subagent"):
        for session in read_fixture(f"{name}/opencode.db"):
            assert session.reported == sum_usage(session)
            assert session.reported != Usage()


def test_a_fork_is_marked_and_its_copies_keep_their_names() -> None:
    """Messages get new ids in a fork, so a response is named by its time and the archive counts it once."""
    first, fork = read_fixture("forked/opencode.db")
    assert (first.relation, fork.relation, fork.parent) == (None, "fork", None)
    assert fork.events[1 : len(first.events)] == first.events[1:]
    assert first.ended_at is not None
    assert fork.started_at is not None
    assert fork.started_at > first.ended_at


# What is not known, and damage.
def test_unknown_records_are_kept() -> None:
    strange = {"type": "from-the-future", "answer": 42}
    session = session_of(message(1, "narrator", text("Once upon a time")), message(2, "assistant", strange))
    assert [kept["row"]["answer"] for kept in others(session, "from-the-future")] == [42]
    assert len(others(session, "message.narrator")) == len(others(session, "part.text")) == 1
    assert not any(isinstance(event, AssistantMessage) for event in session.events)


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"info": 1, "messages": []}', b'{"info": {}, "messages": {}}'])
def test_an_invalid_document_is_a_problem(data: bytes) -> None:
    parser = READER.parser("session.json")
    parser.feed(data, 1)
    (session,) = parser.take()
    assert len(session.problems) == 1
    assert parser.save() is None


def test_an_invalid_message_does_not_affect_the_others() -> None:
    parser = READER.parser("session.json")
    messages = [None, {"info": 7}, message(1, "user", text("Hello"))]
    parser.feed(msgspec.json.encode({"info": {"id": "ses_x"}, "messages": messages}), 1)
    (session,) = parser.take()
    assert prompts(session) == [("Hello", "human")]
    assert len(session.problems) == 2


def corpus_files() -> Iterator[str]:
    for folder in sorted(os.listdir(CORPUS)):
        below = os.path.join(CORPUS, folder, "opencode")
        if os.path.isdir(below):
            yield from (os.path.join(below, name) for name in sorted(os.listdir(below)))


@needs_corpus
@pytest.mark.corpus
def test_real_sessions_have_the_calls_that_were_counted() -> None:
    """The sums of SOURCES.md; the last repository has sessions of other agents too."""
    calls: dict[str, int] = {}
    known: dict[str, int] = {}
    for path in corpus_files():
        (session,) = read(path, detect(path))
        assert (session.agent, session.problems) == ("opencode", ())
        assert session.reported in (None, sum_usage(session))
        name = path.removeprefix(CORPUS).split(os.sep)[1]
        calls[name] = calls.get(name, 0) + sum(1 for _ in pair_calls_with_results(session))
        known[name] = known.get(name, 0) + sum(result is not None for _, result in pair_calls_with_results(session))
    assert (
        calls
        == known
        == {
            "entire__The-Best-Codes+bestcodes.dev": 45,
            "entire__eitatech+gatomia-vscode": 143,
            "entire__savekirk+session-bridge": 16,
        }
    )
