"""The documentation cannot rot: what it shows is what the program does."""

import filecmp
import os
import re

import pytest

from scripts.make_docs import PAGE, demonstration, page
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
PAGES = [
    os.path.join(folder, name)
    for place in (CHECKOUT, os.path.join(CHECKOUT, "docs"))
    for folder, _, names in os.walk(place)
    if place != CHECKOUT or folder == CHECKOUT
    for name in names
    if name.endswith(".md")
]


def text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def test_the_page_of_commands_is_what_the_program_says() -> None:
    """Run `python scripts/make_docs.py` after changing a command."""
    assert text(PAGE) == page()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_links_lead_somewhere(path: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", text(path)):
        if not target.startswith("http"):
            assert os.path.exists(os.path.join(os.path.dirname(path), target)), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_commands_that_are_shown_exist(path: str) -> None:
    """Every `preheat WORD` in a page is a command, and its options are options of it."""
    known = text(PAGE)
    for line in re.findall(r"`?(?:^|\$ |`)(preheat [a-z][^`\n#]*)", text(path), flags=re.MULTILINE):
        words = line.split()
        command = " ".join(words[:3]) if words[1] == "sessions" and len(words) > 2 else " ".join(words[:2])
        command = re.sub(r"[|].*", "", command).strip()
        assert f"## `{command}`" in known, line
        for option in re.findall(r" (--[a-z-]+)", line):
            assert option in known, line


def test_the_readme_shows_the_real_demo() -> None:
    """The output in the README is the output of `preheat demo` (dates, times and sizes aside)."""
    shown = re.search(r"<!-- demo -->\n```console\n(.*?)```", text(os.path.join(CHECKOUT, "README.md")), re.DOTALL)
    assert shown is not None
    real = {plain(line) for line in demonstration().splitlines()}
    for line in shown[1].splitlines():
        assert plain(line) in real, line


def plain(line: str) -> str:
    return re.sub(r"[\d.,:]+ ?(?:KB|MB|B|ms|s)?\b|\s+", " ", line).strip()


def test_the_readmes_first_two_commands_are_the_developers_script() -> None:
    block = re.search(r"```sh\n(.*?)```", text(os.path.join(CHECKOUT, "README.md")), re.DOTALL)
    assert block is not None
    assert [line.split("#")[0].strip() for line in block[1].strip().splitlines()] == ["./dev demo", "./dev test"]
    assert "./dev test" in text(os.path.join(CHECKOUT, ".ci", "run"))


def test_samples_are_the_recorded_sessions() -> None:
    """What the demonstration shows was made by the real programs, like the fixtures."""
    samples = os.path.join(CHECKOUT, "src", "preheat", "samples")
    fixtures = _files(os.path.join(TESTS, "fixtures"))
    for path, name in _files(samples):
        twins = [other for other, found in fixtures if found == name]
        assert any(filecmp.cmp(path, other, shallow=False) for other in twins), name


def _files(root: str) -> list[tuple[str, str]]:
    return [(os.path.join(folder, name), name) for folder, _, names in os.walk(root) for name in names]
