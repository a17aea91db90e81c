"""What came of a call in Gemini CLI: its status, the lines of its shell tool, and what hooks hang on a result."""

import pytest

from preheat.model.session import ToolResult, UserMessage, joined
from preheat.testing.gemini_journal import answer, call, journal


def shell(output: str, **more: str) -> ToolResult:
    session = journal(answer("g1", "", [call("c1", output=output, tool="run_shell_command", **more)]))
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
def test_the_exit_code_is_the_programs_own_line(text: str, code: int | None, output: str) -> None:
    """The line is there only when it is not nought, between the output and the process group."""
    result = shell(text)
    assert (result.exit_code, result.text) == (code, output)


def test_a_command_that_prints_such_a_line_is_not_believed() -> None:
    """What was shown to the person is the bare output."""
    result = shell("Output: a\nExit Code: 9\nProcess Group PGID: 7", resultDisplay="a\nExit Code: 9")
    assert (result.exit_code, result.text) == (0, "a\nExit Code: 9")


def test_only_the_shell_has_exit_lines() -> None:
    session = journal(answer("g1", "", [call("c1", output="Output: a\nExit Code: 9")]))
    ((_, result),) = joined(session)
    assert result is not None
    assert (result.exit_code, result.is_error, result.text) == (None, False, "Output: a\nExit Code: 9")


def test_cancelled_is_an_error_and_says_so() -> None:
    """By the person before it ran, by the person while it ran, and by the program's own clock."""
    session = journal(
        answer("g1", "", [call("c1", "cancelled", "[Operation Cancelled] Reason: User denied execution.")])
    )
    ((_, result),) = joined(session)
    assert result is not None
    assert (result.is_error, result.detail) == (True, {"status": "cancelled"})
    interrupted = shell("Command was cancelled by user before it could complete. There was no output")
    assert (interrupted.is_error, interrupted.detail["exception"]) == (True, "interrupted")
    late = shell("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.")
    assert (late.is_error, late.detail["exception"]) == (True, "timeout")


def test_words_of_hooks_are_no_part_of_a_result() -> None:
    """A hook's context hangs on the result with its brackets as entities; Preheat's own is known by its mark."""
    text = "Output: a\nProcess Group PGID: 7\n\n<hook_context>&lt;preheat-note&gt;try b</hook_context>"
    session = journal(answer("g1", "", [call("c1", output=text, tool="run_shell_command")]))
    ((_, result),) = joined(session)
    assert result is not None
    assert result.text == "a"
    assert [event.origin for event in session.events if isinstance(event, UserMessage)] == ["preheat"]
