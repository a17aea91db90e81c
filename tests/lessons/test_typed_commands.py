"""Shell texts as the commands that were typed in them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from preheat.calls.shell import command_aim, command_form
from preheat.commands import understand
from preheat.lessons.command_use import collect_commands
from preheat.lessons.occurrences import forms_in
from preheat.lessons.session_end import find_check_runs
from preheat.lessons.typed_commands import folder_after_cd, split_commands
from tests.lessons.sessions import ran, seen


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("npm test 2>&1 | tail -20", [("npm test", "")]),
        ("cd api && CI=1 npx vitest run > out.txt", [("CI=1 npx vitest run", "api")]),
        ("timeout 60 pytest -k 'a b' -q", [("pytest -k 'a b' -q", "")]),
        ("go build ./... && go test ./... | head -3", [("go build ./...", ""), ("go test ./...", "")]),
        ("cd a\ncd b\nmake lint", [("make lint", "a/b")]),
        ("cd a && cd .. && make lint", [("make lint", "")]),
        ("cd /elsewhere && make lint", []),
        ("cat <<'EOF' > x\nmake\nEOF", []),
        ("for f in *; do make $f; done", []),
        ("make $(nproc)", []),
        ("make --help", []),
        ("python -c 'print(1)'", []),
        ("pytest | python report.py", []),
    ],
)
def test_the_typed_commands_of_a_text_are_found(text: str, commands: list[tuple[str, str]]) -> None:
    """Folder, filters, redirections and time limits go; prefixes and quotes stay; a script gives nothing."""
    assert [(each.text, each.folder) for each in split_commands(text)] == commands


def test_the_starter_is_part_of_a_command_s_way() -> None:
    """`npx x`, `uv run x` and `x` are three ways to the same core, and the script belongs to its interpreter."""
    ways = [
        (each.way, each.core) for text in ("npx jest a", "uv run pytest b", "pytest c") for each in split_commands(text)
    ]
    assert ways == [("npx jest", "jest"), ("uv pytest", "pytest"), ("pytest", "pytest")]
    assert split_commands("python3 ./tests/run.py one")[0].core == "python tests/run.py"


@pytest.mark.parametrize(
    ("folder", "target", "after"),
    [
        ("", "src", "src"),
        ("a", "../b", "b"),
        ("a", "..", ""),
        ("", "..", None),
        ("", "/x", None),
        ("", "$X", None),
        (None, "a", None),
    ],
)
def test_a_folder_outside_of_the_project_is_unknown(folder: str | None, target: str, after: str | None) -> None:
    """Only folders of the project are known by a name that another session can use."""
    assert folder_after_cd(folder, target) == after


# Not beyond U+FFFF: the parser below reads memory that is not its own when such a letter follows a brace.
_LETTERS = st.characters(max_codepoint=0xD7FF)


_PIECES = st.sampled_from(
    [
        *(
            "-.",
            "--",
            "-",
            ".",
            "..",
            "./",
            "/",
            "…",
            "'",
            '"',
            "\\",
            "$x",
            "~",
            "=",
            "A=1",
            "-c",
            "-e",
            "-m",
            "-p",
            "@",
            "#",
            "!",
        ),
        *(
            "python",
            "python3.11",
            "node",
            "bash",
            "env",
            "timeout",
            "time",
            "npx",
            "uv",
            "npm",
            "go",
            "git",
            "cargo",
            "make",
        ),
        *(
            "cd",
            "pushd",
            "pytest",
            "tee",
            "cat",
            "head",
            "run",
            "test",
            "exec",
            "a/b.py",
            "./cmd/app",
            "b.ts",
            "x",
            "5",
        ),
        *("|", "||", "&", "&&", ";", "<", ">", "2>&1", "\n", "\t", "{", "}", "[", "]"),
    ]
)
_WILD = st.builds(lambda pieces, gap: gap.join(pieces), st.lists(_PIECES, max_size=8), st.sampled_from([" ", " ", ""]))


@settings(max_examples=400)
@given(_WILD | st.text(_LETTERS, max_size=300) | st.text(alphabet="ab 'c\"|&;<>()$`\\\n-/.=#{}", max_size=120))
@example("-.")
@example("env -. x")
@example("-. | head")
def test_any_text_can_be_split(text: str) -> None:
    """No text breaks it, and what comes out is one line of the text's own words. `-.` is a program named like an option."""
    for command in split_commands(text):
        assert "\n" not in command.text
        assert all((command.text, command.way, command.core, command.form))


@settings(max_examples=200)
@given(_WILD, st.booleans())
@example("-.", True)
@example("-.", False)
def test_notes_can_be_taken_of_any_command(text: str, failed: bool) -> None:
    """What looks at the words of a command finds some, or none, but never stumbles."""
    assert command_aim(text)
    assert bool(command_form(text)) == (understand(text).main is not None)
    assert all(forms_in(text))
    session = seen([ran(text, "-.: not found", 127) if failed else ran(text)])
    for used in collect_commands(session).used:
        assert all((used.way, used.core, used.form))
    for run in find_check_runs(session.calls, session.relative):
        assert run.command
