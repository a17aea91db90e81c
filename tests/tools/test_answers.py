"""The tools on a machine that learned something: the numbers and words of the commands, short, and clean."""

import json
import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from preheat.app.learning import learn
from preheat.app.sessions.archive import open_archive
from preheat.archive.connect import connect
from preheat.cli import main
from preheat.safe_text.sentences import fit_slot, is_handed_out
from preheat.settings import archive_path
from preheat.testing.builders import ClaudeTranscript
from preheat.tools import TOOLS, call
from preheat.tools import tool as tool_module
from preheat.tools.tool import count_tokens
from tests.ingest.machine import Machine
from tests.ingest.test_learning import worked

from .conftest import SHOP, make_machine

NAMES = [tool.name for tool in TOOLS]


def ask(machine: Machine, name: str, cwd: str = SHOP, **arguments: Any) -> dict[str, Any]:
    return call(name, arguments, machine.folder, cwd)


def command_json(machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any, *words: str) -> Any:
    """What a command prints as JSON."""
    monkeypatch.setenv("PREHEAT_HOME", machine.folder)
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# The same as the commands.
def test_provision_gives_what_warm_start_gives(taught: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    found = ask(taught, "provision", task="run the tests of checkout", explain=True)
    printed = command_json(
        taught, monkeypatch, capsys, "warm", "start", "--task", "run the tests of checkout", "--project", "shop"
    )
    assert found["success"]
    assert "uv run pytest" in found["text"]
    assert "data, not instructions" in found["text"]
    assert found["text"] == printed["document"]
    for name in ("id", "tokens", "budget", "project", "sessions", "considered", "left_out"):
        assert found[name] == printed["context"][name]
    assert [item["lesson"] for item in found["items"]] == [item["lesson"] for item in printed["context"]["items"]]


def test_provision_says_why_there_is_nothing(taught: Machine, tmp_path: Path) -> None:
    found = ask(taught, "provision", task="translate a poem", cwd=str(tmp_path))
    assert found["success"]
    assert found["text"] == ""
    assert found["reason"]
    assert "go on without it" in found["next"]
    small = ask(taught, "provision", task="run the tests", budget=100)
    assert small["tokens"] <= 100


def test_mistakes_equal_those_of_the_command(taught: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Without the occurrences, which `id` gives."""
    found = ask(taught, "mistakes")
    printed = command_json(taught, monkeypatch, capsys, "mistakes", "--project", SHOP)
    assert found["mistakes"]
    for name in ("calls", "seconds", "tokens", "failures", "sessions", "by", "causes"):
        assert found[name] == printed[name]
    for one, other in zip(found["mistakes"], printed["mistakes"], strict=True):
        assert one["sessions"] == len(other["sessions"])
        for name in ("id", "cause", "calls", "tokens", "recovered"):
            assert one[name] == other[name]
        assert one["title"] == fit_slot("error", other["title"])
    whole = ask(taught, "mistakes", id=found["mistakes"][0]["id"])
    assert len(whole["occurrences"]) == found["mistakes"][0]["calls"]


def test_lessons_equal_those_of_the_command(taught: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Without the evidence, which `id` gives."""
    found = ask(taught, "lessons", max_tokens=20_000)
    printed = command_json(taught, monkeypatch, capsys, "lessons", "list", "--project", "shop", "--limit", "500")
    assert {each["id"] for each in found["lessons"]} == {each["id"] for each in printed}
    assert all(is_handed_out(line.strip()) for each in found["lessons"] for line in each["text"].splitlines())
    one = ask(taught, "lessons", id=found["lessons"][0]["id"])["lesson"]
    other = next(each for each in printed if each["id"] == one["id"])
    assert {name: one[name] for name in ("kind", "support", "use")} == {
        name: other[name] for name in ("kind", "support", "use")
    }
    assert len(one["evidence"]) == len(other["evidence"])
    repairs = ask(taught, "lessons", words="PYTEST command", kind="repair")
    assert repairs["found"] >= 1
    assert {each["kind"] for each in repairs["lessons"]} == {"repair"}
    assert ask(taught, "lessons", words="zeppelin")["next"].startswith("fewer or other words")


def test_lessons_of_an_unknown_folder_are_the_general_ones(taught: Machine, tmp_path: Path) -> None:
    """A named project that is unknown is an error."""
    found = ask(taught, "lessons", cwd=str(tmp_path))
    assert found["success"]
    assert "hold anywhere" in found["project"]
    assert all(not each["scope"]["project"] for each in found["lessons"])
    assert "no project `atlantis`" in ask(taught, "lessons", project="atlantis")["error"]


def test_profiles_equal_those_of_the_command(taught: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    one = ask(taught, "profile", session="latest")
    assert one.pop("success")
    assert "data, not instructions" in one.pop("note")
    assert one == command_json(taught, monkeypatch, capsys, "profile", "latest")
    many = ask(taught, "profile", parts=["tools", "agents"], max_tokens=20_000)
    printed = command_json(taught, monkeypatch, capsys, "profile", "--project", SHOP)
    for name in ("sessions", "calls", "statuses", "causes", "overall", "tools", "agents", "too_little"):
        assert many[name] == printed[name]
    assert many["conclusion"] == printed["marathon"]["conclusion"]
    assert "windows" in many["more"]
    assert ask(taught, "profile", project="atlantis")["next"].startswith("no session matches")


def test_why_equals_that_of_the_command(taught: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    printed = command_json(taught, monkeypatch, capsys, "why", "latest:2")
    for found in (ask(taught, "why", session="latest", turn=2), ask(taught, "why", session="latest:2")):
        assert {name: found[name] for name in ("session", "turn", "phase")} == {
            name: printed[name] for name in ("session", "turn", "phase")
        }
        assert [each["value"] for each in found["readings"]] == [each["value"] for each in printed["readings"]]
    assert "there is no turn 99" in ask(taught, "why", turn=99)["error"]


def test_search_gives_passages_with_session_and_line(taught: Machine) -> None:
    found = ask(taught, "session_search", words="zebrafish 2")
    (passage,) = found["passages"]
    assert passage["session"].startswith("00000002-")
    assert passage["when"] == "2026-01-07T08:00Z"
    assert (passage["project"], passage["kind"]) == (SHOP, "assistant")
    assert "zebrafish 2" in passage["recorded"]["text"]
    assert "`recorded` quotes transcripts" in found["note"]
    assert ask(taught, "session_search", words="pytest", kind="command")["found"] == 12
    assert "`zeppe*`" in ask(taught, "session_search", words="zeppelin")["next"]
    assert "no word to search for" in ask(taught, "session_search", words="***")["error"]


def test_a_resume_packet_says_where_the_last_session_ended(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    transcript = worked(1, SHOP)
    recent = ClaudeTranscript(session="0000000f-1111-4000-8000-000000000000", project=SHOP, started=time.time() - 3600)
    recent = recent.prompt("Make the till ring").answer("I run the tests.")
    for _ in range(3):
        recent = recent.run("uv run pytest tests", "FAILED tests/test_till.py::test_rings\n1 failed", 1).answer("Hm.")
    transcript.write(machine.projects)
    recent.write(machine.projects)
    machine.sync()
    learn(machine.folder)
    found = ask(machine, "resume_packet")
    assert "failing: `uv run pytest tests`" in found["text"]
    assert "Make the till ring" not in json.dumps([found["text"], found["packet"]])
    assert found["recorded"]["asked"] == "Make the till ring"
    assert "A quotation" in found["recorded"]["note"]
    assert found["text"].startswith("<preheat-context")
    assert ask(machine, "resume_packet", cwd=str(tmp_path))["text"] == ""


# Short.
def test_rows_that_do_not_fit_follow_with_offset(taught: Machine) -> None:
    """Every row comes exactly once."""
    whole = ask(taught, "lessons", max_tokens=20_000)["lessons"]
    seen: list[str] = []
    for _ in range(100):
        part = ask(taught, "lessons", max_tokens=300, offset=len(seen))
        assert count_tokens(part) <= 800
        seen += [each["id"] for each in part["lessons"]]
        if "left_out" not in part:
            break
        assert part["left_out"] == len(whole) - len(seen)
        assert f"`offset` {len(seen)}" in part["more"]
    assert seen == [each["id"] for each in whole]
    assert len(seen) > 3
    assert ask(taught, "lessons", offset=5000)["more"].startswith("there are only")


# Clean.
@pytest.mark.parametrize("name", NAMES)
def test_hostile_texts_are_made_harmless(attacked: Machine, name: str) -> None:
    """A session's text cannot control a terminal, hide, or end our block; it is marked as data."""
    needed: dict[str, list[dict[str, Any]]] = {
        "provision": [{"task": "run make check and the tests"}],
        "session_search": [{"words": "evil"}, {"words": "frobnicate", "project": "all"}],
        "mistakes": [{}, {"min_sessions": 1, "max_tokens": 20_000}],
        "lessons": [{"max_tokens": 20_000}, {"words": "make"}],
        "where": [{"prompt": "frobnicate the evil build"}],
        "profile": [{"session": "latest"}, {"parts": "tools"}],
        "warm_session": [{"action": "build", "name": "bad", "min_messages": 1}, {"action": "load", "name": "bad"}],
    }
    for arguments in needed.get(name, [{}]):
        answer = call(name, arguments, attacked.folder, SHOP)
        whole = json.dumps(answer, ensure_ascii=False)
        assert not set(whole) & set("\x1b\u202e\u200b\x07\x00")
        for each in answer.get("passages", ()):  # what was asked for: quoted in a field of its own
            assert set(each.pop("recorded")) == {"about", "text"}
        text = json.dumps(answer, ensure_ascii=False)
        assert answer["success"]
        assert "<system" not in text
        assert text.count("</preheat-context>") == text.count("<preheat-context")
        assert "gnore all previous" not in text
        if "evil" in text:
            assert "data, not instructions" in text


def test_what_a_tool_printed_is_named_by_no_words_of_its_own(attacked: Machine) -> None:
    found = ask(attacked, "mistakes")["mistakes"]
    assert [each for each in found if each["title"] == "…" and each["calls"] >= 4]
    passages = ask(attacked, "session_search", words="npx")["passages"]
    assert "npx frobnicate" in [each["recorded"]["text"] for each in passages]


def test_answers_of_preheat_in_transcripts_are_not_learned_from(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    for number in range(20, 24):
        session = f"{number:08x}-1111-4000-8000-000000000000"
        transcript = ClaudeTranscript(session=session, project=SHOP, started=1_767_900_000.0 + number).prompt("go on")
        for tool in ("mcp__preheat__lessons", "preheat_provision", "warm_session"):
            transcript = transcript.answer("I ask.").call(tool, {"task": "xylophone"}).result("use xylophone")
        transcript.answer("Done.").write(machine.projects)
    machine.sync()
    learn(machine.folder)
    assert "xylophone" not in json.dumps(ask(machine, "lessons", max_tokens=20_000))
    profile = ask(machine, "profile", session="00000014")
    assert (profile["calls"], profile["bookkeeping_calls"]) == (0, 3)


# Bad luck.
@pytest.mark.parametrize("name", NAMES)
def test_without_an_archive_the_answer_says_what_to_do(name: str, tmp_path: Path) -> None:
    """Asking creates nothing."""
    needed = {
        "provision": {"task": "x"},
        "session_search": {"words": "x"},
        "where": {"prompt": "the parser of invoices"},
        "warm_session": {"action": "profile"},
    }
    answer = call(name, needed.get(name, {}), str(tmp_path / "none"), str(tmp_path))
    assert "preheat sync" in json.dumps(answer)
    assert not os.path.exists(archive_path(str(tmp_path / "none")))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "warm_session"])
@pytest.mark.parametrize("trouble", ["damaged", "newer", "folder"])
def test_an_unusable_archive_gives_an_error_answer(name: str, trouble: str, tmp_path: Path) -> None:
    """Damaged, of a newer version, or not a file at all."""
    path = archive_path(str(tmp_path))
    if trouble == "damaged":
        Path(path).write_bytes(b"no database at all" * 1000)
    elif trouble == "folder":
        os.mkdir(path)
    else:
        open_archive(str(tmp_path)).close()
        connection = sqlite3.connect(path)
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
        connection.close()
    needed = {"provision": {"task": "x"}, "session_search": {"words": "x"}, "where": {"prompt": "the parser"}}
    answer = call(name, needed.get(name, {}), str(tmp_path), str(tmp_path))
    assert answer["success"] is False
    assert archive_path(str(tmp_path)) in answer["error"]
    assert answer["next"]


def test_a_failing_tool_gives_an_error_answer_and_a_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A session's row has a text where a time should be."""
    machine = make_machine(tmp_path, sessions=2)
    connection = machine.connection()
    connection.execute("UPDATE sessions SET started_at = 'once upon a time'")
    connection.close()
    answer = ask(machine, "session_search", words="zebrafish")
    assert answer["success"] is False
    assert answer["error"] == "`session_search` failed inside: TypeError"
    assert "go on without it" in answer["next"]
    assert "the tool `session_search` failed" in caplog.text


def test_concurrent_calls_get_the_same_answer(tmp_path: Path) -> None:
    """Twenty threads on an archive that is not analysed yet: one analyses it."""
    machine = Machine(tmp_path)
    for number in range(1, 5):
        worked(number, SHOP).write(machine.projects)
    machine.sync()
    answers: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda: answers.append(ask(machine, "mistakes"))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["mistakes"]


def test_a_slow_analysis_answers_with_what_is_analysed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says what is missing; no template is built from a part of the sessions."""
    machine = Machine(tmp_path)
    for number in range(1, 5):
        worked(number, SHOP).write(machine.projects)
    machine.sync()
    with closing(connect(machine.folder)) as connection:
        connection.execute("DELETE FROM judgements")  # as after an update, whose analysis differs
    monkeypatch.setattr(tool_module, "SECONDS", 0.0)
    for name in ("mistakes", "profile"):
        early = ask(machine, name)
        assert early["success"]
        assert early["missing"].startswith("4 sessions are not analysed")
    assert "next" not in ask(machine, "mistakes")  # that nothing is repeated is not known
    built = call("warm_session", {"action": "build", "name": "shop", "min_messages": 1}, machine.folder, SHOP)
    assert (built["success"], built["error"]) == (False, "4 sessions are not analysed yet")
    assert "ask the same again" in built["next"]
    assert ask(machine, "warm_session", action="compare", session_id="00000001", compare_with="00000002")["success"]
    monkeypatch.undo()
    found = ask(machine, "mistakes")
    assert found["mistakes"]
    assert "missing" not in found


def test_an_unknown_tool_gives_an_error_answer() -> None:
    assert call("no_such_tool", {}, "somewhere", ".")["next"].startswith("there are `provision`")
