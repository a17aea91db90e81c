"""Events that wait because too many come at once: in order, none lost without a count, none twice, within limits."""

import asyncio
import os
import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from preheat.app.live.running import RunningSession, load_session, session_file
from preheat.daemon import deferral
from preheat.daemon.deferral import DeferredEvents, Pace
from preheat.daemon.journal import MOST_FILES, Journal
from preheat.daemon.sessions import Sessions
from tests.daemon.builders import AGENT, daemon, install_client, no_start, ran, run_client
from tests.waiting import until

OWNER = (AGENT, "s1")


def take_all(waiting: DeferredEvents) -> list[bytes]:
    found = []
    while (event := waiting.first()) is not None:
        found.append(event.payload)
        waiting.remove_first()
    return found


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(0, 30))
def test_events_wait_in_order_and_a_new_daemon_continues_where_the_last_one_was(
    tmp_path_factory: object, payloads: list[bytes], taken: int
) -> None:
    path = str(tmp_path_factory.mktemp("deferred") / "deferred")  # type: ignore[attr-defined]
    waiting = DeferredEvents(path)
    for payload in payloads:
        assert waiting.put(OWNER, 1.5, payload)
    first = []
    for _ in range(min(taken, len(payloads))):
        event = waiting.first()
        assert event is not None
        assert (event.agent, event.at) == (AGENT, 1.5)
        first.append(event.payload)
        waiting.remove_first()
    assert len(waiting) == len(payloads) - len(first)
    assert waiting.has(OWNER) is (len(waiting) > 0)
    again = DeferredEvents(path)
    assert again.put(OWNER, 2.0, b"new")
    assert [*first, *take_all(again)] == [*payloads, b"new"]
    assert len(DeferredEvents(path)) == 0


@given(st.binary(max_size=400), st.integers(0, 400))
def test_a_damaged_file_loses_no_daemon(tmp_path_factory: object, junk: bytes, cut: int) -> None:
    path = str(tmp_path_factory.mktemp("deferred") / "deferred")  # type: ignore[attr-defined]
    waiting = DeferredEvents(path)
    for number in range(3):
        waiting.put(OWNER, 1.0, b"%d" % number * 50)
    with open(path, "r+b") as stream:
        stream.seek(cut)
        stream.write(junk)
    again = DeferredEvents(path)
    take_all(again)
    assert again.put(OWNER, 1.0, b"next")
    assert take_all(again)[-1:] == [b"next"]


def test_what_does_not_fit_is_refused_and_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    path = str(tmp_path / "deferred")
    waiting = DeferredEvents(path, most=900)
    kept = [waiting.put(OWNER, 1.0, b"x" * 300) for _ in range(5)]
    assert kept == [True, True, False, False, False]
    assert os.stat(path).st_mode & 0o077 == 0
    assert len(take_all(waiting)) == 2
    assert waiting.put(OWNER, 1.0, b"x" * 300)


def test_a_full_disk_refuses_and_keeps_what_is_there(tmp_path: Path) -> None:
    waiting = DeferredEvents(os.path.join(str(tmp_path), "no such folder", "deferred"))
    assert waiting.put(OWNER, 1.0, b"x") is False
    assert len(waiting) == 0


def test_a_turn_of_the_loop_is_behind_when_its_time_is_over_and_the_next_one_begins_anew() -> None:
    async def run() -> list[bool]:
        pace = Pace(0.01)
        found = [pace.is_behind(), pace.was_behind()]
        time.sleep(0.02)
        found.append(pace.is_behind())
        await asyncio.sleep(0)
        return [*found, pace.is_behind(), pace.was_behind()]

    assert asyncio.run(run()) == [False, False, True, False, True]


def test_a_session_that_left_the_memory_during_a_flush_keeps_its_newer_state(tmp_path: Path) -> None:
    """The flush has an older state of it, and writes in another thread."""
    sessions = Sessions(str(tmp_path), most=1)
    sessions.put(RunningSession(agent="a", session="s", seq=1))
    write = sessions.prepare_flush()
    sessions.put(RunningSession(agent="a", session="s", seq=2))
    sessions.get("a", "another")
    write()
    stored = load_session(session_file(str(tmp_path), ("a", "s")))
    assert stored is not None
    assert stored.seq == 2


def test_a_daemon_takes_in_what_an_earlier_one_deferred(tmp_path: Path) -> None:
    folder = str(tmp_path / "preheat")
    with daemon(folder) as first:
        first.ask(ran(1, "ls", "a.py"))
    left = DeferredEvents(os.path.join(folder, "live", "deferred"))
    for number in range(1, 4):  # the first one was taken in before the daemon died, so it counts once
        left.put(OWNER, time.time(), ran(number, "ls", "a.py"))
    with daemon(folder) as second:
        until(lambda: second.status()["waiting"] == 0, "the deferred events to be taken in")
        assert second.status()["twice"] == 1
        assert session_calls(folder) == 3


def session_calls(folder: str) -> int:
    """The calls in the journal of the one session."""
    entries = Journal(os.path.join(folder, "live", "journal")).replay(0)
    return sum(len(entry.events) for entry in entries)


def test_an_event_for_which_a_client_finds_no_room_is_counted_by_the_next_daemon(tmp_path: Path) -> None:
    folder = str(tmp_path / "preheat")
    client = install_client(folder, no_start())
    spool = os.path.join(folder, "live", "spool")
    for number in range(MOST_FILES):
        with open(os.path.join(spool, f"{number:020}-1.event"), "wb") as stream:
            stream.write(b"claude_code 1.0\n{}")
    for number in range(3):
        run_client(client, ran(number, "ls"))
    with daemon(folder) as next_one:
        until(lambda: next_one.status()["waiting"] == 0, "the spooled events to be taken in")
        assert next_one.status()["lost"] == 3
    assert not os.path.exists(os.path.join(spool, "lost"))


def test_the_limits_are_those_that_the_page_states() -> None:
    page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "concepts", "daemon.md")
    with open(page, encoding="utf-8") as stream:
        text = stream.read()
    assert f"{deferral.MOST_BYTES // 1_000_000} MB" in text
    assert f"{deferral.TURN_SECONDS * 1000:.0f} ms" in text
