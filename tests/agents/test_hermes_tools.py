"""What a stored result of Hermes says of itself: its shapes by tool, and the wrappings around them."""

import json
from typing import Any

import pytest

from preheat.agents.hermes.tools import kind_of, result_of
from tests.agents.hermes_database import terminal

TERMINAL_REFUSED = {"output": "", "exit_code": -1, "error": "Command denied", "status": "blocked"}


@pytest.mark.parametrize(
    ("tool", "result", "is_error", "exit_code"),
    [
        ("terminal", {"output": "x", "exit_code": 0, "error": None}, None, 0),
        ("terminal", {"output": "error: it failed", "exit_code": 2, "error": None}, None, 2),
        ("terminal", {"output": "[Command interrupted]", "exit_code": 130, "error": None}, None, 130),
        ("terminal", TERMINAL_REFUSED, True, -1),
        ("terminal", {"output": "", "exit_code": -1, "status": "pending_approval", "error": None}, True, -1),
        ("terminal", {"session_id": "proc_1", "pid": 7, "exit_code": 0, "error": None}, None, None),
        ("process", {"status": "running", "output_preview": ""}, None, None),
        ("process", {"status": "exited", "exit_code": 1}, None, 1),
        ("process", {"status": "not_found", "error": "No process"}, True, None),
        ("process", {"status": "already_exited", "error": "Process has already finished"}, True, None),
        ("execute_code", {"status": "success", "output": "Error: no", "exit_code": 0}, False, 0),
        ("execute_code", {"status": "error", "output": "", "error": "Traceback", "exit_code": 1}, True, 1),
        ("execute_code", {"status": "timeout", "output": ""}, True, None),
        ("read_file", {"content": "1|error", "total_lines": 1}, False, None),
        ("read_file", {"content": "", "total_lines": 0, "error": "File not found: x"}, True, None),
        ("read_file", {"status": "unchanged", "dedup": True}, False, None),
        ("read_file", {"error": "BLOCKED: read too often"}, True, None),
        ("write_file", {"bytes_written": 3, "lint": {"status": "error", "output": "x"}}, False, None),
        ("write_file", {"error": "no permission"}, True, None),
        ("patch", {"success": True, "diff": "--- error"}, False, None),
        ("patch", {"success": False, "error": "old_string not found"}, True, None),
        ("search_files", {"total_count": 0}, False, None),
        ("delegate_task", {"results": [{"status": ["failed"], "error": {}}, {"status": {}}]}, False, None),
        ("terminal", {"exit_code": 0, "verification_evidence": {"kind": ["test"], "status": {}}}, None, 0),
        ("search_files", {"total_count": 0, "error": "Path not found"}, True, None),
        ("todo", {"todos": [], "summary": {}}, False, None),
        ("memory", {"success": False, "error": "full", "current_entries": []}, True, None),
        ("clarify", {"question": "?", "user_response": "The user did not answer in time"}, False, None),
        ("delegate_task", {"results": [{"status": "completed"}, {"status": "completed"}]}, False, None),
        ("delegate_task", {"results": [{"status": "failed"}, {"status": "timeout"}]}, True, None),
        ("delegate_task", {"results": [{"status": "completed"}, {"status": "failed"}]}, None, None),
        ("web_search", {"success": True, "data": {"web": []}}, False, None),
        ("web_extract", {"results": [{"url": "u", "content": "c", "error": None}]}, False, None),
        ("web_extract", {"results": [{"url": "u", "content": "", "error": "404"}]}, True, None),
        ("mcp_x_y", {"result": "an error occurred"}, False, None),
        ("mcp_x_y", {"error": "MCP call failed"}, True, None),
        ("plugin_tool", {"anything": "failed", "failed": 0}, None, None),
        ("any", {"error": "Tool execution failed: ValueError: x"}, True, None),
        ("any", {"error": "Tool execution cancelled by user interrupt", "status": "cancelled"}, True, None),
        ("any", {"error": "Blocked", "guardrail": {"action": "halt"}}, True, None),
    ],
)
def test_success_and_error_are_read_for_every_shape_of_result(
    tool: str, result: dict[str, Any], is_error: bool | None, exit_code: int | None
) -> None:
    """Only the structure counts: `"error": null` is no error, and the text of the output is not read."""
    facts = result_of(json.dumps(result), tool)
    assert (facts.is_error, facts.exit_code) == (is_error, exit_code)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Tool 'x' does not exist. Available tools: clarify", {"rejected": "unknown_tool"}),
        ("Error: Invalid JSON arguments. Expecting value", {"rejected": "invalid_arguments"}),
        ("Skipped: other tool call in this response had invalid JSON.", {"rejected": "skipped"}),
        ("[Tool execution cancelled — terminal was skipped due to user interrupt]", {"status": "cancelled"}),
        (
            "[Tool execution skipped — terminal was not started. User sent a new message]",
            {"status": "skipped"},
        ),
    ],
)
def test_calls_that_never_reached_a_tool_are_rejected(text: str, detail: dict[str, Any]) -> None:
    facts = result_of(text, "terminal")
    assert (facts.is_error, facts.detail) == (True, detail)


