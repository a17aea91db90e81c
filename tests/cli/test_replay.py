"""`preheat replay` and `preheat why`: what they print, that JSON says the same, and what they say when there is nothing."""

import json
import re

import pytest

from preheat.app.live.signals import Timeline
from preheat.cli.live import advisories_per_hundred_turns
from preheat.testing.builders import ClaudeTranscript

from .conftest import Person

STUCK = "bbbbbbbb-0000-4000-8000-00000000000b"


def stuck_session() -> ClaudeTranscript:
    """Rounds of edit and build that end with the same error, then a passing one."""
    story = ClaudeTranscript(session=STUCK, project="/w/stuck", started=1_769_000_000.0).prompt(
        "Fix the borrow in src/cart.rs"
    )
    for number in range(6):
        story = story.call("Read", {"file_path": f"/w/stuck/src/part{number}.rs"}).result("fn main() {}")
    for number in range(6):
        change = {"file_path": "/w/stuck/src/cart.rs", "old_string": f"a{number}", "new_string": f"b{number}"}
        story = story.call("Edit", change).result("The file has been updated.")
        error = (
            "error[E0597]: `cart` does not live long enough\nerror: could not compile `shop` due to 1 previous error"
        )
        story = story.run("cargo build", error, exit_code=101)
    story = story.call("Edit", {"file_path": "/w/stuck/src/cart.rs", "old_string": "x", "new_string": "y"})
    story = story.result("The file has been updated.").run("cargo build", "    Finished dev")
    return story.answer("It builds.")


@pytest.fixture
def watched(archived: Person) -> Person:
    archived.write(stuck_session())
    assert archived.run("sync").code == 0
    return archived


def test_a_session_is_replayed_turn_by_turn(watched: Person) -> None:
    """Prompts, failures with their error, phases with their reason, signals that move, and the sum at the end."""
    done = watched.run("replay", STUCK[:8])
    assert done.code == 0
    assert "prompt: fix borrow" in done.out
    assert re.search(r"^ +\d+  \d\d:\d\d  \S Bash +cargo build .*(?:mistake|finding): .*E\d*N?", done.out, re.MULTILINE)
    assert re.search(r"productive: 5 turns are over", done.out)
    assert re.search(r"^ +loop > .+", done.out, re.MULTILINE)
    assert re.search(r"^20 turns: \d+ advisor", done.out, re.MULTILINE)
    assert "preheat why" in done.err


def test_all_shows_every_call(watched: Person) -> None:
    """Quiet calls are counted unless `--all` asks for them."""
    few, all_of_it = watched.run("replay", STUCK[:8]).out, watched.run("replay", STUCK[:8], "--all").out
    assert re.search(r"… \d+ calls?$", few, re.MULTILINE)
    assert not re.search(r"… \d+ calls?$", all_of_it, re.MULTILINE)
    assert all_of_it.count("part3.rs") == 1
    assert "part3.rs" not in few


def test_json_has_every_moment(watched: Person) -> None:
    found = json.loads(watched.run("replay", STUCK[:8], "--json").out)
    assert found["turns"] == 20
    calls = [moment for moment in found["moments"] if moment["event"]["type"] == "called"]
    assert len(calls) == 20
    assert {"focus", "loop", "debt", "trust", "phase"} <= set(calls[0]["signals"])
    assert found["advisories_per_100_turns"] == pytest.approx(100 * len(found["advisories"]) / 20, abs=0.01)
    advised = [advisory["signal"] for moment in found["moments"] for advisory in moment["advisories"]]
    assert "loop" in advised


def test_why_prints_the_numbers_of_a_turn(watched: Person) -> None:
    done = watched.run("why", f"{STUCK[:8]}:12")
    assert done.code == 0
    assert done.out.startswith("Turn 12 of 20, ")
    for signal in ("focus", "loop", "debt", "drift", "pressure", "mistake", "trust", "phase"):
        assert re.search(rf"^{signal}  \S+", done.out, re.MULTILINE)
    assert watched.run("why", STUCK[:8]).out.startswith("Turn 20 of 20, ")
    found = json.loads(watched.run("why", f"{STUCK[:8]}:12", "--json").out)
    assert (found["turn"], found["turns"], len(found["readings"])) == (12, 20, 8)


def test_an_unknown_turn_is_refused_in_one_line(watched: Person) -> None:
    done = watched.run("why", f"{STUCK[:8]}:99")
    assert done.code == 2
    assert "there is no turn 99" in done.err
    assert "20" in done.err


def test_a_session_without_problems_gets_no_advisory(archived: Person) -> None:
    quiet = ClaudeTranscript(session="cccccccc-0000-4000-8000-00000000000c", project="/w/quiet").prompt("Look around")
    archived.write(quiet.run("ls", "a.py").run("cat a.py", "x = 1").answer("There is one file."))
    archived.run("sync")
    assert "2 turns: no advisory" in archived.run("replay", "cccccccc").out


def test_a_session_without_turns_has_no_rate() -> None:
    assert advisories_per_hundred_turns(Timeline(session="s", agent="a", project="", turns=0, moments=())) == 0.0
