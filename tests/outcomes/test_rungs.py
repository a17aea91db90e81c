"""The rungs: which evidence decides, in which order, and what each of them makes of it."""

import pytest

from preheat.model.outcome import FAILURES, Dialect
from preheat.model.session import LATE_ENDING, Other, ToolCall, ToolResult
from preheat.outcomes import judge
from tests.outcomes.calls import judged, ran, session_of


def test_the_flag_decides_over_a_text_that_speaks_of_errors() -> None:
    outcome = judged(
        "Error handling in this module: see errors.py, all of it failed before", kind="read", is_error=False
    )
    assert (outcome.status, outcome.rung, outcome.cause, outcome.signature) == ("ok", "flag", None, "")


def test_a_flagged_failure_has_cause_and_signature() -> None:
    outcome = judged("File /home/x/a.py does not exist", kind="read", is_error=True)
    assert (outcome.status, outcome.rung, outcome.cause) == ("failed", "flag", "mistake")
    assert outcome.signature == "File PATH does not exist"


def test_a_call_without_a_result_is_unknown() -> None:
    (outcome,) = judge(session_of(ToolCall(line=1, call_id="a", tool="T", kind="read", input={})))
    assert (outcome.status, outcome.rung, outcome.confidence) == ("unknown", "none", 0.0)


def test_the_first_result_of_a_call_counts_and_results_out_of_order_are_joined() -> None:
    events = (
        ToolResult(line=1, call_id="b", text="", is_error=True),
        ToolCall(line=2, call_id="a", tool="T", kind="edit", input={}),
        ToolCall(line=3, call_id="b", tool="T", kind="edit", input={}),
        ToolResult(line=4, call_id="a", text="done", is_error=False),
        ToolResult(line=5, call_id="a", text="again", is_error=True),
    )
    assert [outcome.status for outcome in judge(session_of(*events))] == ["ok", "failed"]


def test_an_exit_code_decides_where_there_is_no_flag() -> None:
    assert ran("make", "all good", exit_code=0).status == "ok"
    outcome = ran("make", "make: *** [all] Error 2", exit_code=2)
    assert (outcome.status, outcome.rung, outcome.exit_code, outcome.cause) == ("failed", "exit_code", 2, "finding")


@pytest.mark.parametrize(
    ("command", "code", "status"),
    [
        ("grep -rn word src", 1, "empty"),
        ("rg word", 1, "empty"),
        ("diff a b", 1, "ok"),
        ("test -f a", 1, "ok"),
        ("which tool", 1, "empty"),
        ("grep -rn word src", 2, "failed"),
        ("pytest", 1, "failed"),
    ],
)
def test_a_code_that_is_an_answer_is_no_failure(command: str, code: int, status: str) -> None:
    assert ran(command, "", exit_code=code).status == status


def test_a_benign_code_beside_a_complaint_is_a_failure() -> None:
    outcome = ran("grep word nowhere/*.py", "grep: nowhere/a.py: No such file or directory", exit_code=1)
    assert (outcome.status, outcome.cause) == ("failed", "mistake")


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 3\nsomething went wrong",
        "<returncode>3</returncode>\n<output>\nsomething went wrong\n</output>",
        "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nsomething went wrong",
        "something went wrong\n\nCommand exited with code 3",
        "something went wrong\n<shell 7 completed with exit code 3>",
        "Output: something went wrong\nExit Code: 3\nSignal: 0\nProcess Group PGID: 12",
    ],
)
def test_an_exit_code_stated_around_an_output_counts_like_a_recorded_one(text: str) -> None:
    outcome = ran("./job", text)
    assert (outcome.status, outcome.rung, outcome.exit_code) == ("failed", "exit_code", 3)


def test_an_exit_code_in_the_middle_of_an_output_is_what_a_command_printed() -> None:
    text = "line one\nthe worker ended: exit code 3\n" + "line\n" * 300
    assert ran("./job", text).status == "ok"


def test_the_model_s_view_of_a_result_has_the_frame_that_the_reader_took_off() -> None:
    call = ToolCall(line=1, call_id="a", tool="Shell", kind="shell", input={"command": "./job"})
    result = ToolResult(line=2, call_id="a", text="nothing good", frame=("Exit code 4\n", ""))
    (outcome,) = judge(session_of(call, result))
    assert (outcome.status, outcome.exit_code) == ("failed", 4)


def test_a_command_that_ended_after_its_result_is_judged_by_how_it_ended() -> None:
    dialect = Dialect(fields={"running": "running"})
    call = ToolCall(line=1, call_id="a", tool="Shell", kind="shell", input={"command": "pytest"})
    result = ToolResult(line=2, call_id="a", text="collecting", detail={"running": "7"})
    ending = Other(line=3, name=LATE_ENDING, raw={"call_id": "a", "exit_code": 1})
    (before,) = judge(session_of(call, result), dialect)
    (after,) = judge(session_of(call, result, ending), dialect)
    assert (before.status, after.status, after.exit_code) == ("unknown", "failed", 1)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"error": "no such user"}', "failed"),
        ('{"error": null, "result": 3}', "ok"),
        ('{"success": false, "message": "quota exceeded"}', "failed"),
        ('{"success": true}', "ok"),
        ('{"status": "denied", "message": "not allowed"}', "denied"),
        ('{"status": "cancelled", "user": "u1", "flights": [1], "price": 4}', "ok"),
    ],
)
def test_a_value_that_reports_on_the_call_decides(text: str, status: str) -> None:
    assert judged(text).status == status


def test_a_value_that_a_tool_was_asked_to_show_does_not_report_on_the_call() -> None:
    text = '{"error": "broken pipe", "level": "warn", "at": 3, "host": "a", "pid": 4}'
    assert judged(text, kind="read").status == "ok"
    assert ran("cat log.json", text, exit_code=0).status == "ok"


def test_a_shell_s_own_envelope_counts_by_its_exit_code() -> None:
    outcome = ran("ls nowhere", '{"output": "ls: nowhere: No such file", "exit_code": 2, "error": null}')
    assert (outcome.status, outcome.rung, outcome.exit_code) == ("failed", "structure", 2)
    assert outcome.signature == "ls: nowhere: No such file"


def test_a_report_in_json_gives_its_message_to_the_signature() -> None:
    assert judged('{"error": "no user 12", "code": 4}', is_error=True).signature == "no user N"


@pytest.mark.parametrize("kind", ["read", "search", "web"])
def test_content_that_begins_like_an_error_is_content_unless_it_is_all_there_is(kind: str) -> None:
    long_text = "Error: the word this log begins with\n" + "and on it goes\n" * 100
    assert judged(long_text, kind=kind).status not in FAILURES  # type: ignore[arg-type]
    assert judged("Error: no access", kind=kind).status == "failed"  # type: ignore[arg-type]


def test_a_tool_that_says_it_failed_overrules_a_flag_that_only_says_it_ran() -> None:
    assert judged("Error: connection refused", is_error=False).status == "failed"
    assert judged("Error: connection refused", kind="read", is_error=False).status == "ok"


def test_nothing_found_is_empty_not_failed() -> None:
    assert judged("No matches found", kind="search", is_error=False).status == "empty"
    assert judged("", kind="search", is_error=False).status == "empty"
    assert judged('{"results": []}', tool="find_things", is_error=False).status == "empty"
    assert judged("ValueError: No letters found.", kind="search", is_error=True).status == "empty"


def test_confidence_falls_with_the_evidence() -> None:
    flag = judged("x", kind="read", is_error=False)
    text = judged("x", kind="read")
    assert flag.confidence > text.confidence > 0
