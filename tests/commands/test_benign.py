"""Exit codes that are an answer."""

import os

import pytest

from preheat.commands import benign_answer, understand
from preheat.commands.benign import BENIGN, benign_table

DOCUMENT = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "concepts", "commands.md")


@pytest.mark.parametrize(
    ("text", "code", "answer"),
    [
        ("grep x f", 1, "empty"),
        ("grep x f", 2, None),
        ("grep x f", 0, None),
        ("cd a && rg x", 1, "empty"),
        ("cat f | grep x", 1, "empty"),
        ("grep x f | head", 1, None),
        ("grep x f || true", 1, None),
        ("pytest && grep x f", 1, None),
        ("ls && grep x f", 1, "empty"),
        ("find . -name x | xargs grep y", 123, "empty"),
        ("find . -name x | xargs grep y", 1, None),
        ("find . -exec grep x {} +", 1, "empty"),
        ("find . -name x", 1, None),
        ("git -C a grep x", 1, "empty"),
        ("diff a b", 1, "ok"),
        ("diff a b", 2, None),
        ("git diff --exit-code", 1, "ok"),
        ("git diff --no-index a b", 1, "ok"),
        ("git diff", 1, None),
        ("test -f x", 1, "ok"),
        ("[ -f x ]", 1, "ok"),
        ("[[ -f x ]]", 1, "ok"),
        ("[ -f x ] && echo y", 1, "ok"),
        ("which x", 1, "empty"),
        ("command -v x", 1, "empty"),
        ("command -v x", 127, "empty"),
        ("pgrep x", 1, "empty"),
        ("jq -e .x f", 1, "empty"),
        ("jq .x f", 1, None),
        ("git merge-base --is-ancestor a b", 1, "ok"),
        ("git check-ignore x", 1, "empty"),
        ("git config --get x.y", 1, "empty"),
        ("systemctl is-active x", 3, "ok"),
        ("pip show x", 1, "empty"),
        ("python -m pip show x", 1, "empty"),
        ("pip install x", 1, None),
        ("bash -lc 'grep x f'", 1, "empty"),
        ("grep x f &", 1, None),
        ("pytest", 1, None),
        ("", 1, None),
    ],
)
def test_benign_exit_codes_are_answers(text: str, code: int, answer: str | None) -> None:
    """Only the deciding command's code is an answer, and only where that program means it so."""
    assert benign_answer(understand(text), code) == answer


def test_every_row_of_the_benign_table_matches_a_command() -> None:
    """Each row of the table can be met: the plainest command of the row gives its answer."""
    for row in BENIGN:
        for program in row.programs:
            words = [program, *filter(None, [row.subcommand]), *row.flags[:1], "x"]
            closing = {"[": " ]", "[[": " ]]", "((": " ))"}.get(program, "")
            seen = understand(" ".join(words) + closing)
            assert all(benign_answer(seen, code) for code in row.codes), words


def test_every_benign_exit_code_is_in_the_documentation() -> None:
    """The page ends with the table that the code uses."""
    with open(DOCUMENT, encoding="utf-8") as page:
        assert page.read().rstrip().endswith(benign_table())
