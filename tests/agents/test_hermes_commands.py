"""The plugin's commands and tool without Hermes: everything is passed to Preheat, and every failure becomes an answer."""

import argparse
import asyncio
import inspect
import json
import os
import stat
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.agents.hermes.plugin import commands, daemon, tool
from preheat.agents.hermes.plugin.daemon import Program
from preheat.tools.warm_session import WARM_SESSION
from tests.waiting import HUNG

ECHO = "import json, os, sys; print(json.dumps({'success': True, 'words': sys.argv[1:], 'given': sys.stdin.read()}))"


@pytest.fixture
def make_program(tmp_path: Any) -> Any:
    """Makes a program that runs a few lines of Python instead of Preheat."""

    def make(code: str) -> Program:
        path = tmp_path / f"python-{len(os.listdir(tmp_path))}"
        path.write_text(f"#!{sys.executable}\nimport sys\nsys.argv[1:] = sys.argv[4:]\n{code}\n", encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return Program(str(path))

    return make


class Registry:
    """What Hermes gives a plugin to register with, without the methods in `lacking`."""

    def __init__(self, *lacking: str) -> None:
        self.found: dict[str, Any] = {}
        for name in ("register_cli_command", "register_command", "register_tool"):
            if name not in lacking:
                setattr(self, name, self._taking(name))

    def _taking(self, name: str) -> Any:
        def take(*arguments: Any, **named: Any) -> None:
            self.found[name] = (arguments, named)

        return take


# In a shell.
@pytest.mark.parametrize(
    "words",
    [
        ["list", "--json"],
        ["--help"],
        ["-h"],
        [],
        ["test", "mine", "fix --it", "-p", "x", "--", "-y"],
        ["start", "--task", "-"],
        ["load", "--none"],
    ],
    ids=" ".join,
)
def test_every_word_is_passed_to_preheat(words: list[str]) -> None:
    """Also options that argparse would handle itself."""
    parser = argparse.ArgumentParser(prog="hermes")
    parser.add_argument("--model")
    below = parser.add_subparsers(dest="command")
    commands.take_everything(below.add_parser("warm"))
    assert parser.parse_args(["warm", *words]).words == words


@pytest.mark.parametrize(("code", "wanted"), [("0", 0), ("3", 3), ("-9", 137)])
def test_the_exit_code_is_that_of_preheat(make_program: Any, code: str, wanted: int) -> None:
    """A killed program has the exit code that a shell gives it."""
    kill = "import os; os.kill(os.getpid(), 9)" if code == "-9" else f"sys.exit({code})"
    with pytest.raises(SystemExit) as ended:
        commands.run_in_shell(make_program(kill), argparse.Namespace(words=["list"]))
    assert ended.value.code == wanted


def test_a_missing_interpreter_is_reported_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    """Preheat was moved or removed: the message names the command that repairs the plugin."""
    with pytest.raises(SystemExit) as ended:
        commands.run_in_shell(Program("/nowhere/python"), argparse.Namespace(words=["list"]))
    assert ended.value.code == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert "preheat install hermes" in error


def test_commands_that_an_older_hermes_lacks_are_left_out() -> None:
    for lacking in ("register_cli_command", "register_command"):
        registry = Registry(lacking)
        commands.register(registry, Program(sys.executable))
        assert set(registry.found) == {"register_cli_command", "register_command"} - {lacking}


# In a chat.
def test_a_command_in_a_chat_shows_its_output(make_program: Any) -> None:
    """Standard output and errors, without colours, at most as wide as the screen."""
    found = commands.run_typed(
        make_program(
            "import os; print(sys.argv[1:], os.environ['NO_COLOR'], os.environ['COLUMNS']); sys.exit('bad: x')"
        ),
        'show "my one"',
    )
    first, second = found.splitlines()
    assert first.startswith("['warm', 'show', 'my one'] 1 ")
    assert second == "bad: x"


def test_a_long_output_is_cut_with_a_hint(make_program: Any) -> None:
    """The cut is at the end of a line."""
    found = commands.run_typed(make_program("print('\\n'.join(f'line {n}' for n in range(5000)))"), "show x")
    assert len(found) < commands.LONGEST + 200
    assert found.splitlines()[-2].startswith("line ")
    assert "`hermes warm show x` in a shell shows all" in found.splitlines()[-1]


def test_a_command_that_takes_too_long_is_stopped(make_program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "SECONDS", 0.5)
    assert "was stopped" in commands.run_typed(make_program("import time; time.sleep(3600)"), "list")


@pytest.mark.parametrize("line", ["", "help", "--help", "warm", "warm help"])
def test_without_a_command_the_help_is_shown(line: str) -> None:
    """Nothing is started for it, and every command in it exists."""
    from preheat.cli.earlier_names import EARLIER
    from preheat.cli.templates import COMMANDS

    found = commands.run_typed(Program("/nowhere/python"), line)
    assert found == commands.HELP
    named = {each.split()[1] for each in found.splitlines() if each.startswith("  /warm ")}
    assert named <= {*COMMANDS, *(name.removeprefix("warm ") for name in EARLIER if name.startswith("warm "))}


@pytest.mark.parametrize("line", ["train x", "review x", "review x --accept", "show 'x"])
def test_commands_for_a_shell_are_refused_with_the_reason(line: str) -> None:
    """Commands that ask questions or run long, and unclosed quotation marks."""
    found = commands.run_typed(Program("/nowhere/python"), line)
    assert "shell" in found or "quotation" in found
    assert "/nowhere" not in found


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_typed_line_gives_a_text(line: str) -> None:
    assert commands.run_typed(Program("/nowhere/python"), line)


def test_a_gateways_event_loop_is_not_blocked(
    make_program: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs in a thread: here it ends only after the loop has run several times."""
    monkeypatch.setattr(commands, "SECONDS", HUNG)
    over = tmp_path / "over"
    slow = make_program(f"import os, time\nwhile not os.path.exists({str(over)!r}): time.sleep(0.01)\nprint('done')")

    async def typed() -> tuple[str, int]:
        found = commands.answer_typed(slow, None, "list")
        assert inspect.isawaitable(found)
        waiting, turns = asyncio.ensure_future(found), 0
        while not waiting.done():
            await asyncio.sleep(0.01)
            turns += 1
            if turns == 5:
                over.touch()
        return waiting.result(), turns

    text, turns = asyncio.run(typed())
    assert text == "done"
    assert turns >= 5
    assert commands.answer_typed(slow, None, "list") == "done"


def test_a_loaded_template_is_kept_for_the_next_turn(make_program: Any) -> None:
    """Once, for that chat only; not if loading failed, nothing fits, or it was for another project."""
    answers = "print(json.dumps({'success': True, 'context': 'text of ' + json.loads(sys.stdin.read())['name']}))"
    both = f"import json\nif sys.argv[1] == 'warm': print('loaded')\nelse: {answers}"
    broken = "if sys.argv[1] == 'warm': print('loaded')\nelse: sys.exit('preheat: it broke')"
    assert "goes on without it: preheat: it broke" in commands.run_typed(make_program(broken), "load mine", "s1")
    assert "next message" in commands.run_typed(make_program(both), "load mine@-1", "s1")
    assert commands.take_pending("s2") == ""
    assert commands.take_pending("s1") == "text of mine@-1"
    assert commands.take_pending("s1") == ""
    for code, line in (("sys.exit(2)", "load mine"), ("print('no JSON')", "load mine"), (both, "load"), (both, "load --none"),
                       (both, "load mine --project x"), (both, "show mine")):  # fmt: skip
        assert "next message" not in commands.run_typed(make_program(code), line, "s1")
        assert commands.take_pending("s1") == ""


class Chat:
    """The chat of the interactive program, as the plugin sees it."""

    def __init__(self, *history: str) -> None:
        self.session_id, self.conversation_history = "s7", list(history)


def test_a_loaded_template_is_kept_only_for_a_chat_that_has_begun(make_program: Any) -> None:
    """A chat that has not begun starts with the template anyway; a gateway does not say which chat is meant."""
    both = "import json\nif sys.argv[1] == 'warm': print('loaded')\nelse: print(json.dumps({'success': True, 'context': 'text'}))"
    for chat, wanted in ((Chat("hello"), "text"), (Chat(), ""), (None, "")):
        ctx = argparse.Namespace(_manager=argparse.Namespace(_cli_ref=chat))
        assert "loaded" in str(commands.answer_typed(make_program(both), ctx, "load mine"))
        assert commands.take_pending("s7") == wanted


# The tool.
def test_the_schema_is_that_of_preheats_own_tool() -> None:
    """The plugin has a copy, because its folder cannot import Preheat."""
    assert WARM_SESSION.schema == tool.PARAMETERS
    assert (WARM_SESSION.name, WARM_SESSION.description) == (tool.NAME, tool.DESCRIPTION)
    registry = Registry()
    tool.register(registry, Program(sys.executable))
    _, named = registry.found["register_tool"]
    assert named["schema"]["parameters"] == WARM_SESSION.schema


def test_arguments_are_passed_to_preheat_and_its_answer_is_returned(make_program: Any) -> None:
    """As JSON; the other arguments that Hermes gives a tool are ignored."""
    answer = json.loads(
        tool.answer_call(make_program(ECHO), {"action": "list", "name": "ü"}, task_id="t", session_id="s")
    )
    assert answer["words"] == ["tool", "warm_session", "-"]
    assert json.loads(answer["given"]) == {"action": "list", "name": "ü"}


@pytest.mark.parametrize(
    "code",
    ["print('no JSON')", "print('[]')", "print('{}')", "print('{\"success\": 1}')", "sys.exit('preheat: it broke')", "pass",
     "print('[' * 100000)", "print('{\"success\": true, \"x\": \"' + 'x' * 100000 + '\"}')", "sys.stdout.buffer.write(b'\\xff')"],
)  # fmt: skip
def test_an_invalid_answer_becomes_an_error_with_advice(make_program: Any, code: str) -> None:
    answer = json.loads(tool.answer_call(make_program(code), {"action": "list"}))
    assert answer["success"] is False
    assert answer["error"]
    assert "go on without" in answer["next"]


def test_a_program_that_does_not_start_or_end_becomes_an_error(
    make_program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "/nowhere/python" in json.loads(tool.answer_call(Program("/nowhere/python"), {"action": "list"}))["error"]
    monkeypatch.setattr(tool, "SECONDS", 0.5)
    assert "was stopped" in json.loads(tool.answer_call(make_program("import time; time.sleep(3600)"), {}))["error"]


@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.binary(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_arguments_get_an_answer(arguments: Any) -> None:
    """Also arguments that are not JSON."""
    answer = json.loads(tool.answer_call(Program("/nowhere/python"), arguments))
    assert answer["success"] is False


# Which program.
def test_the_file_in_the_plugins_folder_names_the_interpreter(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And Preheat's folder; if the file is missing or damaged, the running interpreter is used."""
    assert daemon.find_program(str(tmp_path)) == Program(sys.executable)
    for text in ("", "{", "[]", '{"interpreter": 3}', '{"interpreter": ""}'):
        (tmp_path / daemon.SETTINGS_FILE).write_text(text, encoding="utf-8")
        assert daemon.find_program(str(tmp_path)).interpreter == sys.executable
    (tmp_path / daemon.SETTINGS_FILE).write_text('{"interpreter": "/opt/p/python", "home": "/data"}', encoding="utf-8")
    found = daemon.find_program(str(tmp_path))
    assert found == Program("/opt/p/python", "/data")
    monkeypatch.delenv("PREHEAT_HOME", raising=False)
    monkeypatch.setenv("PYTHONPATH", "/hermes/lib")
    environment = found.environment()
    assert environment["PREHEAT_HOME"] == "/data"
    assert environment["PREHEAT_CALLER"] == "hermes"
    assert "PYTHONPATH" not in environment
    assert Program(sys.executable).environment()["PYTHONPATH"] == "/hermes/lib"


def test_a_file_of_the_project_is_not_run_in_place_of_a_module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs in the project's folder, where files may be named like modules."""
    for name in ("preheat.py", "click.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('not this one')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "data"))
    ended = daemon.run(Program(sys.executable), ["warm", "list", "--json"])
    assert (ended.code, ended.output) == (0, "[]\n"), ended.errors
