"""How the Codex reader finds the outcome of a call: which record outranks which."""

import json
from typing import Any

import pytest

from preheat.agents.codex.reader import READER
from preheat.model.session import Other, Session, ToolResult
from tests.agents.codex_rollout import Rollout
from tests.agents.parsing import read_whole_and_in_pieces

UNIFIED = (
    "Chunk ID: 1a0180\nWall time: 0.5000 seconds\nProcess exited with code {}\nOriginal token count: 17\nOutput:\n{}"
)
CLASSIC = "Exit code: {}\nWall time: 0.5 seconds\nOutput:\n{}"


def read(rollout: Rollout) -> Session:
    return read_whole_and_in_pieces(READER, rollout.data(), "rollout.jsonl")


def result(rollout: Rollout) -> ToolResult:
    (found,) = (event for event in read(rollout).events if isinstance(event, ToolResult))
    return found


def rollout_with_call(name: str = "exec_command") -> Rollout:
    return Rollout().turn().call("c", name, cmd="ls /missing")


# Exit codes, best source first.
def test_the_item_outranks_the_text() -> None:
    rollout = rollout_with_call().done(
        "CommandExecution", id="c", status="failed", exit_code=2, duration={"secs": 1, "nanos": 5e8}
    )
    answer = result(rollout.output("c", UNIFIED.format(7, "no such file")))
    assert (answer.exit_code, answer.text) == (2, "no such file")
    assert answer.detail == {"status": "failed"}


def test_the_event_of_old_versions_outranks_the_text() -> None:
    duration = {"secs": 1, "nanos": 500_000_000}
    rollout = rollout_with_call().event(
        "exec_command_end", call_id="c", exit_code=2, status="failed", duration=duration
    )
    answer = result(rollout.output("c", UNIFIED.format(7, "no such file")))
    assert (answer.exit_code, answer.seconds) == (2, 1.5)


@pytest.mark.parametrize("form", [UNIFIED, CLASSIC, "Command: /bin/bash -lc 'ls'\n" + UNIFIED])
@pytest.mark.parametrize("code", [0, 2, 127, -1])
def test_without_records_the_header_gives_the_exit_code(form: str, code: int) -> None:
    answer = result(rollout_with_call().output("c", form.format(code, "text\nmore")))
    assert (answer.exit_code, answer.seconds, answer.text) == (code, 0.5, "text\nmore")


def test_header_lines_printed_by_a_command_are_not_read() -> None:
    """A printed `Process exited with code 1` or `Exit code: 1` is the command's text, not its exit code."""
    printed = "Process exited with code 1\nExit code: 1\n"
    answer = result(rollout_with_call().output("c", UNIFIED.format(0, printed)))
    assert (answer.exit_code, answer.text) == (0, printed)
    plain = result(rollout_with_call().output("c", f"hello\n{printed}"))
    assert (plain.exit_code, plain.text) == (None, f"hello\n{printed}")


def test_old_versions_wrote_the_exit_code_as_json_in_a_string() -> None:
    output = json.dumps({"output": "no such file", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
    answer = result(rollout_with_call("shell").output("c", output))
    assert (answer.exit_code, answer.seconds, answer.text) == (2, 0.1, "no such file")


def test_json_that_a_command_printed_stays_as_it_is() -> None:
    printed = json.dumps({"metadata": {"name": "x"}, "output": {}})
    answer = result(rollout_with_call().output("c", printed))
    assert (answer.exit_code, answer.text) == (None, printed)


# Forms of an output.
@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ([{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}], "one\ntwo"),
        ({"content": "inside", "success": True}, "inside"),
        (None, ""),
        (7, ""),
    ],
)
def test_an_output_may_be_a_string_an_object_or_a_list(output: Any, text: str) -> None:
    assert result(rollout_with_call().output("c", output)).text == text


def test_a_list_has_its_header_and_images_read_too() -> None:
    output = [
        {"type": "input_text", "text": CLASSIC.format(3, "x")},
        {"type": "input_image", "image_url": "data:"},
    ]
    answer = result(rollout_with_call().output("c", output))
    assert (answer.exit_code, answer.text, answer.detail) == (3, "x", {"images": 1})


def test_an_output_with_success_false_is_an_error() -> None:
    assert result(rollout_with_call().output("c", {"content": "no", "success": False})).is_error is True


# Flags.
@pytest.mark.parametrize(("status", "is_error"), [("completed", False), ("failed", True), ("declined", True)])
def test_a_patch_has_the_programs_error_flag_in_both_modes(status: str, is_error: bool) -> None:
    legacy = rollout_with_call("apply_patch").event("patch_apply_end", call_id="c", success=not is_error, status=status)
    paginated = rollout_with_call("apply_patch").done("FileChange", id="c", changes={}, status=status)
    for rollout in (legacy, paginated):
        answer = result(rollout.output("c", "text"))
        assert (answer.is_error, answer.detail) == (is_error, {"status": status})


@pytest.mark.parametrize(
    ("outcome", "is_error"),
    [
        ({"Ok": {"content": []}}, False),
        ({"Ok": {"content": [], "isError": True}}, True),
        ({"Err": "gone"}, True),
    ],
)
def test_a_call_of_an_mcp_server_has_the_servers_error_flag(outcome: dict[str, Any], is_error: bool) -> None:
    rollout = rollout_with_call("mcp__files__read").event("mcp_tool_call_end", call_id="c", result=outcome)
    assert result(rollout.output("c", "text")).is_error is is_error
    status = "failed" if "Err" in outcome else "completed"
    paginated = rollout_with_call("mcp__files__read").done(
        "McpToolCall", id="c", status=status, result=outcome.get("Ok")
    )
    assert result(paginated.output("c", "text")).is_error is is_error


def test_a_failed_command_has_an_exit_code_and_no_error_flag() -> None:
    """`failed` of a command only means that the exit code is not 0 (a `grep` without a match)."""
    for status, code in (("failed", 1), ("completed", 0)):
        rollout = rollout_with_call().done("CommandExecution", id="c", status=status, exit_code=code)
        answer = result(rollout.output("c", "text"))
        assert (answer.is_error, answer.exit_code) == (None, code)


def test_a_declined_command_is_an_error_without_exit_code() -> None:
    rollout = rollout_with_call().done("CommandExecution", id="c", status="declined", exit_code=None)
    answer = result(rollout.output("c", "rejected by user"))
    assert (answer.is_error, answer.exit_code, answer.detail) == (True, None, {"status": "declined"})


def test_a_command_that_still_runs_is_marked_as_running() -> None:
    """Its end is a later record; the result is what the model got."""
    header = "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\nstarted"
    rollout = rollout_with_call().output("c", header)
    rollout.event("exec_command_end", call_id="c", exit_code=1, status="failed", aggregated_output="long")
    session = read(rollout)
    answer, late = session.events[-2:]
    assert isinstance(answer, ToolResult)
    assert (answer.exit_code, answer.text, answer.detail) == (None, "started", {"running": "42"})
    assert isinstance(late, Other)
    assert late.raw == {"call_id": "c", "exit_code": 1, "status": "failed"}
