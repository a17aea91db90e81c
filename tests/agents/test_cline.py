"""Reading sessions of Cline's CLI: recorded ones of the real program, and one case for each peculiarity."""

import glob
import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.cline import PLACES
from preheat.agents.cline.reader import READER
from preheat.agents.sources import detect, read
from preheat.errors import UserError
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Session,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.agents.parsing import events_of
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "cline")


def read_fixture(name: str, ending: str = ".messages.json") -> Session:
    """A session that the real program wrote, without its subagents."""
    paths = glob.glob(os.path.join(FOLDER, name, "*", f"[0-9]*{ending}"))
    (session,) = read(next(path for path in paths if path.endswith(".messages.json") == (ending == ".messages.json")))
    return session


def cli(folder: Path, messages: Any, manifest: Any = None, compaction: Any = None, **about: Any) -> Session:
    """Write a session of the CLI and read it."""
    folder.mkdir(exist_ok=True)
    document = {
        "version": 1,
        "updated_at": "2026-03-01T10:00:00.000Z",
        "sessionId": "s1",
        **about,
        "messages": messages,
    }
    path = folder / "s1.messages.json"
    path.write_text(json.dumps(document))
    for name, value in (("s1.json", manifest), ("s1.compaction.json", compaction)):
        if value is not None:
            (folder / name).write_text(json.dumps(value))
    (session,) = read(str(path), READER)
    return session


