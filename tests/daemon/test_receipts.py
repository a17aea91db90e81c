"""Receipts through the daemon: of real hook events, with time and tokens, one line at a stop, and the command that shows them."""

import json
from pathlib import Path
from typing import Any

import pytest

import preheat
from preheat.app.live.running import encode_session, session_file
from preheat.cli.run import main
from preheat.daemon.timing import HandlingTimes
from preheat.daemon_client import live_folder
from preheat.errors import NotFound
from preheat.model.live import JournalEntry
from tests.daemon.test_answers import AGENT, MISSING, Conversation


def stop(talk: Conversation) -> str:
    """The line that the person sees at the end of a turn."""
    fields = {"session_id": talk.session, "cwd": str(talk.project), "hook_event_name": "Stop", "n": talk.number}
    talk.number += 1
    answer = talk.engine.take_event(AGENT, json.dumps(fields).encode(), float(talk.number), seconds=60.0).answer
    return str(json.loads(answer or b"{}").get("systemMessage", ""))


def store(talk: Conversation) -> None:
    running = talk.engine.sessions.get(AGENT, talk.session)
    path = session_file(f"{live_folder(talk.folder)}/sessions", (AGENT, talk.session))
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_bytes(encode_session(running))


def answered(tmp_path: Path, settings: str = "") -> Conversation:
    """A session whose failure was answered, and that followed the answer."""
    talk = Conversation(tmp_path, settings)
    talk.fail(MISSING, "Read", file_path=str(talk.project / "src/cart.py"))
    talk.succeed("Bash", command="cat src/shop/cart.py")
    return talk


def test_an_answer_that_is_followed_stands_in_the_receipt(tmp_path: Path) -> None:
    talk = answered(tmp_path)
    (sent,) = talk.engine.sessions.get(AGENT, "s1").receipt.texts
    assert (sent.kind, sent.about, sent.outcome, sent.names) == (
        "answer",
        "missing path",
        "followed",
        ("src/shop/cart.py",),
    )
    assert talk.engine.sessions.get(AGENT, "s1").receipt.tokens > 10


