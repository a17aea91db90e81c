"""What a project's own instructions state: commands by meaning, wherever and however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.stated import command_parts, read_statements

TEXT = """\
# Notes

Run `uv run pytest` before you commit; the schema is in `db/schema.sql`. We like `pytest`.

```sh
$ cd web && pnpm run lint   # takes a minute
CI=1 npm run test -- --run
```

```python
make = "all"
```
"""


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("uv run pytest", 2),
        ("uv run pytest tests/unit -x", 2),
        ("pnpm run lint", 5),
        ("cd web && pnpm run lint", 5),
        ("npm test", 6),
        ("npm run test -- --run", 6),
        ("pytest", 2),
    ],
)
def test_a_command_is_stated_by_its_meaning(command: str, line: int) -> None:
    found = read_statements(TEXT).find_command(command)
    assert found is not None
    assert found.line == line


@pytest.mark.parametrize("command", ["pytest tests", "pnpm run build", "make = all", "npm install", "", "'open quote"])
def test_other_commands_are_not_stated(command: str) -> None:
    assert read_statements(TEXT).find_command(command) is None


def test_paths_in_code_are_stated() -> None:
    found = read_statements(TEXT)
    assert found.has_paths(["db/schema.sql"])
    assert not found.has_paths(["db/other.sql"])


def test_a_chain_is_taken_apart() -> None:
    assert command_parts("cd app && FOO=1 sudo make gen; npm run test | tail -3") == [
        ("make", "gen"), ("npm", "test"), ("tail", "-3"),
    ]  # fmt: skip


def test_a_cd_on_its_own_line_holds_for_the_rest_of_its_block() -> None:
    text = (
        "```sh\ncd web\nnpm run css\ncd ../api/ # the other\nmake gen\ncd ..\nmake all\ncd /tmp\nls\n```\n`npm test`\n"
    )
    found = {each.text: each.whole_text for each in read_statements(text).commands}
    assert found == {
        "npm run css": "cd web && npm run css", "make gen": "cd api && make gen", "make all": "make all", "ls": "ls",
        "npm test": "npm test",
    }  # fmt: skip


def test_a_block_that_is_never_closed_and_a_huge_line_are_read() -> None:
    assert read_statements("```sh\nmake gen\n").find_command("make gen") is not None
    assert read_statements("`" + "x" * 100_000 + "`").commands == ()


def test_what_a_text_advises_against_is_forbidden_and_not_stated() -> None:
    found = read_statements("Run `pnpm test` first. Never use `npm test`.\n")
    assert [each.text for each in found.commands] == ["pnpm test"]
    assert found.forbids("npm run test")
    assert not found.states("npm test")


def test_a_line_that_says_that_a_command_fails_does_not_state_it() -> None:
    """Such lines are what we propose: they must not be taken for a contradiction afterwards."""
    text = '- `cat -A` fails here: "illegal option"; `cat -vet` works\n<!-- Preheat: `npm test` has failed 8 of 8 times -->\n'
    found = read_statements(text)
    assert [each.text for each in found.commands] == ["cat -vet"]
    assert [each.text for each in found.forbidden] == ["cat -A", "npm test"]


@pytest.mark.parametrize(
    "command", ["pnpm lint", "cd web && pnpm lint", "uv run pytest", "npm test -- PLACE", "uv run NAME"]
)
def test_a_command_is_stated_as_it_is_or_with_more_behind_it(command: str) -> None:
    stated = read_statements(TEXT)
    assert stated.states(command) is (command != "npm test -- PLACE")
    assert not stated.states(f"{command} --more")


def test_several_texts_are_read_together_each_with_its_own_lines() -> None:
    found = read_statements("`make a`", "\n`make b` in `src/x.py`")
    assert [(each.line, each.text) for each in found.commands] == [(0, "make a"), (1, "make b"), (1, "src/x.py")]
    assert [(each.line, each.path) for each in found.places] == [(1, "src/x.py")]


@given(st.text())
def test_no_text_raises(text: str) -> None:
    read_statements(text).states(text)
