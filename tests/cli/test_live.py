"""`preheat sessions replay`, `explain` and `watch`: signals and advisories of past and running sessions."""

import json
import os
import re
import time
from collections.abc import Sequence

import pytest
from rich.console import Console

from preheat.app.live.running import RunningSession
from preheat.app.live.signals import LiveSignals, Timeline
from preheat.cli.live import advisories_per_hundred_turns
from preheat.cli.watch import draw_sessions
from preheat.daemon.sessions import Sessions
from preheat.daemon_client import live_folder, prepare_folder
from preheat.live.advice import step
from preheat.live.signal import Thresholds
from preheat.live.state import START, LiveState
from preheat.model.live import Advisory, LiveEvent
from preheat.testing.builders import ClaudeTranscript
from tests.live.builders import asked, edited, read

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
    assert "prompt: Fix the borrow" in done.out
    assert re.search(r"^ +\d+  \d\d:\d\d  \S Bash +cargo build .*(?:mistake|finding): .*E\d*N?", done.out, re.MULTILINE)
    assert re.search(r"productive: 5 turns are over", done.out)
    assert re.search(r"^ +loop > .+", done.out, re.MULTILINE)
    assert re.search(r"^20 turns: \d+ advisor", done.out, re.MULTILINE)
    assert "preheat sessions explain" in done.err


def test_quiet_calls_are_shown_only_with_all(watched: Person) -> None:
    """Quiet calls are counted unless `--all` asks for them."""
    few, all_of_it = watched.run("replay", STUCK[:8]).out, watched.run("replay", STUCK[:8], "--all").out
    assert re.search(r"… \d+ calls?$", few, re.MULTILINE)
    assert not re.search(r"… \d+ calls?$", all_of_it, re.MULTILINE)
    assert all_of_it.count("part3.rs") == 1
    assert "part3.rs" not in few


def test_replay_json_has_every_moment(watched: Person) -> None:
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


HOOKED = "11111111-0000-4000-8000-000000000001"

ALONE = "22222222-0000-4000-8000-000000000002"


def fold(*events: LiveEvent) -> tuple[LiveState, Advisory | None]:
    state: LiveState = START
    last: Advisory | None = None
    for event in events:
        state, advisory = step(state, event, Thresholds(advise=("debt",)))
        last = advisory or last
    return state, last


def report_session(person: Person, events: Sequence[LiveEvent], **more: object) -> None:
    """The daemon has heard of a session."""
    state, advisory = fold(*events)
    prepare_folder(person.folder)
    sessions = Sessions(os.path.join(live_folder(person.folder), "sessions"))
    values = {"session": HOOKED, "last_at": time.time() - 5, "cwd": "/w/shop", "advisory": advisory, **more}
    sessions.put(RunningSession(agent="claude_code", state=state, **values))  # type: ignore[arg-type] # any of its fields
    sessions.prepare_flush()()


def write_transcript(person: Person) -> str:
    story = ClaudeTranscript(session=ALONE, project="/w/alone").prompt("look around")
    for number in range(3):
        story = story.answer("I look.").call("Read", {"file_path": f"/w/alone/src/{number}.py"}).result("x = 1")
    return person.write(story)


def test_watch_without_sessions_says_so(person: Person) -> None:
    done = person.run("watch", "--once")
    assert done.code == 0
    assert done.out.startswith("No session runs.")
    assert json.loads(person.run("watch", "--json").out) == []


def test_watch_shows_a_session_reported_by_hooks(person: Person) -> None:
    """Phase, turn, debt and the last advisory, as the daemon has them."""
    report_session(person, [asked("fix the cart"), *(edited(f"src/cart/part{number}.py") for number in range(12))])
    done = person.run("watch", "--once")
    assert "11111111" in done.out
    assert "Claude Code" in done.out
    assert "shop" in done.out
    (found,) = json.loads(person.run("watch", "--json").out)
    assert (found["session"], found["turn"], found["debt"]) == (HOOKED, 12, 12.0)
    assert found["was_sent"] is True
    assert found["trust"] < 100
    assert "preheat-" not in done.out
    assert "src/cart" in done.out


def test_watch_shows_a_session_from_its_growing_transcript(person: Person) -> None:
    """Where there are hook events, they are used instead."""
    path = write_transcript(person)
    (found,) = json.loads(person.run("watch", "--json").out)
    assert (found["session"], found["project"], found["turn"], found["was_sent"]) == (ALONE, "/w/alone", 3, False)
    report_session(person, [read("a.py")], session=ALONE)
    (found,) = json.loads(person.run("watch", "--json").out)
    assert found["turn"] == 1
    os.utime(path, (1_700_000_000, 1_700_000_000))
    report_session(person, [read("a.py")], session=ALONE, ended=True)
    assert json.loads(person.run("watch", "--json").out) == []


def test_a_transcript_is_read_again_only_when_it_has_grown(person: Person) -> None:
    """A damaged file does not affect the others."""
    path = write_transcript(person)
    looking = LiveSignals(person.folder)
    (first,) = looking.sessions()
    assert looking.sessions()[0] is first
    story = (
        ClaudeTranscript(session=ALONE, project="/w/alone")
        .prompt("x")
        .answer("y")
        .call("Read", {"file_path": "/w/alone/a.py"})
        .result("z")
    )
    person.write(story)
    assert looking.sessions()[0].turn == 1
    with open(os.path.join(os.path.dirname(path), "33333333-0000-4000-8000-000000000003.jsonl"), "wb") as stream:
        stream.write(b"\x00\xff not a transcript\n")
    assert [each.session for each in looking.sessions()] == [ALONE]


@pytest.mark.parametrize("width", [60, 100, 200])
def test_texts_of_sessions_fit_the_window_without_control_characters(
    person: Person, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    report_session(person, [read("a.py")], cwd="/w/\x1b[31mred[/bold]")
    done = person.run("watch", "--once")
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= width


def test_watch_shows_at_most_forty_sessions(person: Person) -> None:
    report_session(person, [read("a.py")])
    (one,) = LiveSignals(person.folder).sessions()
    console = Console(width=160)
    with console.capture() as captured:
        console.print(draw_sessions([one] * 50, time.time()))
    assert "and 10 more" in captured.get()
    assert captured.get().count("11111111") == 40
