"""Python scripts that hold calls: the calls with the arguments that the text states, and any text can be read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.agents.hermes.hooks import HOOKS
from preheat.agents.hermes.tools import call_in_script
from preheat.agents.python_scripts import read_python_script
from preheat.agents.scripts import ScriptCall

TOOLS = {"terminal": ("command", "timeout"), "read_file": ("path",)}
PIECES = (
    "terminal(",
    "read_file(",
    ")",
    "'a'",
    "x",
    " = ",
    "\n",
    "f'{",
    "}'",
    "+",
    "for x in y:\n ",
    ",",
    "\\d",
    "\0",
    "(" * 300,
)
IMPORT = "from hermes_tools import terminal, read_file\n"


@pytest.mark.parametrize(
    ("code", "argument", "whole"),
    [
        ("print(terminal('ls -la', timeout=5)['output'])", {"command": "ls -la", "timeout": 5}, True),
        ("folder = 'src'\nr = terminal(f'ls {folder}')", {"command": "ls src"}, True),
        ("import hermes_tools\nhermes_tools.terminal(command='a' 'b')", {"command": "ab"}, True),
        ("for name in names:\n    terminal(f'cat {name}')", {"command": "cat ${name}"}, False),
        ("terminal('cat ' + quote(name))", {"command": "cat ${…}"}, False),
        ("terminal(build(), 5)", {"timeout": 5}, False),
        ("x = 'a'\nx = 'b'\nterminal(x)", {}, False),
    ],
)
def test_a_call_has_what_the_text_states(code: str, argument: dict[str, Any], whole: bool) -> None:
    assert read_python_script(IMPORT + code, TOOLS).calls == (ScriptCall("terminal", argument, whole),)


@pytest.mark.parametrize(
    "code", ["", "print('terminal')", "terminal(", "def terminal(): pass", "x" * 300_000 + "terminal("]
)
def test_a_script_without_calls_that_can_be_read_has_none(code: str) -> None:
    assert read_python_script(code, TOOLS).calls == ()


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_can_be_read(code: str) -> None:
    assert all(call.tool in TOOLS for call in read_python_script(code, TOOLS).calls)


@pytest.mark.parametrize(
    ("code", "tool", "arguments"),
    [
        ("print(terminal('make test')['output'])", "terminal", {"command": "make test"}),
        ("write_file('a.py', 'x = 1')", "write_file", {"path": "a.py", "content": "x = 1"}),
        ("terminal('git add .', workdir='/w')\nterminal('git commit', workdir='/w')", "terminal",
         {"commands": ["git add .", "git commit"], "workdir": "/w"}),
    ],
)  # fmt: skip
def test_a_script_of_hermes_is_the_call_that_it_makes(code: str, tool: str, arguments: dict[str, Any]) -> None:
    assert call_in_script({"code": IMPORT + code}) == (tool, arguments)


def test_different_calls_of_one_script_stay_the_script() -> None:
    arguments = {"code": "terminal('ls')\nread_file('a.py')"}
    assert call_in_script(arguments) == ("execute_code", arguments)


def test_a_hook_of_hermes_says_the_same_of_a_script_as_the_reader() -> None:
    body = {
        "hook_event_name": "post_tool_call", "session_id": "s", "tool_name": "execute_code",
        "tool_input": {"code": "terminal('make test')"},
        "extra": {"tool_call_id": "c", "result": '{"status": "error", "output": "", "error": "Traceback", "exit_code": 1}'},
    }  # fmt: skip
    event = HOOKS.read(json.dumps(body).encode(), None)
    assert event is not None
    assert (event.tool, event.arguments, event.is_error) == ("terminal", {"command": "make test"}, True)
