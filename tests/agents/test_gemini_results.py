"""Results of calls in Gemini CLI: status, the lines of the shell tool, and texts that hooks add."""

import pytest

from preheat.model.session import ToolResult, UserMessage, pair_calls_with_results
from preheat.testing.gemini_journal import answer, call, read_journal


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
