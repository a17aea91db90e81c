"""What the daemon makes of what the plugin for Hermes tells: a start with its task, a session that goes on, score and stop."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.hermes import database, hooks
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.app.live.advice import live_events
from preheat.app.live.hooks import Hooks
from preheat.app.live.signals import replay
from preheat.daemon.engine import Engine
from preheat.model.live import CallEvent
from tests.agents.hermes_database import HermesDatabase, call, terminal
from tests.daemon.builders import RIGHT, WRONG, PatientTimeLimit, learned

SESSION = "20270101_100000_abcdef"


def payload(name: str, call_: dict[str, Any] | None = None, home: str = "", cwd: str = "/w", **more: Any) -> bytes:
    event = {"hook_event_name": name, "session_id": SESSION, "cwd": cwd, "home": home, "extra": more, **(call_ or {})}
    return json.dumps(event).encode()


@pytest.fixture
def project(tmp_path: Path) -> str:
    folder = str(tmp_path / "shop")
    os.makedirs(folder)
    return folder


def engine(data: str) -> Engine:
    live = os.path.join(data, "live")
    for name in ("journal", "sessions"):
        os.makedirs(os.path.join(live, name), exist_ok=True)
    return Engine(live, Hooks(data), PatientTimeLimit())


@pytest.mark.parametrize("form", ["text", "messages"])
def test_only_the_first_turn_gets_the_context(tmp_path: Path, project: str, form: str) -> None:
    """In the form that is set; also in a daemon that does not know the session, and for an empty prompt."""
    data = str(tmp_path / "data")
    learned(data, project, str(tmp_path / "earlier"))
    Path(data, "settings.toml").write_text(f'[live]\nstart_as = "{form}"\n')
    found = engine(data)
    first = payload("pre_llm_call", cwd=project, user_message="Make the next checkout step work", is_first_turn=True)
    answer = json.loads(found.handle("hermes", first, 1.0))
    assert list(answer) == (["context"] if form == "text" else ["messages"])
    assert RIGHT in json.dumps(answer)
    for at, prompt in ((10.0, "…"), (20.0, "And the one after")):
        later = payload("pre_llm_call", cwd=project, user_message=prompt, is_first_turn=False)
        assert found.handle("hermes", later, at) == b""
        assert engine(str(tmp_path / f"other{at}")).handle("hermes", later, at) == b""
    assert found.counts["contexts"] == 1


def test_an_advisory_has_a_key_of_its_own_in_the_answer(tmp_path: Path, project: str) -> None:
    """So that the plugin can insert it into the result."""
    data = str(tmp_path / "data")
    learned(data, project, str(tmp_path / "earlier"))
    found = engine(data)
    found.handle("hermes", payload("pre_llm_call", cwd=project, user_message="Work", is_first_turn=True), 1.0)
    failed = {"output": "bash: pytest: command not found", "exit_code": 127, "error": None}
    hook_call = {"tool_name": "terminal", "tool_input": {"command": WRONG}}
    answer = found.handle("hermes", payload("pre_tool_call", hook_call, cwd=project, tool_call_id="c1"), 2.0)
    assert RIGHT in json.loads(answer)["advisory"]
    done = payload("post_tool_call", hook_call, cwd=project, tool_call_id="c1", result=json.dumps(failed))
    assert found.handle("hermes", done, 3.0) == b"", "it was told already"


def test_a_session_is_judged_the_same_live_and_from_the_archive(tmp_path: Path) -> None:
    """The same calls by hook and from the database, with an advisory stored in each result."""
    path = str(tmp_path / "state.db")
    commands = {
        "c1": ("pytest", 1, "1 failed"),
        "c2": ("./go", 0, "fine"),
        "c3": ("nothere", 127, "nothere: command not found"),
    }
    evidence = {"status": "passed", "kind": "test", "scope": "full"}
    live: list[CallEvent] = []
    with HermesDatabase(path) as made:
        made.session(SESSION, cwd="/w")
        made.message(SESSION, "user", "Do it")
        for name, (command, code, output) in commands.items():
            more = {"verification_evidence": evidence} if name == "c2" else {}
            result = terminal(output, code, **more)
            made.message(SESSION, "assistant", "", tool_calls=json.dumps([call(name, command=command)]))
            word = ', "preheat_advisory": "<preheat-advisory>A word.</preheat-advisory>"}'
            made.message(SESSION, "tool", result[:-1] + word, tool_call_id=name, tool_name="terminal")
            hook_call = {"tool_name": "terminal", "tool_input": {"command": command}}
            event = hooks.read(payload("post_tool_call", hook_call, tool_call_id=name, result=result), None)
            assert event is not None
            live += [each for each in live_events(event, "/w") if isinstance(each, CallEvent)]
    (session,) = read(path, READER)
    stored = [moment.event for moment in replay(session, root="/w").moments if isinstance(moment.event, CallEvent)]
    same = ("call_id", "checks", "status", "cause", "signature", "same_call", "same_result", "same_failure", "failing")
    assert [[getattr(each, name) for name in same] for each in live] == [
        [getattr(each, name) for name in same] for each in stored
    ]
    assert [each.checks for each in live] == [("test",), ("test",), ()]


def test_the_score_is_read_from_the_session_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from the other sessions in the database; without a person attending, no score is computed."""
    with HermesDatabase(str(tmp_path / "state.db")) as made:
        for session in (SESSION, "another"):
            made.session(session, cwd="/w")
            made.message(session, "user", "Do it")
            for number in range(12):
                made.turn(session, f"{session}{number}")
    read_: list[str] = []
    dump = database.dump

    def noted(path: str, part: str) -> Iterator[bytes]:
        read_.append(part)
        return dump(path, part)

    monkeypatch.setattr(database, "dump", noted)
    found = engine(str(tmp_path / "data"))
    ends = payload("on_session_finalize", home=str(tmp_path), attended=True)
    answer = json.loads(found.handle("hermes", ends, 1.0))
    assert answer["person"].startswith("Preheat: this session scored ")
    assert read_ == [SESSION]
    assert found.handle("hermes", payload("on_session_finalize", home=str(tmp_path), attended=False), 9.0) == b""
    assert read_ == [SESSION]


def test_a_score_that_cannot_be_computed_is_none(tmp_path: Path) -> None:
    """Without a database, with a damaged one, or without the session in it."""
    found = engine(str(tmp_path / "data"))
    ends = payload("on_session_finalize", home=str(tmp_path), attended=True)
    assert found.handle("hermes", ends, 1.0) == b""
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    assert found.handle("hermes", ends, 10.0) == b""


def test_a_stop_is_held_once_if_the_setting_is_on(tmp_path: Path) -> None:
    """By `pre_verify`; the end of the turn after it answers nothing."""
    data = str(tmp_path / "data")
    os.makedirs(data)
    Path(data, "settings.toml").write_text("[live]\nhold_stop = true\n")
    found = engine(data)
    found.handle("hermes", payload("pre_llm_call", user_message="Work", is_first_turn=True), 1.0)
    for number in range(3):
        hook_call = {"tool_name": "write_file", "tool_input": {"path": f"src/part{number}.py", "content": "x"}}
        done = payload("post_tool_call", hook_call, tool_call_id=f"c{number}", result='{"bytes_written": 1}')
        found.handle("hermes", done, 2.0 + number)
    answer = json.loads(found.handle("hermes", payload("pre_verify", attempt=0), 10.0))
    assert answer["action"] == "continue"
    assert "src/part" in answer["message"]
    assert found.handle("hermes", payload("pre_verify", attempt=1), 20.0) == b""
    assert found.handle("hermes", payload("on_session_end"), 30.0) == b""