def user(*content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {"role": "user", "content": blocks, "ts": 1_700_000_000_000, **more}


def model(*content: Any, **more: Any) -> dict[str, Any]:
    return {**user(*content, **more), "role": "assistant"}


def call(name: str, tool: str = "run_commands", **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": tool_input}


def result(name: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def user_texts(session: Session) -> list[tuple[str, str]]:
    return [(event.origin, event.text) for event in events_of(session, UserMessage)]


# The CLI, as it really writes.
def test_the_heading_comes_from_messages_and_manifest() -> None:
    session = read_fixture("ordinary")
    assert (session.version, session.model, session.project) == ("3.0.65", "scripted", "/w/proj")
    assert (session.starter, session.title) == ("headless", "Make a greeting file.")
    assert session.started_at is not None
    assert session.id.startswith(str(session.started_at)[:6])  # the id begins with the time


def test_reading_the_manifest_gives_the_same_session() -> None:
    assert read_fixture("ordinary", ".json") == read_fixture("ordinary")


def test_a_batch_fails_if_one_of_its_commands_fails() -> None:
    """The detail says which one."""
    _, answer = next(iter(pair_calls_with_results(read_fixture("ordinary"))))
    assert answer is not None
    assert (answer.is_error, answer.exit_code) == (True, 2)
    assert answer.detail["items"] == [
        {"query": "ls missing-folder", "success": False, "exit_code": 2},
        {"query": "echo good", "success": True},
    ]
    assert answer.text.startswith("[ls missing-folder]\n[stderr]\nls: cannot access 'missing-folder'")
    assert answer.text.endswith("[echo good]\ngood\n")


def test_kinds_and_results_of_the_real_session_are_read() -> None:
    pairs = list(pair_calls_with_results(read_fixture("ordinary")))[1:]
    assert [(call.tool, answer and answer.is_error, answer and answer.exit_code) for call, answer in pairs] == [
        ("read_files", True, None),
        ("run_commands", False, None),
        ("no_such_tool", True, None),
        ("editor", False, None),
        ("editor", True, None),
        ("run_commands", True, None),
    ]
    texts = [answer.text for _, answer in pairs if answer]
    assert texts[0].startswith("Error reading file: ENOENT")
    assert texts[1] == "fine\n"
    assert texts[3].startswith("File created successfully")
    assert pairs[5][0].input == {"text": "no JSON at all"}  # kept by the program beside the message


def test_tags_of_the_program_are_removed_from_prompts() -> None:
    assert user_texts(read_fixture("ordinary")) == [("human", "Make a greeting file.")]


def test_tokens_agree_with_the_manifest() -> None:
    """The program counts cached tokens as input."""
    session = read_fixture("ordinary")
    assert session.reported == sum_usage(session) == Usage(input=670, output=85, cache_read=30)
    assert [event.text for event in events_of(session, Reasoning)] == ["It may not be there."]


def test_text_of_a_hook_is_injected() -> None:
    ((first, _), (second, text)) = user_texts(read_fixture("delegating"))
    assert (first, second) == ("human", "injected")
    assert text.startswith("<hook_context")
    assert "A note." in text


def test_a_subagent_is_a_child_in_the_project_of_its_parent() -> None:
    parent = read_fixture("delegating")
    (path,) = glob.glob(os.path.join(FOLDER, "delegating", "*", "agent_*.messages.json"))
    (child,) = read(path)
    assert (child.parent, child.relation, child.project) == (parent.id, "subagent", "/w/proj")
    assert user_texts(child)[0] == ("injected", "Count the files.")
    assert sum_usage(parent) == parent.reported == Usage(input=200, output=20)  # its own, without the child's
    assert sum_usage(child) == Usage(input=200, output=20)


# The CLI, case by case.
def test_a_compaction_is_placed_after_the_messages_it_covers(tmp_path: Path) -> None:
    """It is in a file of its own; the messages stay complete."""
    kept = {"source_message_count": 2, "updated_at": "2026-03-01T10:00:00Z", "messages": [user("What happened.")]}
    session = cli(tmp_path, [user("One."), model("Two."), user("Three.")], compaction=kept)
    kinds = [type(event) for event in session.events]
    assert kinds == [Other, UserMessage, AssistantMessage, Compaction, UserMessage]
    assert events_of(session, Compaction)[0].summary == "What happened."


def test_a_summary_among_the_messages_is_a_compaction(tmp_path: Path) -> None:
    session = cli(tmp_path, [user("Summed up.", metadata={"kind": "compaction_summary"})])
    assert (user_texts(session), events_of(session, Compaction)[0].summary) == ([], "Summed up.")


def test_a_mode_notice_and_an_attached_file_are_injected(tmp_path: Path) -> None:
    notice = "<mode_notice>The user switched.</mode_notice>"
    attached = {"type": "file", "path": "/w/proj/a.py", "content": "print(1)"}
    texts = f'{notice}\n<user_input mode="plan">Think.</user_input>'
    assert user_texts(cli(tmp_path, [user(texts, attached)])) == [
        ("injected", "/w/proj/a.py\nprint(1)"),
        ("injected", notice),
        ("human", "Think."),
    ]


def test_an_exit_line_printed_by_a_command_is_not_its_exit_code(tmp_path: Path) -> None:
    item = {"query": "cat log", "result": "[Command exited with code 9]\n", "success": True}
    ((_, answer),) = pair_calls_with_results(cli(tmp_path, [model(call("c1")), user(result("c1", [item]))]))
    assert answer is not None
    assert (answer.is_error, answer.exit_code, answer.text) == (False, None, "[Command exited with code 9]\n")


def test_a_result_that_only_looks_like_a_batch_is_text(tmp_path: Path) -> None:
    text = '{"success": false, "why": "a tool\'s own JSON"}'
    ((_, answer),) = pair_calls_with_results(cli(tmp_path, [model(call("c1", "mcp")), user(result("c1", text))]))
    assert answer is not None
    assert (answer.is_error, answer.text) == (None, text)


def test_totals_beyond_the_messages_are_counted_and_smaller_ones_are_not_reported(tmp_path: Path) -> None:
    messages = model("A.", id="m1", metrics={"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 0})
    more = {
        "metadata": {"usage": {"inputTokens": 150, "outputTokens": 12, "cacheReadTokens": 0, "cacheWriteTokens": 0}}
    }
    session = cli(tmp_path / "more", [messages], more)
    assert session.reported == sum_usage(session) == Usage(input=150, output=12)
    less = {"metadata": {"usage": {"inputTokens": 50, "outputTokens": 5}}}
    session = cli(tmp_path / "less", [messages], less)
    assert (session.reported, sum_usage(session)) == (None, Usage(input=100, output=10))


def test_a_second_result_and_one_without_a_call_are_kept(tmp_path: Path) -> None:
    session = cli(
        tmp_path, [model(call("c1")), user(result("c1", "a")), user(result("c1", "b")), user(result("x", "c"))]
    )
    assert [event.text for event in events_of(session, ToolResult)] == ["a"]
    assert [event.name for event in events_of(session, Other)].count("result_without_call") == 2


@pytest.mark.parametrize(
    "data", [b"{", b"", b"\xff\xfe", b'{"version": 1, "updated_at": "x", "sessionId": "s1", "mess']
)
def test_a_damaged_file_is_a_problem_and_kept(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s1.messages.json"
    path.write_bytes(data)
    (session,) = read(str(path), READER)
    assert session.id == "s1"
    assert [problem.file for problem in session.problems] == [str(path)]
    assert [event.name for event in events_of(session, Other)] == ["unreadable"]


@pytest.mark.parametrize("messages", [None, {}, "text", 7])
def test_a_document_without_a_list_of_messages_is_a_problem(messages: Any, tmp_path: Path) -> None:
    assert cli(tmp_path, messages).problems


def test_a_manifest_without_messages_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "s2.json"
    path.write_text('{"version": 1, "session_id": "s2", "source": "cli"}')
    with pytest.raises(UserError, match=r"s2\.messages\.json"):
        read(str(path))


# Where and what.
def test_sessions_are_found_in_the_store_and_in_editors(tmp_path: Path) -> None:
    """A session's stamp also changes when only its manifest changes."""
    store, editor = tmp_path / "data" / "sessions" / "s1", tmp_path / "config" / "Code" / "User" / "globalStorage"
    folder = editor / "rooveterinaryinc.roo-cline" / "tasks" / "1"
    store.mkdir(parents=True)
    folder.mkdir(parents=True)
    (store / "s1.messages.json").write_text("{}")
    (folder / "api_conversation_history.json").write_text("[]")
    (folder / "ui_messages.json").write_text("[]")
    environment = {
        "HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "CLINE_DATA_DIR": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "APPDATA": str(tmp_path / "config"),
    }  # fmt: skip
    found = [entry for root in PLACES.roots(environment) for entry in PLACES.discover(root)]
    names = [os.path.basename(entry.path) for entry in found]
    assert "s1.messages.json" in names
    if os.name != "posix" or os.uname().sysname == "Linux":
        assert "api_conversation_history.json" in names
    assert len(names) <= 2
    (store / "s1.json").write_text("{}")
    (again,) = (entry for entry in PLACES.discover(PLACES.roots(environment)[0]))
    assert again.stamp != found[0].stamp


def test_other_documents_are_not_detected() -> None:
    assert not READER.detect(b'[{"role": "user", "content": "x"}]', "chat.json")
    assert not READER.detect(b'{"sessionId": "x", "messages": []}', "session.json")
    assert not READER.detect(b'{"task": 1}', "history_item.json")


@pytest.mark.corpus
@needs_corpus
def test_the_real_session_has_the_counts_of_the_corpus() -> None:
    """SOURCES.md: 32 messages, 11 calls, all with ground truth."""
    path = os.path.join(SHARED, "corpus", "cline__cline", "session.messages.json")
    assert detect(path) is READER
    (session,) = read(path)
    pairs = list(pair_calls_with_results(session))
    assert len(pairs) == 11
    assert all(answer is not None and answer.is_error is False for _, answer in pairs)
    assert (
        len(events_of(session, AssistantMessage))
        + len(events_of(session, ToolResult))
        + len([text for origin, text in user_texts(session) if origin == "human"])
        == 32
    )
    assert session.problems == ()
