"""The transcripts of running sessions: failures that no hook told of, and how full the context is."""

import os
from pathlib import Path

import msgspec
import pytest

from preheat.app.live.hooks import Hooks
from preheat.app.live.running import RunningSession
from preheat.daemon.engine import Engine
from preheat.daemon.tail import TranscriptTails
from preheat.daemon_client import prepare_folder
from preheat.model.live import CallEvent, LiveEvent
from preheat.model.session import Usage
from preheat.testing.builders import SESSION, ClaudeTranscript
from tests.daemon.builders import AGENT, PatientTimeLimit, daemon, edited, ran
from tests.waiting import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.jsonl"


@pytest.fixture
def tails(tmp_path: Path) -> TranscriptTails:
    return TranscriptTails(Hooks(str(tmp_path)))


def known(path: Path, *calls: str) -> RunningSession:
    return RunningSession(agent=AGENT, session=SESSION, cwd="/w/proj", transcript=str(path), calls=calls)


def looked(tails: TranscriptTails, running: RunningSession) -> list[LiveEvent]:
    """Two looks: a failure is told at the second, when its hook has had its time."""
    tails.note_activity(running)
    found = []
    for _ in range(2):
        found += tails.unreported_failures(tails.read_update(running), running)
    return found


BEGIN = ClaudeTranscript().prompt("mend it").run("ls", "a.py")
REFUSED = "<tool_use_error>InputValidationError: Edit failed: the parameter `old_string` is missing</tool_use_error>"


def test_a_failure_that_no_hook_reports_is_found_in_the_transcript(path: Path, tails: TranscriptTails) -> None:
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    grown = BEGIN.call("Bash", {"command": "make"}, "told").result("no rule to make target", "told", is_error=True)
    grown = grown.call("Edit", {"file_path": "a.py"}, "refused").result(REFUSED, "refused", is_error=True)
    path.write_bytes(grown.data())
    found = looked(tails, known(path, "told"))
    assert [(each.call_id, each.status) for each in found if isinstance(each, CallEvent)] == [("refused", "failed")]


def test_earlier_contents_of_a_transcript_are_ignored(path: Path, tails: TranscriptTails) -> None:
    path.write_bytes(BEGIN.call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data())
    assert looked(tails, known(path)) == []


def test_transcripts_with_other_call_ids_than_hooks_are_ignored(path: Path, tails: TranscriptTails) -> None:
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    path.write_bytes(BEGIN.call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data())
    assert looked(tails, known(path, "other-id")) == []


def test_the_context_size_is_read_from_the_transcript(path: Path, tails: TranscriptTails) -> None:
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    path.write_bytes(BEGIN.answer("so far", Usage(1_000, 10, 90_000, 9_000)).data())
    looked(tails, known(path))
    assert tails.context_size(AGENT, SESSION).tokens == 100_000


def test_the_context_size_is_added_to_the_next_event(tmp_path: Path) -> None:
    live = prepare_folder(str(tmp_path))
    engine = Engine(live, Hooks(str(tmp_path)), PatientTimeLimit())
    engine.context_size = lambda agent, session: (150_000, 200_000)
    engine.handle(AGENT, ran(1, "ls", "a.py"), 1.0)
    (entry,) = engine.journal.replay(0)
    (event,) = entry.events
    assert isinstance(event, CallEvent)
    assert (event.context_tokens, event.context_window) == (150_000, 200_000)


@pytest.mark.parametrize("cut", [1, 50, 300])
def test_incomplete_lines_are_read_later(path: Path, tails: TranscriptTails, cut: int) -> None:
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    grown = BEGIN.run("ls", "x").call("Edit", {}, "refused").result(REFUSED, "refused", is_error=True).data()
    path.write_bytes(grown[:-cut])
    running = known(path, "toolu_000002", "toolu_000003", BEGIN.run("ls", "x").last_call)
    assert looked(tails, running) == []
    path.write_bytes(grown)
    assert len(looked(tails, running)) == 1


def test_missing_and_shrunken_transcripts_are_harmless(path: Path, tails: TranscriptTails, tmp_path: Path) -> None:
    assert looked(tails, known(tmp_path / "none")) == []
    assert looked(tails, known(tmp_path)) == []
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    path.write_bytes(b"{}\n")
    assert looked(tails, known(path)) == []
    path.unlink()
    assert looked(tails, known(path)) == []
    odd = msgspec.structs.replace(known(path), agent="nobody")
    assert looked(tails, odd) == []


def test_a_real_daemon_follows_a_transcript(tmp_path: Path, path: Path) -> None:
    from preheat.app.live.running import load_running_sessions as running

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