@pytest.mark.parametrize(
    ("text", "tool", "exit_code"),
    [
        ("[terminal] ran `make test` -> exit 2, 12 lines output", "terminal", 2),
        ("[terminal] ran `echo a\necho b` -> exit 0, 2 lines output", "terminal", 0),
        ("[write_file] wrote to a.py (3 lines)", "write_file", None),
        ("[Old tool output cleared to save context space]", "read_file", None),
        ("[Duplicate tool output — same content as a more recent call]", "read_file", None),
    ],
)
def test_a_result_shortened_by_a_compaction_has_no_error_flag(text: str, tool: str, exit_code: int | None) -> None:
    """`wrote to` is printed for a failed write too; only the terminal's exit code is kept."""
    facts = result_of(text, tool)
    assert (facts.is_error, facts.exit_code, facts.detail) == (None, exit_code, {"pruned": True})


@pytest.mark.parametrize(
    "after",
    [
        "\n\n[Tool loop warning: the same call failed 3 times]",
        "\n\n[Subdirectory context discovered: src/AGENTS.md]\nUse exit code 0.",
        '\nAdvice of a plugin: {"exit_code": 0}',
        "\n\n[OUT-OF-BAND USER MESSAGE — direct]\nstop\n[/OUT-OF-BAND USER MESSAGE]",
    ],
)
def test_text_after_the_json_is_ignored(after: str) -> None:
    facts = result_of(terminal("no", 2) + after, "terminal")
    assert facts.exit_code == 2
    assert bool(facts.detail.get("loop_warning")) == ("loop warning" in after)
    assert facts.steered == (("stop",) if "OUT-OF-BAND" in after else ())


def test_an_untrusted_result_is_unwrapped() -> None:
    result = json.dumps({"success": False, "error": "Timeout\n\nwhile loading"})
    wrapped = (
        '<untrusted_tool_result source="web_search">\nThe following content was retrieved from outside.\n\n'
        f"{result}\n</untrusted_tool_result>"
    )
    facts = result_of(wrapped, "web_search")
    assert (facts.is_error, facts.detail) == (True, {"untrusted": True})


def test_a_cut_result_is_not_read() -> None:
    """No exit code is better than a wrong one. A whole JSON value in the preview is read."""
    before = "<persisted-output>\nThis tool result was too large.\n\nPreview (first 1,500 chars):\n"
    cut = result_of(f'{before}{{"output": "line\\nline\n...\n</persisted-output>', "terminal")
    assert (cut.is_error, cut.exit_code, cut.detail) == (None, None, {"persisted": True})
    whole = result_of(f"{before}{terminal('x', 3)}\n...\n</persisted-output>", "terminal")
    assert whole.exit_code == 3


def test_small_facts_are_in_the_detail() -> None:
    meaning = result_of(terminal("", 1, exit_code_meaning="No matches found (not an error)"), "terminal")
    assert meaning.detail == {"exit_code_meaning": "No matches found (not an error)"}
    evidence = {"status": "failed", "kind": "test", "scope": "full", "canonical_command": "make test"}
    tested = result_of(terminal("1 failed", 1, verification_evidence=evidence), "terminal")
    expected = {
        "verification_evidence": {"status": "failed", "kind": "test", "scope": "full"},
        "checks": ["test"],
    }
    assert tested.detail == expected
    written = result_of(json.dumps({"bytes_written": 3, "lint": {"status": "error"}}), "write_file")
    assert written.detail == {"lint": "error"}
    started = result_of(json.dumps({"session_id": "p", "pid": 4, "exit_code": 0}), "terminal")
    assert started.detail == {"background": True}
    some = result_of(json.dumps({"results": [{"status": "completed"}, {"error": "no"}]}), "delegate_task")
    assert some.detail == {"items_failed": 1, "items_worked": 1}


@pytest.mark.parametrize("text", ["", "[" * 100_000, "{", "7", "null", '"text"', "plain words, exit code 1", "1e999"])
def test_other_text_gives_no_facts(text: str) -> None:
    facts = result_of(text, "terminal")
    assert (facts.is_error, facts.exit_code, facts.detail) == (None, None, {})


def test_tools_have_their_kind() -> None:
    kinds = {tool: kind_of(tool) for tool in ("terminal", "patch", "browser_click", "kanban_show", "mcp_a_b")}
    assert kinds == {
        "terminal": "shell",
        "patch": "edit",
        "browser_click": "web",
        "kanban_show": "plan",
        "mcp_a_b": "other",
    }
