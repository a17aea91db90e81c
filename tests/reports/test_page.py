"""The report as a page: it needs no network, shows the measured values, and escapes all names."""

import re
from html import escape
from html.parser import HTMLParser

import pytest

from preheat.model.mistake import Mistake
from preheat.model.population import Population
from preheat.profiles.population import measure_population
from preheat.reports import PageContext, render_page
from tests.profiles.simulated import call, mixed, session, simulated

NASTY = "<script>alert(1)</script>\"'&\x1b[31m\u202e\x00</style><img src=x onerror=alert(1)>"
VOID = ("meta",)


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects elements and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def context(*mistakes: Mistake) -> PageContext:
    return PageContext("today", "", mistakes, {"flag": 90, "text": 10})


def measured() -> Population:
    return measure_population(*simulated(lambda *_: 0.1, mixed(60)))


def test_the_page_has_no_script_and_no_address() -> None:
    """Its content policy forbids everything else."""
    text = render_page(measured(), context())
    reader = read(text)
    assert reader.seen.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert {name for name, _ in reader.attributes}.isdisjoint({"src", "href", "onload", "onclick", "style"})
    assert not re.search(r"https?:|url\(|@import", text)
    assert "default-src 'none'" in text


def test_names_that_look_like_markup_are_escaped() -> None:
    """Projects, tools, models, agents and messages."""
    sessions = [session(number, 60, NASTY, NASTY, NASTY) for number in range(6)]
    calls = [call(number, place, place == 3, NASTY) for number in range(6) for place in range(1, 11)]
    mistake = Mistake(
        id="m1", title=NASTY, family=NASTY, cause="mistake", signatures=(NASTY,), tools=(NASTY,), calls=2, sessions=("a", "b"),
        seconds=90.0, tokens=0, agents=(NASTY,), projects=(NASTY,), first_seen=None, last_seen=None, recovered=0,
        repair=None, occurrences=(),
    )  # fmt: skip
    text = render_page(measure_population(sessions, calls), context(mistake))
    reader = read(text)
    assert reader.seen.isdisjoint({"script", "img"})
    assert "&lt;script&gt;" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)


def test_the_page_shows_rates_intervals_and_the_conclusion() -> None:
    found = measured()
    text = render_page(found, context())
    for cell in (*found.marathon.buckets, *found.tools.cells):
        assert cell.errors.value is not None
        assert f"{100 * cell.errors.value:.1f} %" in text
        assert cell.errors.low is not None
        assert f"{100 * cell.errors.low:.1f}–" in text
    assert escape(found.marathon.conclusion) in text
    assert "90 calls (90 %)" in text
    assert "nan" not in text.lower()


@pytest.mark.parametrize("calls", [0, 1, 40])
def test_a_page_is_made_of_little_data(calls: int) -> None:
    """No call, one call, one session."""
    found = measure_population([session(1, 80)], [call(1, place + 1, place % 2 == 0) for place in range(calls)])
    text = render_page(found, PageContext("today", "agent x", (), {}))
    read(text)
    assert escape(found.marathon.conclusion) in text
    assert "agent x" in text
