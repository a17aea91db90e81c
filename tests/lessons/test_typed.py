"""Shell texts as the commands that were typed in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.calls.placeholders import generalise
from preheat.lessons.typed_commands import folder_after_cd, split_commands


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


@given(st.text(_LETTERS, max_size=300) | st.text(alphabet="ab 'c\"|&;<>()$`\\\n-/.=#{}", max_size=120))
def test_any_text_can_be_split(text: str) -> None:
    """No text breaks it, and what comes out is one line of the text's own words."""
    for command in split_commands(text):
        assert "\n" not in command.text
        assert all((command.text, command.way, command.core, command.form))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"go test ./a -run TestOne -v": 1, "go test ./b -run TestTwo -v": 1}, "go test PATH -run NAME -v"),
        ({"pnpm --filter web test": 1, "pnpm --filter api test": 1}, "pnpm --filter PACKAGE test"),
        ({"pytest tests/a.py": 1, "pytest tests/b.py": 1}, "pytest PATH.py"),
        ({"jest --testNamePattern=one": 1, "jest --testNamePattern=two": 1}, "jest --testNamePattern=NAME"),
        ({"vet ./a/... ./b/...": 1, "vet ./c/... ./d/...": 1}, "vet ./FOLDER/..."),
        ({"run.py one two": 1, "run.py three four": 1}, "run.py NAME"),
        ({"make lint": 4}, "make lint"),
        ({}, ""),
    ],
)
def test_varying_words_become_placeholders(texts: dict[str, int], expected: str) -> None:
    """Words that differ from call to call are named by what they are; the others stay."""
    assert generalise(texts) == expected


@given(st.dictionaries(st.text(alphabet="abc -=/.'\"", min_size=1, max_size=40), st.integers(1, 5), max_size=8))
def test_generalising_is_the_same_in_any_order(texts: dict[str, int]) -> None:
    """The order in which sessions come changes nothing."""
    assert generalise(texts) == generalise(dict(reversed(texts.items())))
