"""The documentation shows what the program does."""

import filecmp
import os
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from preheat.lessons.learners import LEARNERS
from preheat.testing.builders import ClaudeTranscript
from scripts.make_docs import PAGE, PYTHON, demonstration, page, python_page
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
LESSONS_AND_SEEDS = (("concepts", "lessons.md"), ("reference", "seeds.md"))
GROUPS = ("sessions", "lessons", "warm", "experiment", "lab", "dataset")
"""Commands that have commands of their own."""


def text(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def test_the_page_of_commands_is_up_to_date() -> None:
    """Run `python scripts/make_docs.py` after changing a command."""
    assert text(PAGE) == page()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_links_have_a_target(path: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", text(path)):
        if not target.startswith("http"):
            assert os.path.exists(os.path.join(os.path.dirname(path), target)), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: os.path.relpath(path, CHECKOUT))
def test_commands_and_options_in_pages_exist(path: str) -> None:
    known = _sections(text(PAGE))
    for line in re.findall(r"`?(?:^|\$ |`)(preheat [a-z][^`\n#]*)", text(path), flags=re.MULTILINE):
        for one in re.split(r" && |; ", line):
            words = one.split()
            if words[0] != "preheat":
                continue
            command = " ".join(words[:3]) if words[1] in GROUPS and len(words) > 2 else " ".join(words[:2])
            command = re.sub(r"[|].*", "", command).strip()
            assert command in known, line
            for option in re.findall(r" (--[a-z-]+)", one.partition(" -- ")[0]):
                assert option in known[command], line


def _sections(commands: str) -> dict[str, str]:
    """By command, its help."""
    parts = re.split(r"^## `(.*)`$", commands, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_learner_is_documented() -> None:
    lessons, seeds = (text(os.path.join(CHECKOUT, "docs", *name)) for name in LESSONS_AND_SEEDS)
    for learner in LEARNERS:
        assert f"**{learner.name}.**" in lessons
        assert f"| `{learner.name}` |" in seeds


def test_modules_that_the_page_of_seeds_names_exist() -> None:
    """Its last column is a path below the package."""
    for row in re.findall(r"^\|.*\|$", text(os.path.join(CHECKOUT, "docs", "reference", "seeds.md")), re.MULTILINE):
        folder = ""
        for name in re.findall(r"`([\w/]+(?:\.py)?)`", row.split(" | ")[-1]):
            place = os.path.join(CHECKOUT, "src", "preheat", name)
            assert os.path.exists(place) or os.path.exists(os.path.join(folder, name)), row
            folder = os.path.dirname(place)


def test_python_blocks_of_the_pages_run(tmp_path: Any) -> None:
    for path in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", text(path), flags=re.DOTALL)
        if blocks:
            done = _run("\n".join(blocks), tmp_path / os.path.basename(path))
            assert done.returncode == 0, f"{path}\n{done.stderr}"


def test_the_python_page_names_every_function() -> None:
    from preheat.app import Preheat

    told = text(PYTHON)
    for name, value in vars(Preheat).items():
        if not name.startswith("_"):
            assert (f"home.{name}`" if isinstance(value, property) else f"home.{name}(") in told, name


def test_the_tables_of_the_python_page_are_up_to_date() -> None:
    """Run `python scripts/make_docs.py` after adding a method."""
    assert text(PYTHON) == python_page(text(PYTHON))


def _run(code: str, folder: Any) -> "subprocess.CompletedProcess[str]":
    home = folder / "home"
    for number in range(1, 9):
        _worked(number).write(str(home / ".claude" / "projects"))
    environment = {"HOME": str(home), "PREHEAT_HOME": str(folder / "archive"), "PATH": os.environ["PATH"]}
    source = os.path.join(CHECKOUT, "src")
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONPATH": source},
        cwd=home,
        capture_output=True,
        text=True,
    )


def _worked(number: int) -> ClaudeTranscript:
    """A session of a project `shop`, of the last days: lessons fade."""
    session = f"{number:08x}-1111-4000-8000-000000000000"
    started = time.time() - (10 - number) * 86400
    folder = "/home/dev/shop"
    return (
        ClaudeTranscript(session=session, project=folder, started=started)
        .prompt(f"Make discount number {number} work")
        .answer("I run the tests.")
        .ran("npm test", 'npm error Missing script: "test"', 1)
        .answer("Another way.")
        .ran("pnpm run test:unit", f"Tests  {number + 40} passed")
        .answer("I change it.")
        .call("Edit", {"file_path": f"{folder}/src/cart.ts", "old_string": "0", "new_string": f"{number}"})
        .result("The file has been updated.")
        .answer("Once more.")
        .ran("pnpm run test:unit", f"Tests  {number + 41} passed")
        .answer("Done.")
    )


def test_the_demo_in_the_readme_is_the_real_output() -> None:
    """Dates, times and sizes aside."""
    shown = re.search(r"<!-- demo -->\n```console\n(.*?)```", text(os.path.join(CHECKOUT, "README.md")), re.DOTALL)
    assert shown is not None
    real = {plain(line) for line in demonstration().splitlines()}
    for line in shown[1].splitlines():
        assert plain(line) in real, line


def plain(line: str) -> str:
    return re.sub(r"[\d.,:]+ ?(?:KB|MB|B|ms|s)?\b|\s+", " ", line).strip()


def test_the_first_commands_of_the_readme_exist() -> None:
    block = re.search(r"```sh\n(.*?)```", text(os.path.join(CHECKOUT, "README.md")), re.DOTALL)
    assert block is not None
    assert [line.split("#")[0].strip() for line in block[1].strip().splitlines()] == ["./dev demo", "./dev test"]
    assert "./dev test" in text(os.path.join(CHECKOUT, ".ci", "run"))


def test_the_samples_are_the_recorded_sessions() -> None:
    samples = os.path.join(CHECKOUT, "src", "preheat", "samples")
    fixtures = _files(os.path.join(TESTS, "fixtures"))
    for path, name in _files(samples):
        twins = [other for other, found in fixtures if found == name]
        assert any(filecmp.cmp(path, other, shallow=False) for other in twins), name


def _files(root: str) -> list[tuple[str, str]]:
    return [(os.path.join(folder, name), name) for folder, _, names in os.walk(root) for name in names]