def test_a_held_call_that_fails_when_it_comes_again_stands_in_the_receipt(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    talk.plan("Bash", command="cat src/cart.py")
    talk.plan("Bash", command="cat src/cart.py")
    talk.fail("Exit code 1\ncat: src/cart.py: No such file or directory", "Bash", command="cat src/cart.py")
    assert [(sent.kind, sent.outcome) for sent in talk.engine.sessions.get(AGENT, "s1").receipt.texts] == [
        ("hold", "failed")
    ]


def test_a_warned_call_is_seen_by_its_id(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.number = 5
    planned = {"tool_name": "Bash", "tool_input": {"command": "cat src/cart.py"}, "tool_use_id": "same"}
    talk.tell("PreToolUse", **planned)
    talk.tell("PostToolUseFailure", **planned, error="Exit code 1\ncat: src/cart.py: No such file or directory")
    assert [(sent.kind, sent.outcome) for sent in talk.engine.sessions.get(AGENT, "s1").receipt.texts] == [
        ("warning", "failed")
    ]


def test_a_warned_call_is_seen_where_a_program_gives_the_time_of_the_hook_for_an_id(tmp_path: Path) -> None:
    """That is another one after the call: the next call of the tool is the one that was warned of."""
    talk = Conversation(tmp_path)
    talk.number = 5
    planned = {"tool_name": "Bash", "tool_input": {"command": "cat src/cart.py"}}
    failed = "Exit code 1\ncat: src/cart.py: No such file or directory"
    talk.tell("PreToolUse", **planned, tool_use_id="2026-01-15T20:53:05.719Z")
    talk.tell("PostToolUseFailure", **planned, tool_use_id="2026-01-15T20:53:05.759Z", error=failed)
    assert [(sent.kind, sent.outcome) for sent in talk.engine.sessions.get(AGENT, "s1").receipt.texts] == [
        ("warning", "failed")
    ]


def test_a_stop_shows_the_line_once_and_again_only_when_more_was_said(tmp_path: Path) -> None:
    talk = answered(tmp_path)
    assert "1 of 1 answer followed" in stop(talk)
    assert stop(talk) == ""
    talk.plan("Bash", command="sed -n 1,5p lib/cart.py")
    assert "1 call warned of" in stop(talk)


def test_the_line_can_be_turned_off_and_a_silent_session_has_none(tmp_path: Path) -> None:
    assert stop(answered(tmp_path, "[live]\nreceipt_line = false\n")) == ""
    assert stop(Conversation(tmp_path, session="s2")) == ""


def test_the_time_on_events_comes_with_the_next_entry_of_the_session_only() -> None:
    times, answers = HandlingTimes(), list[bytes]()
    reply = times.measure(answers.append, ("a", "s"), 0.0)
    reply(b"x")
    times.note(("a", "s"), 0.002)
    other = times.add_to(JournalEntry(at=1.0, agent="a", session="t"))
    found = times.add_to(JournalEntry(at=1.0, agent="a", session="s"))
    assert answers == [b"x"]
    assert (other.events_taken, other.microseconds) == (0, 0)
    assert (found.events_taken, found.microseconds - found.slowest) == (2, 2000)
    assert times.add_to(found) is found


def test_an_event_of_no_session_costs_no_time_of_one() -> None:
    answers = list[bytes]()
    assert HandlingTimes().measure(answers.append, None, 0.0) == answers.append


def test_the_application_adds_up_and_chooses(tmp_path: Path) -> None:
    talk = answered(tmp_path)
    store(talk)
    home = preheat.open(talk.folder)
    assert home.receipts().said["answer"].followed == 1
    assert home.receipts(project=str(talk.project)).sessions[0].session == "s1"
    assert home.receipts(session="s").sessions[0].project == str(talk.project)
    assert home.receipts(since=1e12).sessions == ()
    with pytest.raises(NotFound, match="knows no project `nosuch`"):
        home.receipts(project="nosuch")


def test_the_command_shows_and_prints(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    talk = answered(tmp_path)
    store(talk)
    monkeypatch.setenv("PREHEAT_HOME", talk.folder)
    assert main(["receipts"]) == 0
    shown = capsys.readouterr().out
    assert "answers after a failure" in shown
    assert "Not in it: the start of the hook's client" in " ".join(shown.split())
    assert main(["receipts", "--session", "s1"]) == 0
    assert "followed" in capsys.readouterr().out
    assert main(["receipts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["said"]["answer"] == {"said": 1, "failed": 0, "worked": 0, "followed": 1}
    assert main(["receipts", "--project", "nosuch"]) == 2
    assert "`preheat receipts` shows those that it knows" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 110])
def test_in_a_window_of_any_width_a_session_can_be_chosen_and_no_line_is_wider(
    tmp_path: Path, monkeypatch: Any, capsys: Any, width: int
) -> None:
    talk = answered(tmp_path)
    store(talk)
    monkeypatch.setenv("PREHEAT_HOME", talk.folder)
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["receipts"]) == 0
    assert main(["receipts", "--session", "s1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("s1 ") for line in lines)
    assert max(map(len, lines)) <= width
    assert any(line.startswith("turn ") and ": answer after a failure: " in line for line in lines)
    assert "(followed: a call with what it names worked)" in " ".join(line.strip() for line in lines)


def test_withdrawn_holds_are_said(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    talk.plan("Bash", command="cat src/cart.py")
    talk.plan("Bash", command="cat src/cart.py")
    talk.succeed("Bash", command="cat src/cart.py")
    store(talk)
    (withdrawn,) = preheat.open(talk.folder).receipts().withdrawn
    assert (withdrawn.reason, withdrawn.held, withdrawn.worked) == ("missing path", 1, 1)
