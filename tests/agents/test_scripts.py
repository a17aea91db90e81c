"""Scripts that hold calls: the calls that a script makes, and which text that it prints belongs to which of them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.agents.scripts import ScriptCall, read_script, split_texts
from tests.agents.test_javascript import FRAGMENTS, plain_texts, values, wild_scripts
from tests.growth import grows_in_proportion

arguments = st.dictionaries(plain_texts, values, max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["exec_command", "apply_patch", "mcp__a__b"]), arguments), max_size=4))
def test_calls_with_literal_arguments_are_read_as_they_are(calls: list[tuple[str, dict[str, Any]]]) -> None:
    lines = [f"const r{number} = await tools.{tool}({json.dumps(each)});" for number, (tool, each) in enumerate(calls)]
    script = "\n".join([*lines, *(f"text(r{number}.output);" for number in range(len(calls)))])
    found = read_script(script)
    assert found.calls == tuple(ScriptCall(tool, each) for tool, each in calls)
    assert found.printed == tuple(range(len(calls)))


@pytest.mark.parametrize(
    ("script", "argument"),
    [
        (
            'const r = await tools.exec_command({cmd:"ls","workdir":"/w"}); text(r.output)',
            {"cmd": "ls", "workdir": "/w"},
        ),
        ('const patch = "*** Begin";\ntext(await tools.apply_patch(patch));', "*** Begin"),
        ("const cmd = 'ls'; const workdir = `/w`\nawait tools.x({cmd, workdir})", {"cmd": "ls", "workdir": "/w"}),
        ("await tools['x']({a: 1})", {"a": 1}),
        ("await tools?.x?.({a: 1})", {"a": 1}),
        ("let{output,...rest}=await tools.x({a:1});text(rest);text(output)", {"a": 1}),
        ("await tools.x()", None),
        ("// tools.no()\nawait tools.x('tools.no()') /* tools.no() */", "tools.no()"),
        ("const p = ['a', 'b'].join('\\n'); await tools.x(p)", "a\nb"),
    ],
)
def test_one_call_is_found_in_every_form(script: str, argument: Any) -> None:
    (call,) = read_script(script).calls
    assert (call.argument, call.whole) == (argument, True)


@pytest.mark.parametrize(
    "script",
    [
        "let cmd = 'a'; cmd += 'b'; await tools.x(cmd)",
        "for (const cmd of list) await tools.x(cmd)",
        "const f = cmd => tools.x(cmd); const cmd = 'a';",
        "const cmd = 'a'; const f = (cmd) => tools.x(cmd);",
        "function f(cmd) { return tools.x(cmd) } const cmd = 'a'",
        "await tools.x(cmd); const cmd = 'a'",
        "const cmd = cmd; await tools.x(cmd)",
        "const {cmd} = load('a'); await tools.x(cmd)",
    ],
)
def test_a_name_that_is_not_bound_once_to_a_literal_before_has_no_value(script: str) -> None:
    (call,) = read_script(script).calls
    assert call == ScriptCall("x", None, whole=False)


@pytest.mark.parametrize(
    "script",
    [
        "const cmds = ['a', 'b']; const out = await Promise.all(cmds.map(async cmd => (await tools.x({cmd})).output));",
        "for (const cmd of ['a', 'b']) { const r = await tools.x({cmd}); text(r.output); }",
        "await Promise.all([['1', 'a'], ['2', 'b']].map(async ([name, cmd]) => tools.x({cmd})))",
    ],
)
def test_a_loop_over_literals_makes_a_call_for_each(script: str) -> None:
    found = read_script(script)
    assert [call.argument for call in found.calls] == [{"cmd": "a"}, {"cmd": "b"}]
    assert found.printed is None


@pytest.mark.parametrize(
    ("end", "printed"),
    [
        ("const rs = await Promise.all([A, B]); for (const r of rs) text(r.output);", (0, 1)),
        ("const rs = await Promise.all([A, B]); rs.forEach(text)", (0, 1)),
        ("const rs = await Promise.all([A, B]); rs.forEach((r, i) => text(`${i}: ${r.output}`))", (0, 1)),
        (
            "const rs = await Promise.all([A, B]); for (const r of rs) { text(r.output); text(r.exit_code) }",
            (0, 0, 1, 1),
        ),
        ("const [a, b] = await Promise.all([A, B]); text(b.output); text(a.output)", (1, 0)),
        ("text(await A); const r = await B; text(JSON.stringify(r))", (0, 1)),
        ("await A; const r = await B; const shown = r.output.slice(3); text(shown)", (1,)),
        ("const a = await A; const b = await B; text(a.output); if (b.session_id) text(b.session_id)", (0,)),
        ("const a = await A; const b = await B; text(a.output + b.output)", None),
        ("const a = await A; if (a.ok) { const b = await B; text(b) }", None),
        ("const a = await A; const b = await B; text('done')", None),
        ("for (;;) { text(await A); text(await B) }", None),
    ],
)
def test_a_printed_text_belongs_to_the_call_whose_result_it_names(end: str, printed: tuple[int, ...] | None) -> None:
    script = end.replace("A", "tools.x({a: 1})", 1).replace("B", "tools.y({b: 1})", 1)
    found = read_script(script)
    assert [call.tool for call in found.calls] == ["x", "y"]
    assert found.printed == printed


@given(st.lists(st.sampled_from([*FRAGMENTS, "tools.x(", "tools.y({"]), max_size=60).map("".join) | wild_scripts)
def test_any_text_can_be_read_and_its_prints_name_calls(script: str) -> None:
    found = read_script(script)
    assert all(0 <= call < len(found.calls) for call in found.printed or ())


@pytest.mark.parametrize(
    "piece",
    [
        *FRAGMENTS, "tools.x(", "tools.x({", "const a = ", "const a = await tools.x()", "text(", "text(a)", "for (const x of a) ",
        ").map(a=>", "[a].map(", "(a)=>", "((a)=>", "`${", "}`", "a=>{",
    ],
)  # fmt: skip
def test_the_time_grows_with_the_length_only(piece: str) -> None:
    begun = "const a = await tools.x({a: 1}); const b = await tools.y("
    grows_in_proportion(lambda script: read_script(begun + script), piece * 12_000)
    grows_in_proportion(
        lambda script: read_script(begun + "{}); " + script + ")=>" * (len(script) // len(piece))), piece * 12_000
    )


def test_texts_are_split_only_if_there_are_as_many_as_the_script_prints() -> None:
    assert split_texts((0, 1, 1), ["a", "b", "c"], 3) == [["a"], ["b", "c"], []]
    assert split_texts((0, 1), ["all of it"], 2) is None
