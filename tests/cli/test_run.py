"""The command line as a whole: help, errors, pipes, colours, completion, and what it costs to start."""

import os
import pty
import subprocess
import sys

import click
import pytest

from preheat import __version__
from preheat.cli.command import LazyGroup
from preheat.cli.root import COMMANDS, root
from preheat.testing.builders import ClaudeTranscript
from tests.waiting import HUNG

from .conftest import Person


def all_commands() -> list[tuple[str, click.Command]]:
    """Every command with its full name."""
    found: list[tuple[str, click.Command]] = []

    def add(name: str, command: click.Command) -> None:
        found.append((name, command))
        if isinstance(command, click.Group):
            context = click.Context(command, info_name=name)
            for verb in command.list_commands(context):  # some groups import their commands only when called
                each = command.get_command(context, verb)
                assert each is not None
                add(f"{name} {verb}", each)

    add("preheat", root)
    return found


@pytest.mark.parametrize(("name", "command"), all_commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_has_help_with_examples_and_json(name: str, command: click.Command, person: Person) -> None:
    """`--help` has a sentence, examples that begin with `preheat`, and `--json` (groups show a list of commands instead)."""
    done = person.run(*name.split()[1:], "--help")
    assert done.code == 0
    assert "Examples:\n" in done.out
    assert f"  {name}" in done.out.split("Examples:")[1] or f'"$({name}' in done.out
    if isinstance(command, click.Group) and name != "preheat":
        assert "Commands:\n" in done.out
    else:
        assert "--json" in done.out


@pytest.mark.parametrize("width", [60, 110])
def test_notes_of_a_help_page_fit_the_window(width: int, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples are printed as they are, because they are copied."""
    monkeypatch.setenv("COLUMNS", str(width))
    for name, _ in all_commands():
        lines = person.run(*name.split()[1:], "--help").out.split("Examples:")[1].splitlines()
        assert [line for line in lines if not line.startswith(" ") and len(line) > width] == [], name


def test_help_does_not_list_old_names_of_options(person: Person) -> None:
    assert "--max-misuse" not in person.run("warm", "auto", "--help").out
    assert "--task" not in person.run("learn", "--help").out


def test_usage_puts_only_optional_arguments_in_brackets() -> None:
    for name, command in all_commands():
        context = click.Context(command, info_name=name)
        for each in command.params:
            if isinstance(each, click.Argument):
                (shown,) = each.get_usage_pieces(context)
                assert shown.startswith("[") is not each.required, (name, shown)


def test_the_table_of_commands_has_the_first_lines_of_their_help() -> None:
    """The table exists so that `--help` imports no command."""
    known = dict(all_commands())
    compared = 0
    for name, group in known.items():
        for verb, entry in group.table.items() if isinstance(group, LazyGroup) else ():
            assert entry.help == (known[f"{name} {verb}"].help or "").strip().split("\n")[0], (name, verb)
            compared += 1
    assert compared > len(COMMANDS)


def test_the_front_page_has_ten_commands() -> None:
    front = "sync sessions mistakes lessons where start install status report experiment"
    assert list(COMMANDS) == front.split()


def test_help_imports_no_command_and_nothing_heavy(person: Person) -> None:
    code = (
        "import sys; from preheat.cli import main; main(['--help']); print([m for m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for module in ("rich", "sqlalchemy", "msgspec", "zstandard", "re2", "preheat.cli.sessions"):
        assert f"'{module}'" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["sesions"], ["bogus"], ["sync", "--wat"], ["read"], ["read", "/nowhere"], ["sessions", "list"],
        ["sessions", "show", "abc"], ["export"], ["sessions", "list", "--since", "soon"], ["sync", "/nowhere"],
        ["export", "--all"], ["forget"], ["completion", "tcsh"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_usage_errors_are_one_line_without_a_traceback(arguments: list[str], person: Person) -> None:
    done = person.run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("preheat: ")
    assert len(done.err.splitlines()) == 1


def test_a_mistyped_command_gets_a_suggestion(person: Person) -> None:
    assert "did you mean `sessions`?" in person.run("sesions").err


def test_version_is_printed(person: Person) -> None:
    assert person.spawn("--version") == (0, f"preheat {__version__}\n", "")


def test_a_closed_pipe_ends_quietly(archived: Person) -> None:
    """`preheat sessions show … | head -1` is no error, however much was still to come."""
    command = f'"{sys.executable}" -m preheat sessions show 0f3c --full; echo "code $?" >&2'
    done = subprocess.run(f"{{ {command}; }} | head -1", shell=True, capture_output=True, text=True, timeout=HUNG)
    assert done.stdout.startswith("the migration test fails")
    assert done.stderr == "code 0\n"


def test_piped_output_has_no_escape_codes(archived: Person) -> None:
    for arguments in (
        ["sessions", "list"],
        ["sessions", "show", "latest"],
        ["sessions", "search", "migration"],
        ["doctor"],
        [],
    ):
        done = archived.spawn(*arguments, TERM="xterm-256color")
        assert "\x1b" not in done.out + done.err


def run_on_terminal(arguments: list[str], answer: bytes = b"", **environment: str) -> tuple[int, str]:
    """Run a command on a terminal of its own; exit code and all that was shown."""
    child, descriptor = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-m", "preheat", *arguments], {**os.environ, **environment})
    shown = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if answer and b"[y/N]" in shown:
            os.write(descriptor, answer)
            answer = b""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def test_a_terminal_gets_colours_unless_no_color_is_set(archived: Person) -> None:
    """NO_COLOR takes the colours away (bold may stay: it is none)."""
    assert "\x1b[36m" in run_on_terminal(["sessions", "list"], TERM="xterm-256color")[1]
    assert "\x1b[36m" not in run_on_terminal(["sessions", "list"], TERM="xterm-256color", NO_COLOR="1")[1]
    assert "\x1b" not in run_on_terminal(["sessions", "list"], TERM="dumb")[1]


def test_a_terminal_shows_progress_while_sessions_are_read(person: Person) -> None:
    """Sessions, MB/s and time left while it reads; the bar is gone when the summary is printed."""
    transcript = ClaudeTranscript(pace=0.01)
    for number in range(50):
        transcript = transcript.prompt(f"question {number}").answer("x" * 200_000)
    person.write(transcript)
    code, shown = run_on_terminal(["sync"], TERM="xterm-256color", COLUMNS="120")
    assert code == 0
    for text in ("Reading", "1 session", "MB/s", "left", "Claude Code"):
        assert text in shown
    assert "\x1b[?25h" in shown, "the cursor must come back"
    assert "Reading" not in run_on_terminal(["sync", "--quiet"], TERM="xterm-256color")[1]


def test_forget_asks_on_a_terminal(archived: Person) -> None:
    code, shown = run_on_terminal(["forget", "0f3c1a2b"], b"\n", TERM="dumb")
    assert code == 0
    assert "2 sessions will be deleted" in shown
    assert "agent-abc123" in shown
    assert "Nothing was deleted." in shown
    code, shown = run_on_terminal(["forget", "0f3c1a2b"], b"y\n", TERM="dumb")
    assert code == 0
    assert "2 sessions deleted from the archive" in shown


def test_marks_are_ascii_on_a_terminal_without_unicode(archived: Person) -> None:
    done = archived.spawn("sessions", "show", "0f3c1a2b", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert "x Bash" in done.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_completion_script(shell: str, person: Person) -> None:
    done = person.run("completion", shell)
    assert done.code == 0
    assert done.out.startswith("# To keep it")
    assert "_PREHEAT_COMPLETE" in done.out


def test_commands_agents_and_sessions_are_completed(archived: Person) -> None:

    def complete(words: str) -> str:
        return archived.spawn(_PREHEAT_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" "))).out

    assert "sessions" in complete("preheat se")
    assert "claude_code" in complete("preheat sync --agent cl")
    assert "0f3c1a2b-5d6e" in complete("preheat sessions show 0f")
    assert "latest" in complete("preheat sessions show l")


def test_completing_a_commands_name_imports_no_command() -> None:
    script = (
        "import sys; from preheat.cli import main\n"
        "try: main([])\n"
        "except SystemExit: pass\n"
        "print({'rich', 'msgspec', 'preheat.cli.live', 'preheat.cli.templates'} & set(sys.modules) or 'none')"
    )
    asked = {"_PREHEAT_COMPLETE": "zsh_complete", "COMP_WORDS": "preheat st", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **asked}, timeout=HUNG
    )
    assert done.stdout.startswith("plain\nstart\nPrint what a new session should know, for...\nplain\nstatus\n")
    assert done.stdout.endswith("none\n")
