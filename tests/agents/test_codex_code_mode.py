"""Codex's code mode: scripts are read as the calls they make, with what their outputs say of each.

Every rollout is read twice, whole and line by line with the state saved in between.
"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents.codex.reader import READER
from preheat.agents.codex.tools import DIALECT
from preheat.model.session import (
    LATE_ENDING,
    Other,
    Session,
    ToolCall,
    ToolResult,
    pair_calls_with_results,
)
from preheat.outcomes import judge
from tests.agents.codex_rollout import Rollout
from tests.agents.parsing import events_of, read_whole_and_in_pieces
from tests.agents.test_javascript import wild_scripts

LIST = 'const r = await tools.exec_command({cmd:"ls src","workdir":"/w/proj","yield_time_ms":10000}); '
TEST = 'const r = await tools.exec_command({cmd:"cargo test","yield_time_ms":1000}); text(JSON.stringify(r))'


def script(rollout: Rollout, call_id: str, text: str) -> Rollout:
    return rollout.item("custom_tool_call", call_id=call_id, name="exec", input=text)


def printed(
    rollout: Rollout,
    call_id: str,
    *texts: str,
    status: str = "completed",
    seconds: float = 0.1,
    kind: str = "custom_tool",
) -> Rollout:
    parts = [f"Script {status}\nWall time {seconds:.1f} seconds\nOutput:\n", *texts]
    output: Any = [{"type": "input_text", "text": part} for part in parts]
    return rollout.item(f"{kind}_call_output", call_id=call_id, output=output if texts else parts[0])


def command_value(output: str, **fields: Any) -> str:
    return json.dumps(
        {"chunk_id": "a1", "wall_time_seconds": 0.5, **fields, "original_token_count": 3, "output": output}
    )


def read(rollout: Rollout) -> Session:
    return read_whole_and_in_pieces(READER, rollout.data())


def read_one(text: str, *texts: str, **fields: Any) -> tuple[ToolCall, ToolResult]:
    """The one call of a script, with its result."""
    ((call, result),) = pair_calls_with_results(read(printed(script(Rollout(), "c", text), "c", *texts, **fields)))
    assert result is not None
    return call, result


def statuses(session: Session) -> list[str]:
    return [outcome.status for outcome in judge(session, DIALECT)]


def test_a_script_with_one_call_is_that_call() -> None:
    call, result = read_one(f"{LIST}text(r.output)", "main.rs\n")
    assert (call.call_id, call.tool, call.kind, call.script) == ("c", "exec_command", "shell", "exec")
    assert call.input == {"cmd": "ls src", "workdir": "/w/proj", "yield_time_ms": 10000}
    assert (result.text, result.exit_code, result.is_error, result.seconds) == ("main.rs\n", None, None, 0.1)
    assert result.model_text == "Script completed\nWall time 0.1 seconds\nOutput:\nmain.rs\n"


@pytest.mark.parametrize(
    ("end", "texts"),
    [
        ("text(JSON.stringify(r))", [command_value("no such file", exit_code=2)]),
        ("text(JSON.stringify({exit_code:r.exit_code,output:r.output}))", ['{"exit_code":2,"output":"no such file"}']),
        ("text(r.output);text(`EXIT=${r.exit_code}`)", ["no such file", "EXIT=2"]),
        (
            "const {output,...rest}=r;text(rest);text(output)",
            ['{"wall_time_seconds":0.5,"exit_code":2}', "no such file"],
        ),
    ],
)
def test_the_exit_code_is_read_where_the_script_prints_it(end: str, texts: list[str]) -> None:
    _, result = read_one(LIST + end, *texts)
    assert (result.text, result.exit_code) == ("no such file", 2)


def test_a_number_that_the_command_printed_is_no_exit_code() -> None:
    _, result = read_one(f"{LIST}text(r.output)", "exit: 2")
    assert (result.text, result.exit_code) == ("exit: 2", None)


def test_a_value_that_was_cut_still_has_its_exit_code() -> None:
    whole = command_value("a" * 50, exit_code=1)
    cut = f"Warning: truncated output (original token count: 9)\nTotal output lines: 1\n\n{whole[:-20]}"
    _, result = read_one(f"{LIST}text(JSON.stringify(r))", cut)
    assert (result.exit_code, set(result.text)) == (1, {"a"})


def test_a_patch_in_a_script_is_an_edit_that_worked() -> None:
    patch = "*** Begin Patch\n*** Update File: a.rs\n*** End Patch"
    call, result = read_one(f"const patch = {json.dumps(patch)};\ntext(await tools.apply_patch(patch));", "{}")
    assert (call.tool, call.kind, call.input) == ("apply_patch", "edit", {"text": patch})
    assert (result.text, result.is_error) == ("{}", False)


def test_a_tool_that_failed_is_the_failure_of_its_call() -> None:
    error = "Script error:\napply_patch verification failed: Failed to find expected lines in a.rs"
    call, result = read_one("text(await tools.apply_patch('*** Begin Patch'))", error, status="failed")
    assert (call.tool, result.is_error) == ("apply_patch", True)
    assert result.text == "apply_patch verification failed: Failed to find expected lines in a.rs"


def test_a_script_without_calls_stays_a_call_of_its_own() -> None:
    call, result = read_one("text(ALL_TOOLS.length)", "12")
    assert (call.tool, call.kind, call.script, call.input) == ("exec", "other", "", {"text": "text(ALL_TOOLS.length)"})
    assert (result.text, result.is_error) == ("12", None)


def test_several_calls_get_their_own_ids_and_texts() -> None:
    text = (
        "text(await tools.apply_patch('*** Begin Patch'));\n"
        'const r = await tools.exec_command({cmd:"cargo fmt"}); text(JSON.stringify(r));'
    )
    session = read(printed(script(Rollout(), "c", text), "c", "{}", command_value("Diff", exit_code=1)))
    found = [(call.call_id, call.tool, result and result.text) for call, result in pair_calls_with_results(session)]
    assert found == [("c/1", "apply_patch", "{}"), ("c/2", "exec_command", "Diff")]
    assert statuses(session) == ["ok", "failed"]


def test_what_ran_before_a_script_failed_has_its_result_and_what_did_not_run_has_none() -> None:
    text = "text(await tools.x({})); text(await tools.y({})); text(await tools.z({}))"
    rollout = printed(script(Rollout(), "c", text), "c", "fine", "Script error:\nno", status="failed")
    found = [
        (call.tool, result and (result.text, result.is_error))
        for call, result in pair_calls_with_results(read(rollout))
    ]
    assert found == [("x", ("fine", False)), ("y", ("no", True)), ("z", None)]


def test_commands_whose_outputs_cannot_be_told_apart_are_one_call() -> None:
    text = (
        "const rs = await Promise.all(['git status', 'git log -1'].map(cmd => tools.exec_command({cmd, workdir: '/w'})));"
        "text(rs.map(r => r.output).join('---'))"
    )
    call, result = read_one(text, "clean---abc")
    assert call.input == {"commands": ["git status", "git log -1"], "workdir": "/w"}
    assert (call.tool, call.script, result.text) == ("exec_command", "exec", "clean---abc")


def test_different_tools_that_cannot_be_told_apart_stay_a_script() -> None:
    text = "const a = await tools.x({}); const b = await tools.exec_command({cmd:'ls'}); text({a, b})"
    call, _ = read_one(text, "{}")
    assert (call.tool, call.input) == ("exec", {"text": text})


def test_a_command_that_outlives_its_look_is_running_until_a_later_look_sees_its_end() -> None:
    rollout = script(Rollout(), "c", TEST)
    printed(rollout, "c", command_value("Compiling", session_id=7))
    script(rollout, "p", 'const r = await tools.write_stdin({session_id:7,chars:""}); text(JSON.stringify(r))')
    printed(rollout, "p", command_value("test result: FAILED. 1 passed; 2 failed", exit_code=101))
    session = read(rollout)
    late = next(event for event in events_of(session, Other) if event.name == LATE_ENDING)
    assert late.raw == {"call_id": "c", "exit_code": 101, "told_by": "p"}
    command, look = judge(session, DIALECT)
    assert (command.status, command.exit_code, look.status) == ("failed", 101, "ok")
    assert command.signature.startswith("test result: FAILED")


def test_a_script_that_outlives_its_look_is_a_cell_that_wait_sees_end() -> None:
    rollout = script(Rollout(), "c", 'const r = await tools.exec_command({cmd:"cargo build"}); text(JSON.stringify(r))')
    printed(rollout, "c", status="running with cell ID 9", seconds=10.0)
    rollout.call("w", "wait", cell_id="9", yield_time_ms=1000)
    printed(rollout, "w", command_value("error: could not compile `a`", exit_code=101), kind="function")
    session = read(rollout)
    calls = events_of(session, ToolCall)
    assert [(call.tool, call.kind) for call in calls] == [("exec_command", "shell"), ("wait", "shell")]
    assert statuses(session) == ["failed", "ok"]


def test_a_command_that_was_stopped_has_no_ending() -> None:
    rollout = script(Rollout(), "c", TEST)
    printed(rollout, "c", command_value("", session_id=7))
    script(rollout, "p", 'const r = await tools.write_stdin({session_id:7,chars:"\\u0003"}); text(JSON.stringify(r))')
    printed(rollout, "p", command_value("", exit_code=130))
    assert statuses(read(rollout)) == ["unknown", "ok"]


def test_a_command_without_an_exit_code_that_took_all_its_time_is_still_running() -> None:
    text = 'const r = await tools.exec_command({cmd:"cargo test","yield_time_ms":1000}); text(r.output)'
    _, result = read_one(text, "Compiling", seconds=1.0)
    assert result.detail["running"]
    _, result = read_one(text, "Compiling", seconds=0.9)
    assert "running" not in result.detail


@pytest.mark.parametrize("form", ["event", "item"])
def test_the_programs_own_record_of_an_inner_call_joins_it(form: str) -> None:
    """Inner calls have ids of their own in it, so they join by tool and command."""
    text = (
        "const rs = await Promise.all([tools.exec_command({cmd:'a'}), tools.exec_command({cmd:'b'})]);"
        "for (const r of rs) text(r.output)"
    )
    rollout = script(Rollout(), "c", text)
    for name, code in (("b", 3), ("a", 0)):
        if form == "event":
            command = ["/bin/zsh", "-lc", name]
            rollout.event(
                "exec_command_end", call_id=f"exec-{name}", command=command, exit_code=code, status="completed"
            )
        else:
            rollout.done("CommandExecution", id=f"exec-{name}", command=name, exit_code=code, status="completed")
    session = read(printed(rollout, "c", "", ""))
    assert [result and result.exit_code for _, result in pair_calls_with_results(session)] == [0, 3]


def test_a_notification_of_a_script_is_not_its_output() -> None:
    rollout = script(Rollout(), "c", f"{LIST}notify('half'); text(r.output)")
    rollout.item("custom_tool_call_output", call_id="c", name="exec", output="half")
    ((_, result),) = pair_calls_with_results(read(printed(rollout, "c", "main.rs")))
    assert result is not None
    assert result.text == "main.rs"


def test_an_output_that_is_no_scripts_is_the_result_of_the_first_call() -> None:
    rollout = script(Rollout(), "c", f"{LIST}text(r.output)")
    rollout.item("custom_tool_call_output", call_id="c", output="aborted by user after 3.0s")
    assert statuses(read(rollout)) == ["interrupted"]


def test_an_agent_is_waited_for_as_before() -> None:
    rollout = Rollout().call("w", "wait", ids=["a"]).output("w", "done")
    (call,) = events_of(read(rollout), ToolCall)
    assert call.kind == "delegate"


PARTS = st.sampled_from(
    ["Script completed\nWall time 1.0 seconds\nOutput:\n", "Script failed", "{", '{"output":', "a", "EXIT=1", ""]
)


@settings(max_examples=60)
@given(st.lists(st.tuples(wild_scripts, st.lists(PARTS | st.text(max_size=20), max_size=4)), min_size=1, max_size=3))
def test_any_script_with_any_output_is_read_and_every_result_has_its_call(wild: list[tuple[str, list[str]]]) -> None:
    rollout = Rollout()
    for number, (text, texts) in enumerate(wild):
        script(rollout, f"c{number}", text + "; await tools.exec_command({cmd: 'ls'})")
        output = [{"type": "input_text", "text": part} for part in texts]
        rollout.item("custom_tool_call_output", call_id=f"c{number}", output=output)
    session = read(rollout)
    calls = [event.call_id for event in events_of(session, ToolCall)]
    assert len(calls) == len(set(calls)) >= len(wild)
    assert {event.call_id for event in events_of(session, ToolResult)} <= set(calls)
    assert len(judge(session, DIALECT)) == len(calls)
