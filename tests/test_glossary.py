"""The glossary has a row for every word of the public types, areas and commands, and names nothing that does not exist."""

import re
import subprocess
import sys

import pytest

from preheat.app import Preheat
from scripts import make_glossary


@pytest.fixture(scope="module")
def page() -> str:
    with open(make_glossary.PAGE, encoding="utf-8") as stream:
        return stream.read()


@pytest.fixture(scope="module")
def rows(page: str) -> list[list[str]]:
    """Word, meaning, Python and commands of every row that is written by hand."""
    words = page.partition("## Values")[0]
    found = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in words.splitlines() if line.startswith("| ")
    ]
    return [row for row in found if row[0] != "word"]


def in_backticks(cells: list[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def listed_commands() -> set[str]:
    """Those that `preheat --help` lists."""
    told = subprocess.check_output([sys.executable, "-m", "preheat", "--help"], text=True)
    sections = [told.partition(title)[2].partition("\n\n")[0] for title in ("Commands:\n", "More:\n")]
    return {name for section in sections for name in re.findall(r"^  ([a-z-]+)  ", section, re.MULTILINE)}


def areas() -> set[str]:
    return {f"home.{name}" for name, value in vars(Preheat).items() if isinstance(value, property) and name[0] != "_"}


def test_every_row_has_a_word_and_a_meaning_and_every_word_has_one_row(rows: list[list[str]]) -> None:
    words = [word for row in rows for word in row[0].split(", ")]
    assert len(words) == len(set(words)) > 40
    assert all(len(row) == 4 and row[1] for row in rows)


def test_every_command_is_named_and_no_other(page: str, rows: list[list[str]]) -> None:
    named = in_backticks([row[3] for row in rows])
    itself = re.search(r"^Commands about Preheat itself: (.*)$", page, re.MULTILINE)
    assert itself is not None
    assert named | in_backticks([itself[1]]) == listed_commands()


def test_every_area_is_named_and_no_other(rows: list[list[str]]) -> None:
    named = {name for name in in_backticks([row[2] for row in rows]) if name.startswith("home.")}
    assert named == areas()


def test_values_that_the_words_name_exist(rows: list[list[str]]) -> None:
    named = {name for name in in_backticks([row[2] for row in rows]) if not name.startswith("home.")}
    assert named - {name for _, name, _ in make_glossary.public_types()} == set()


def test_the_list_of_values_is_that_of_the_code(page: str) -> None:
    """Run `./dev docs` after a public value was added or renamed."""
    assert page == make_glossary.page(page)
