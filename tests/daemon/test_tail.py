"""The transcripts of running sessions: failures that no hook told of, and how full the context is."""

import os
from pathlib import Path

import msgspec
import pytest

from preheat.app.live.hooks import Hooks
from preheat.app.live.running import Running
from preheat.daemon.engine import Engine
from preheat.daemon.tail import Tails
from preheat.model.live import Called, LiveEvent
from preheat.model.session import Usage
from preheat.running.place import prepare
from preheat.testing.builders import SESSION, ClaudeTranscript
from tests.daemon.made import AGENT, Patient, daemon, edited, ran
from tests.waiting import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.jsonl"


@pytest.fixture
def tails(tmp_path: Path) -> Tails:
    return Tails(Hooks(str(tmp_path)))


def known(path: Path, *calls: str) -> Running:
    return Running(agent=AGENT, session=SESSION, cwd="/w/proj", transcript=str(path), calls=calls)


def looked(tails: Tails, running: Running) -> list[LiveEvent]:
    """Two looks: a failure is told at the second, when its hook has had its time."""
    tails.heard_of(running)
    found = []
    for _ in range(2):
        found += tails.told(tails.look(running), running)
    return found


BEGIN = ClaudeTranscript().prompt("mend it").ran("ls", "a.py")
REFUSED = "<tool_use_error>InputValidationError: Edit failed: the parameter `old_string` is missing</tool_use_error>"


def test_a_failure_that_no_hook_tells_of_is_found(path: Path, tails: Tails) -> None:
    """A call that the program refuses fires no hook; the one that a hook told of is not told twice."""
    path.write_bytes(BEGIN.data())
    tails.heard_of(known(path))
    grown = BEGIN.call("Bash", {"command": "make"}, "told").result("no rule to make target", "told", is_error=True)
    grown = grown.call("Edit", {"file_path": "a.py"}, "refused").result(REFUSED, "refused", is_error=True)
    path.write_bytes(grown.data())
    found = looked(tails, known(path, "told"))
    assert [(each.call_id, each.status) for each in found if isinstance(each, Called)] == [("refused", "failed")]


def test_what_was_there_before_is_not_news(path: Path, tails: Tails) -> None:
    """A daemon that starts in the middle of a session does not tell of its past."""
    path.write_bytes(BEGIN.call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data())
    assert looked(tails, known(path)) == []


def test_hooks_that_name_calls_otherwise_are_trusted_alone(path: Path, tails: Tails) -> None:
    """Where no id of a hook is in the transcript, nothing is taken from there: it would count twice."""
    path.write_bytes(BEGIN.data())
    tails.heard_of(known(path))
    path.write_bytes(BEGIN.call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data())
    assert looked(tails, known(path, "other-id")) == []


def test_how_full_the_context_is(path: Path, tails: Tails) -> None:
    """By the last response that the transcript has."""
    path.write_bytes(BEGIN.data())
    tails.heard_of(known(path))
    path.write_bytes(BEGIN.answer("so far", Usage(1_000, 10, 90_000, 9_000)).data())
    looked(tails, known(path))
    assert tails.full(AGENT, SESSION).tokens == 100_000


def test_it_reaches_the_next_event(tmp_path: Path) -> None:
    """A hook does not tell how full the context is; the event in the journal does."""
    live = prepare(str(tmp_path))
    engine = Engine(live, Hooks(str(tmp_path)), Patient())
    engine.full = lambda agent, session: (150_000, 200_000)
    engine.handle(AGENT, ran(1, "ls", "a.py"), 1.0)
    (entry,) = engine.journal.replay(0)
    (event,) = entry.events
    assert isinstance(event, Called)
    assert (event.context_tokens, event.context_window) == (150_000, 200_000)


@pytest.mark.parametrize("cut", [1, 50, 300])
def test_lines_that_are_still_being_written(path: Path, tails: Tails, cut: int) -> None:
    """Half a line waits for its other half."""
    path.write_bytes(BEGIN.data())
    tails.heard_of(known(path))
    grown = BEGIN.ran("ls", "x").call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data()
    path.write_bytes(grown[:-cut])
    running = known(path, "toolu_000002", "toolu_000003", BEGIN.ran("ls", "x").last_call)
    assert looked(tails, running) == []
    path.write_bytes(grown)
    assert len(looked(tails, running)) == 1


def test_files_that_are_gone_shrink_or_are_none(path: Path, tails: Tails, tmp_path: Path) -> None:
    """Nothing is found and nothing breaks."""
    assert looked(tails, known(tmp_path / "none")) == []
    assert looked(tails, known(tmp_path)) == []
    path.write_bytes(BEGIN.data())
    tails.heard_of(known(path))
    path.write_bytes(b"{}\n")
    assert looked(tails, known(path)) == []
    path.unlink()
    assert looked(tails, known(path)) == []
    odd = msgspec.structs.replace(known(path), agent="nobody")
    assert looked(tails, odd) == []


def test_in_a_real_daemon(tmp_path: Path, path: Path) -> None:
    """The refused call is in the session's state a few seconds later."""
    from preheat.app.live.running import running_sessions as running

    folder = str(tmp_path / "data")
    path.write_bytes(BEGIN.data())
    with daemon(folder) as one:
        for number in (1, 2):
            one.ask(edited(number, "src/a.py", SESSION, transcript_path=str(path)))
        grown = BEGIN.call("Edit", {}, "call-2").result("done", "call-2")
        path.write_bytes(grown.call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data())
        one.ask(edited(3, "src/b.py", SESSION, transcript_path=str(path)))
        until(lambda: any(each.state.calls == 4 for each in running(folder)), "a session with four calls")
        (found,) = running(folder)
        assert found.state.calls == 4
        assert os.path.samefile(found.transcript, path)
