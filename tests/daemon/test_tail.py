"""The transcripts of running sessions: failures that no hook told of, and how full the context is."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from preheat.app.live.hooks import Hooks
from preheat.app.live.running import RunningSession
from preheat.daemon import tail
from preheat.daemon.engine import Engine
from preheat.daemon.tail import TranscriptTails
from preheat.daemon_client import prepare_folder
from preheat.model.live import CallEvent, LiveEvent
from preheat.model.session import Usage
from preheat.testing.builders import SESSION, ClaudeTranscript
from tests.agents.codex_rollout import THREAD, Rollout, token_counts
from tests.daemon.builders import AGENT, PatientTimeLimit, daemon, edited, ran
from tests.special_files import MAKERS
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


def test_a_tool_that_failed_in_a_script_is_found_though_hooks_have_other_ids(
    tmp_path: Path, tails: TranscriptTails
) -> None:
    """The command in the script has its hook, under another id; the patch that was refused has none."""
    path = tmp_path / "rollout-a.jsonl"
    rollout = Rollout()
    path.write_bytes(rollout.data())
    running = RunningSession(agent="codex", session=THREAD, cwd="/w/proj", transcript=str(path), calls=("exec-1",))
    tails.note_activity(running)
    header = "Script {}\nWall time 0.1 seconds\nOutput:\n"
    for name, text, status, printed in (
        ("a", "const r = await tools.exec_command({cmd:'make'}); text(r.output)", "completed", "make: no rule"),
        ("b", "text(await tools.apply_patch('*** Begin Patch'))", "failed", "Script error:\nInvalid patch: empty"),
    ):
        rollout.item("custom_tool_call", call_id=name, name="exec", input=text)
        parts = [{"type": "input_text", "text": each} for each in (header.format(status), printed)]
        rollout.item("custom_tool_call_output", call_id=name, output=parts)
    path.write_bytes(rollout.data())
    found = looked(tails, running)
    assert [(each.call_id, each.tool) for each in found if isinstance(each, CallEvent)] == [("b", "apply_patch")]


def test_what_was_there_before_the_first_look_tells_whose_transcript_it_is_and_its_size(
    tmp_path: Path, tails: TranscriptTails
) -> None:
    """A rollout names its session and the model's window only at its beginning."""
    path = tmp_path / "rollout-a.jsonl"
    rollout = Rollout().turn().prompt("mend it").call("told", cmd="ls").output("told", "a.py")
    used = token_counts(5_000, 4_000, 100)
    info = {"total_token_usage": used, "last_token_usage": used, "model_context_window": 9_000}
    rollout.event("token_count", info=info)
    path.write_bytes(rollout.data())
    running = RunningSession(
        agent="codex", session=THREAD, cwd="/w/proj", transcript=str(path), calls=("told", "later")
    )
    tails.note_activity(running)
    rollout.call("later", cmd="ls").output("later", "a.py")
    refused = "apply_patch verification failed: Failed to find expected lines in a.py"
    rollout.item("custom_tool_call", call_id="patch", name="apply_patch", input="*** Begin Patch")
    path.write_bytes(rollout.item("custom_tool_call_output", call_id="patch", output=refused).data())
    found = looked(tails, running)
    assert [(each.call_id, each.status) for each in found if isinstance(each, CallEvent)] == [("patch", "failed")]
    assert tails.context_size("codex", THREAD) == (5_000, 9_000)


@pytest.mark.parametrize("most", [10, 300, 2_000, 10**9])
def test_of_a_long_transcript_the_beginning_and_the_end_are_read(
    tmp_path: Path, tails: TranscriptTails, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(tail, "MOST_EARLIER_BYTES", most)
    monkeypatch.setattr(tail, "MOST_BYTES", 1_500)
    path = tmp_path / "rollout-a.jsonl"
    rollout = Rollout().turn()
    for number in range(40):
        rollout.prompt(f"mend {number}").tokens(token_counts(1_000 * (number + 1)), token_counts(1_000))
    path.write_bytes(rollout.data()[:-5])
    running = RunningSession(agent="codex", session=THREAD, cwd="/w/proj", transcript=str(path))
    assert looked(tails, running) == []
    path.write_bytes(rollout.data())
    assert looked(tails, running) == []
    assert tails.context_size("codex", THREAD).tokens is not None


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


@pytest.mark.skipif(os.name != "posix", reason="there are no such files on this system")
@pytest.mark.parametrize("make", MAKERS)
def test_a_transcript_that_is_or_becomes_something_else_than_a_file_is_not_followed(
    path: Path, tails: TranscriptTails, make: Callable[[str], None]
) -> None:
    other = path.with_name("other.jsonl")
    make(str(other))
    assert looked(tails, known(other)) == []
    path.write_bytes(BEGIN.data())
    tails.note_activity(known(path))
    path.unlink()
    make(str(path))
    assert tails.read_update(known(path)).pairs == []
