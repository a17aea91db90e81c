"""`preheat watch`: what one frame shows, of sessions that hooks tell of and of those that only have a transcript."""

import json
import os
import time
from collections.abc import Sequence

import pytest

from preheat.app.live.running import RunningSession
from preheat.app.live.signals import LiveSignals
from preheat.cli.live import draw_sessions
from preheat.daemon.sessions import Sessions
from preheat.daemon_client import live_folder, prepare_folder
from preheat.live.advice import step
from preheat.live.state import START, LiveState
from preheat.model.live import Advisory, LiveEvent
from preheat.testing.builders import ClaudeTranscript
from tests.live.builders import asked, edited, read

from .conftest import Person

HOOKED = "11111111-0000-4000-8000-000000000001"
ALONE = "22222222-0000-4000-8000-000000000002"


def folded(*events: LiveEvent) -> tuple[LiveState, Advisory | None]:
    state: LiveState = START
    last: Advisory | None = None
    for event in events:
        state, advisory = step(state, event)
        last = advisory or last
    return state, last


def heard(person: Person, events: Sequence[LiveEvent], **more: object) -> None:
    """The daemon has heard of a session."""
    state, advisory = folded(*events)
    prepare_folder(person.folder)
    sessions = Sessions(os.path.join(live_folder(person.folder), "sessions"))
    values = {"session": HOOKED, "last_at": time.time() - 5, "cwd": "/w/shop", "advisory": advisory, **more}
    sessions.put(RunningSession(agent="claude_code", state=state, **values))  # type: ignore[arg-type] # any of its fields
    sessions.prepare_flush()()


def transcript(person: Person) -> str:
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
    heard(person, [asked("fix the cart"), *(edited(f"src/cart/part{number}.py") for number in range(12))])
    done = person.run("watch", "--once")
    assert "11111111" in done.out
    assert "Claude Code" in done.out
    assert "shop" in done.out
    (found,) = json.loads(person.run("watch", "--json").out)
    assert (found["session"], found["turn"], found["debt"]) == (HOOKED, 12, 12.0)
    assert found["told"] is True
    assert found["trust"] < 100
    assert "preheat-" not in done.out
    assert "src/cart" in done.out


def test_watch_shows_a_session_from_its_growing_transcript(person: Person) -> None:
    """Where there are hook events, they are used instead."""
    path = transcript(person)
    (found,) = json.loads(person.run("watch", "--json").out)
    assert (found["session"], found["project"], found["turn"], found["told"]) == (ALONE, "/w/alone", 3, False)
    heard(person, [read("a.py")], session=ALONE)
    (found,) = json.loads(person.run("watch", "--json").out)
    assert found["turn"] == 1
    os.utime(path, (1_700_000_000, 1_700_000_000))
    heard(person, [read("a.py")], session=ALONE, ended=True)
    assert json.loads(person.run("watch", "--json").out) == []


def test_a_transcript_is_read_again_only_when_it_has_grown(person: Person) -> None:
    """A damaged file does not affect the others."""
    path = transcript(person)
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
    heard(person, [read("a.py")], cwd="/w/\x1b[31mred[/bold]")
    done = person.run("watch", "--once")
    assert "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) <= width


def test_watch_shows_at_most_forty_sessions(person: Person) -> None:
    from rich.console import Console

    heard(person, [read("a.py")])
    (one,) = LiveSignals(person.folder).sessions()
    console = Console(width=160)
    with console.capture() as captured:
        console.print(draw_sessions([one] * 50, time.time()))
    assert "and 10 more" in captured.get()
    assert captured.get().count("11111111") == 40
