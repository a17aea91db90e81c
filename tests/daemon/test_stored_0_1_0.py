"""What the daemon of 0.1.0 stored is read: `tests/fixtures/live_0_1_0` has the files that it wrote for two sessions.

`loop.msgpack` is the state of loops of the first session with a check that had not ended, as the code of 0.1.0 encodes it.
"""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from preheat.answers import SessionFacts
from preheat.app.live.running import RunningSession, apply_entry, load_session, session_file
from preheat.daemon.journal import Journal
from preheat.daemon.sessions import Sessions
from preheat.live.failing_checks import PendingCheck
from preheat.live.loop import LoopState
from preheat.live.state import LiveState, SentAdvice, fold
from preheat.model.experiment import AdviceAssignment, Assignment, Delivery
from preheat.model.live import CallEvent, StopEvent
from preheat.model.receipt import Receipt

STORED = os.path.join(os.path.dirname(__file__), "..", "fixtures", "live_0_1_0")
FIRST, SECOND = ("claude_code", "s1"), ("codex", "s2")
LOOP_CAUSE = "retry:Edit src/cart.py string to replace not found in file"


def load(key: tuple[str, str]) -> RunningSession:
    session = load_session(session_file(os.path.join(STORED, "sessions"), key))
    assert session is not None
    return session


def test_a_running_session_is_read_with_every_field() -> None:
    session = load(FIRST)
    assert (session.agent, session.session, session.seq, session.cwd) == (*FIRST, 28, "/work/shop")
    assert (session.model, session.words[:2], session.ended) == ("claude-sonnet-4", ("login", "src"), False)
    assert session.advisory is not None
    assert (session.advisory.signal, session.advisory.turn) == ("debt", 15)
    assert session.progress.edited[0] == "src/login.py"
    assert [check.passed for check in session.progress.checks] == [False, False, True]
    assert session.assigned is not None
    assert session.assigned.arm == "warm"
    assert session.event_keys[-2] == "after:call-23"
    assert session.calls[-1] == "call-23"


def test_the_live_state_is_read_with_every_field() -> None:
    state = load(FIRST).state
    assert (state.turn, state.calls, state.phase.phase) == (23, 23, "struggling")
    assert (state.loop_cause, state.debt_since) == (LOOP_CAUSE, 12)
    assert state.sent == (SentAdvice("debt", "debt 0", 15), SentAdvice("loop", LOOP_CAUSE, 18))
    assert state.advised_turns == (9, 15, 18)
    assert state.last_turn_by_signal == (("debt", 15), ("loop", 18))
    assert state.mistake.failure_counts[-1] == ("string to replace not found in file", 3, 18)
    assert state.mistake.is_repeated
    assert (state.trust.base, state.trust.dead_ends, len(state.debt.files)) == (87.0, 1, 4)
    assert state.drift.names == ("login.py",)


def test_the_state_of_loops_is_read_with_every_field() -> None:
    with open(os.path.join(STORED, "loop.msgpack"), "rb") as stream:
        loop = msgspec.msgpack.decode(stream.read(), type=LoopState)
    assert loop.pending_checks == (PendingCheck("test", 7, "tests/slow", "uv run pytest tests/slow"),)
    assert msgspec.structs.replace(loop, pending_checks=()) == load(FIRST).state.loop
    assert [(each.what, each.times) for each in loop.repeats[-1:]] == [("ls docs", 2)]
    assert [(each.tool, each.target, each.times) for each in loop.retries] == [("Edit", "src/cart.py", 3)]
    (check,) = loop.failing_checks
    assert (check.key, check.times, len(check.rounds), check.changed) == ("test", 3, 3, True)
    (output,) = loop.unchanged_outputs
    assert (output.what, output.turns) == ("python src/show.py", (11, 13, 15))


def without_loops(session: RunningSession) -> RunningSession:
    """A session without what the rules of loops decide: 0.2.0 does not compare edits that do not say what they change."""
    sent = tuple(each for each in session.state.sent if each.signal != "loop")
    state = msgspec.structs.replace(session.state, loop=LoopState(), loop_cause="", sent=sent)
    return msgspec.structs.replace(session, state=state)


@pytest.mark.parametrize("key", [FIRST, SECOND])
def test_the_journal_gives_the_stored_session(key: tuple[str, str]) -> None:
    session = RunningSession(agent=key[0], session=key[1])
    for entry in Journal(os.path.join(STORED, "journal")).replay(0):
        if (entry.agent, entry.session) == key:
            session = apply_entry(session, entry)
    # 0.1.0 stored neither facts nor receipts nor which files a session had opened.
    session = msgspec.structs.replace(session, facts=SessionFacts(), opened=(), edited=(), receipt=Receipt())
    assert without_loops(session) == without_loops(load(key))


def test_no_entry_of_the_journal_is_lost() -> None:
    entries = list(Journal(os.path.join(STORED, "journal")).replay(0))
    assert [entry.seq for entry in entries] == list(range(1, 32))
    assert {each.cause for entry in entries for each in entry.events if isinstance(each, CallEvent)} == {
        None, "mistake", "finding", "environment",
    }  # fmt: skip
    assert sum(entry.withheld is not None for entry in entries) == 2
    drawn = [each for entry in entries for each in entry.assignments]
    assert {type(each) for each in drawn} == {Assignment, Delivery, AdviceAssignment}


def test_a_daemon_continues_the_sessions_of_0_1_0(tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "live")
    journal = Journal(str(tmp_path / "live" / "journal"))
    sessions = Sessions(str(tmp_path / "live" / "sessions"))
    assert sessions.rebuild(journal.replay(journal.flushed), apply_entry) == 0
    session = sessions.get(*FIRST)
    assert journal.seq == 31
    sessions.put(msgspec.structs.replace(session, state=fold(session.state, StopEvent(at=1.0))))
    sessions.prepare_flush()()
    assert Sessions(str(tmp_path / "live" / "sessions")).get(*FIRST) == session


def test_what_is_written_now_has_the_field_names_of_0_1_0() -> None:
    """So that an older daemon, started once more before an update is complete, reads it too."""
    with open(session_file(os.path.join(STORED, "sessions"), FIRST), "rb") as stream:
        stored = msgspec.msgpack.decode(stream.read())
    written = msgspec.msgpack.decode(msgspec.msgpack.encode(load(FIRST)))
    assert written["advisory"].pop("names") == []  # newer; an older daemon passes over names that it does not know
    assert written == stored
    assert set(stored["state"]) == {field.encode_name for field in msgspec.structs.fields(LiveState)}
