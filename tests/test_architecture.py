"""The layers of the package hold, imports are at the top, and ARCHITECTURE.md is up to date."""

import subprocess
import sys

import pytest

from scripts import architecture
from scripts.architecture import Import

MOST_INSIDE = 75
"""Imports within functions, in all of the package: fast paths that were measured, and what is optional."""


@pytest.fixture(scope="module")
def found() -> list[Import]:
    return architecture.imports()


def test_imports_follow_the_rules_of_the_layers(found: list[Import]) -> None:
    assert [str(each) for each in architecture.broken(found)] == []


@pytest.mark.parametrize(
    ("importer", "imported", "says"),
    [
        ("preheat.cli.sessions", "preheat.archive.queries", "goes round the application object"),
        ("preheat.daemon.engine", "preheat.live.state", "goes round the application object"),
        ("preheat.lessons.errors", "preheat.profiles.trace", "which `app` should hand over"),
        ("preheat.archive.connect", "preheat.app.sessions.archive", "knows the application above it"),
        ("preheat.agents.codex.reader", "preheat.outcomes.judge", "above it"),
        ("preheat.model.session", "preheat.agents", "is for everybody"),
        ("preheat.lessons.errors", "preheat.cli.text", "knows the surface"),
        ("preheat.app.sessions.archive", "preheat.testing.builders", "for tests only"),
    ],
)
def test_an_import_against_the_layers_is_found(importer: str, imported: str, says: str) -> None:
    (wrong,) = architecture.broken([Import(importer, imported, 1, inside=False, typing_only=False)])
    assert says in wrong.rule


def test_an_import_ring_of_any_length_is_found() -> None:
    names = [f"preheat.model.part{number}" for number in range(2_000)]
    around = [Import(one, other, 1, False, False) for one, other in zip(names, [*names[1:], names[0]], strict=True)]
    assert architecture.rings(around) == [sorted(names)]
    assert architecture.rings(around[:-1]) == []
    only_types = [*around[:-1], around[-1]._replace(typing_only=True)]
    assert architecture.rings(only_types) == []


def test_imports_within_functions_stay_few(found: list[Import]) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "PLC0415", "--ignore-noqa", "--output-format", "concise", "src"],
        capture_output=True, text=True, cwd=architecture.ROOT,
    ).stdout  # fmt: skip
    places = [line for line in listed.splitlines() if "PLC0415" in line]
    assert len(places) < MOST_INSIDE, "\n".join(places)
    assert len(places) >= sum(each.inside for each in found) > 0


def test_every_import_within_a_function_says_why() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "PLC0415", "--ignore-noqa", "--output-format", "concise", "src"],
        capture_output=True, text=True, cwd=architecture.ROOT,
    ).stdout  # fmt: skip
    without = []
    for line in listed.splitlines():
        if "PLC0415" in line:
            path, number, *_ = line.split(":")
            with open(f"{architecture.ROOT}/{path}", encoding="utf-8") as stream:
                text = stream.read().splitlines()[int(number) - 1]
            if "# noqa: PLC0415 - " not in text:
                without.append(f"{path}:{number}")
    assert without == []


def test_the_generated_parts_of_the_architecture_page_are_up_to_date() -> None:
    with open(architecture.PAGE, encoding="utf-8") as stream:
        page = stream.read()
    assert page == architecture.written(page, architecture.parts()), "run `python scripts/architecture.py`"


@pytest.mark.parametrize(
    ("walk", "passed"),
    [("transcript", ("cli", "app", "lessons", "archive")), ("hook", ("daemon", "app", "live", "agents"))],
)
def test_each_walk_of_the_page_goes_through_all_layers(walk: str, passed: tuple[str, ...]) -> None:
    """A walk that records nothing, because the process that it watches has gone, fails here."""
    with open(architecture.PAGE, encoding="utf-8") as stream:
        text = stream.read().partition(f"<!-- walk-{walk} -->")[2].partition(f"<!-- /walk-{walk} -->")[0]
    assert [part for part in passed if f"- **{part}**: `" not in text] == []
