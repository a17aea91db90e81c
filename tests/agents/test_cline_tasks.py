"""Reading task folders of the editor extensions, where calls are tags in the text or tool calls of the interface."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.cline.reader import READER
from preheat.agents.cline.records import TaggedCall, calls_in
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.agents.parsing import events_of
from tests.shared import FIXTURES

FOLDER = os.path.join(FIXTURES, "cline")


def task(name: str) -> Session:
    (session,) = read(os.path.join(FOLDER, name, "api_conversation_history.json"))
    return session


def editors(folder: Path, *messages: Any) -> Session:
    """Write a task of an extension and read it."""
    path = folder / "1700000000000" / "api_conversation_history.json"
    path.parent.mkdir()
    path.write_text(json.dumps(messages))
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


def test_tags_in_the_models_text_are_calls() -> None:
    session = task("tagged")
    assert [(call.tool, call.kind) for call in events_of(session, ToolCall)] == [
        ("execute_command", "shell"),
        ("read_file", "read"),
        ("write_to_file", "write"),
        ("ask_followup_question", "other"),
        ("attempt_completion", "other"),
    ]
    texts = [event.text for event in events_of(session, AssistantMessage)]
    assert texts[0].endswith("I run it first.")
    assert texts[2] == "It is not there, so I write the whole file."


def test_results_of_tagged_calls_are_found_in_the_users_texts() -> None:
    session = task("tagged")
    command, missing, denied, question, last = (answer for _, answer in pair_calls_with_results(session))
    assert command is not None
    assert missing is not None
    assert denied is not None
    assert question is not None
    assert (command.exit_code, command.is_error, command.text) == (1, None, "NameError: hour")
    assert (missing.exit_code, missing.is_error) == (None, True)
    assert (denied.is_error, denied.detail) == (True, {"denied": True})
    assert last is None
    assert [text for origin, text in user_texts(session) if origin == "human"] == [
        "Make the clock print the hour.",
        "The real hour.",
    ]


def test_environment_details_are_injected_and_name_the_project() -> None:
    session = task("native")
    assert session.project == "/w/proj"
    assert [origin for origin, _ in user_texts(session)] == ["human", "injected"]
    assert (
        "injected",
        "[ERROR] You did not use a tool in your previous response! Please retry with a tool use.",
    ) in user_texts(task("tagged"))


def test_id_and_title_come_from_folder_and_history_item() -> None:
    session = task("tagged")
    assert (session.id, session.title, session.project) == ("tagged", "Make the clock print the hour.", "/w/proj")
    (again,) = read(os.path.join(FOLDER, "tagged", "history_item.json"))
    assert again == session


def test_a_summary_of_the_task_is_a_compaction() -> None:
    (compaction,) = events_of(task("tagged"), Compaction)
    assert compaction.summary.startswith("The clock is to print")


def test_tags_beside_tool_calls_are_text() -> None:
    session = task("native")
    assert [call.call_id for call in events_of(session, ToolCall)] == ["toolu_1", "toolu_2", "toolu_3"]
    (command, missing) = events_of(session, ToolResult)
    assert (command.exit_code, command.text) == (0, "12")
    assert missing.is_error is True
    assert "<read_file>" in events_of(session, AssistantMessage)[1].text
    assert (session.model, sum_usage(session)) == ("scripted", Usage(input=150, output=32, cache_read=130))


def test_a_result_may_continue_in_the_next_text(tmp_path: Path) -> None:
    asked = model("<read_file>\n<path>a.html</path>\n</read_file>")
    answer = user(
        "[read_file for 'a.html'] Result:", "<html>\n</html>", "<environment_details>\n</environment_details>"
    )
    session = editors(tmp_path, asked, answer)
    assert [event.text for event in events_of(session, ToolResult)] == ["<html>\n</html>"]
    assert [origin for origin, _ in user_texts(session)] == ["injected"]


def test_a_result_without_its_call_stays_a_text(tmp_path: Path) -> None:
    session = editors(tmp_path, user("[read_file for 'a'] Result:\nx"))
    assert not events_of(session, ToolResult)
    assert len(user_texts(session)) == 1


def test_an_exit_code_inside_the_output_does_not_count(tmp_path: Path) -> None:
    output = "Command executed in terminal within working directory '/w'. Exit code: 0\nOutput:\nExit code: 7"
    session = editors(tmp_path, model(call("c1", "execute_command")), user(result("c1", output)))
    assert [(event.exit_code, event.text) for event in events_of(session, ToolResult)] == [(0, "Exit code: 7")]


def test_a_truncation_and_hidden_reasoning_are_read(tmp_path: Path) -> None:
    marker = user("", isTruncationMarker=True)
    session = editors(tmp_path, marker, {"type": "reasoning", "role": "assistant", "text": "Hm."})
    assert events_of(session, Compaction)[0].trigger == "truncation"
    assert events_of(session, Reasoning)[0].text == "Hm."


@pytest.mark.parametrize(
    ("text", "calls", "rest"),
    [
        ("Hi.", [], "Hi."),
        ("<list_files>\n<path>a</path>\n</list_files>", [TaggedCall("list_files", {"path": "a"})], ""),
        ("<list_files>\n<path>a</path>", [], "<list_files>\n<path>a</path>"),
        ("<unknown_tool>\n<path>a</path>\n</unknown_tool>", [], "<unknown_tool>\n<path>a</path>\n</unknown_tool>"),
        (
            "<write_to_file>\n<path>a</path>\n<content>\n</write_to_file></content>\n</content>\n</write_to_file>",
            [TaggedCall("write_to_file", {"path": "a", "content": "</write_to_file></content>"})],
            "",
        ),
        (
            "<read_file>\n<path>a</path>\n</read_file>\n<read_file>\n<path>b</path>\n</read_file>",
            [TaggedCall("read_file", {"path": "a"}), TaggedCall("read_file", {"path": "b"})],
            "",
        ),
        ("<read_file>\n<" * 30_000, [], "<read_file>\n<" * 30_000),
    ],
)
def test_only_closed_tags_of_known_tools_are_calls(text: str, calls: list[TaggedCall], rest: str) -> None:
    assert calls_in(text) == (calls, rest)
