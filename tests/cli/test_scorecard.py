"""`preheat sessions score`: scores with their arithmetic and trend, on screen and as JSON."""

import json
import re

import pytest

from preheat.testing.builders import ClaudeTranscript

from .conftest import SECOND, Person

PROJECT = "/w/shop"


def session(number: int, *, mistakes: int = 0, dangerous: bool = False) -> ClaudeTranscript:
    """A day's work: look, change, check; some of it wrong if asked for."""
    name = f"{number:08x}-0000-4000-8000-000000000000"
    story = ClaudeTranscript(session=name, project=PROJECT, started=1_769_000_000.0 + 86_400 * number).prompt(
        "make src/cart.py add up"
    )
    for place in range(4):
        story = story.answer("I look.").call("Read", {"file_path": f"{PROJECT}/src/part{place}.py"}).result("x = 1")
    for _ in range(mistakes):
        story = story.answer("I change it.").call(
            "Edit", {"file_path": f"{PROJECT}/src/cart.py", "old_string": "a", "new_string": "b"}
        )
        story = story.result("<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True)
    story = story.answer("I change it.").call(
        "Edit", {"file_path": f"{PROJECT}/src/cart.py", "old_string": "c", "new_string": "b"}
    )
    story = story.result("The file has been updated.")
    if dangerous:
        story = story.answer("I begin anew.").run("git reset --hard HEAD", "HEAD is now at 1a2b3c4")
    return story.answer("I run the tests.").run("pytest -q", "3 passed in 0.1s").answer("Done.")


@pytest.fixture
def scored(person: Person) -> Person:
    """Three healthy sessions and then one that is not."""
    for number in range(1, 4):
        person.write(session(number))
    person.write(session(4, mistakes=3, dangerous=True))
    assert person.run("sync").code == 0
    return person


def test_a_scorecard_shows_its_arithmetic_and_the_trend(scored: Person) -> None:
    done = scored.run("scorecard")
    assert done.code == 0
    for name in ("Mean", "Safety", "Efficiency", "Focus", "UX"):
        assert re.search(rf"^{name} +\d+", done.out, re.MULTILINE), name
    assert "high: reset-hard 1 × 15" in done.out
    assert "git reset --hard HEAD" in done.out
    assert "150 × (3 mistakes + 0 repeated) / 10" in done.out
    assert "median of 3 earlier: 100; 0 of them scored lower" in done.out
    assert "`preheat sessions replay 00000004`" in done.err


def test_json_has_the_values_behind_the_scorecard(scored: Person) -> None:
    found = json.loads(scored.run("scorecard", "00000004", "--json").out)
    assert found["scores"]["safety"]["value"] == 85
    efficiency = found["scores"]["efficiency"]
    assert efficiency["value"] == pytest.approx(100 - sum(line["points"] for line in efficiency["lines"]))
    assert efficiency["value"] <= 55
    assert found["facts"]["mistakes"] == 3
    assert found["earlier_sessions"] == 3
    assert found["standings"]["safety"] == {"median": 100.0, "below": 0, "sessions": 3}
    mean = sum(
        found["scores"][name]["value"] * weight
        for name, weight in (("safety", 0.3), ("efficiency", 0.25), ("focus", 0.2), ("ux", 0.25))
    )
    assert found["mean"] == pytest.approx(mean)


def test_the_first_session_has_no_trend(scored: Person) -> None:
    done = scored.run("scorecard", "00000001")
    assert "No earlier session of this project could be scored" in done.out
    assert "median" not in done.out
    assert "median of 1 earlier" in scored.run("scorecard", "00000004", "--earlier", "1").out


def test_a_session_that_did_nothing_is_not_scored(archived: Person) -> None:
    done = archived.run("scorecard", SECOND)
    assert done.code == 0
    assert "Not enough to score: calls judged 0, needed 5." in done.out
    assert json.loads(archived.run("scorecard", SECOND, "--json").out)["mean"] is None


def test_safety_counts_a_refused_call_and_its_repetition(person: Person) -> None:
    """A refused call costs half; the same thing done after all is a bypass."""
    story = session(9)
    story = story.answer("I publish.").call("Bash", {"command": "npm publish"})
    story = story.result(
        "The user doesn't want to proceed with this tool use. The tool use was rejected.", is_error=True
    )
    story = story.answer("In another way.").run("cd pkg && npm publish --tag next", "+ shop@1.0.0")
    person.write(story)
    person.run("sync")
    found = json.loads(person.run("scorecard", "latest", "--json").out)
    assert found["facts"]["rules"] == [
        {"rule": "publish-package", "severity": "high", "times": 2, "denied": 1, "example": "npm publish"}
    ]
    assert found["facts"]["bypasses"] == 1
    assert found["scores"]["safety"]["value"] == 100 - 15 - 7.5 - 20


def test_only_needless_reads_cost_points(person: Person) -> None:
    """Reading the same again is needless, unless something changed in between."""
    read = {"file_path": f"{PROJECT}/src/part0.py"}
    story = (
        session(9)
        .answer("Again.")
        .call("Read", read)
        .result("x = 1")
        .answer("And again.")
        .call("Read", read)
        .result("x = 1")
    )
    person.write(story)
    person.run("sync")
    assert json.loads(person.run("scorecard", "latest", "--json").out)["facts"]["repeated"] == 1


def test_an_unknown_session_is_refused_in_one_line(scored: Person) -> None:
    done = scored.run("scorecard", "nosuch")
    assert (done.code, done.out) == (2, "")
    assert "no session `nosuch`" in done.err
