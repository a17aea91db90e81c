"""`preheat experiment`, `rate` and `ledger`: plans, reports, and what lessons, advice and templates did."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.app import Preheat
from preheat.app.experiments.assignment import describe_assignment_with_hint, make_key
from preheat.app.live.hooks import Hooks
from preheat.app.templates.uses import load_pins, load_template
from preheat.archive.connect import connect
from preheat.archive.lessons import load_lessons
from preheat.cli.experiment_screen import show_report
from preheat.daemon.engine import Engine
from preheat.daemon_client import prepare_folder
from preheat.model.experiment import AdviceAssignment, Assignment, AssignmentRecord, Delivery, LedgerEntry, Rating
from preheat.model.lesson import LessonMark
from preheat.state import experiments, ledger, marks
from preheat.state.connect import reading, writing
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import Person
from tests.daemon.builders import AGENT, RIGHT, PatientTimeLimit, hook_payload, learned, started
from tests.experiments.test_report import FIFTH, Trial
from tests.screens import check_screen


@pytest.fixture
def known(person: Person, monkeypatch: pytest.MonkeyPatch) -> Person:
    """A person with a project that four sessions have worked on."""
    os.makedirs(os.path.join(person.home, "shop", ".git"))
    learned(person.folder, os.path.join(person.home, "shop"), person.home)
    return person


def run_json(person: Person, *words: str) -> Any:
    done = person.run(*words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def find_secret(person: Person) -> bytes | None:
    with reading(person.folder) as state:
        return experiments.find_secret(state)


def load_ledger(person: Person) -> list[LedgerEntry]:
    with reading(person.folder) as state:
        return ledger.load_entries(state)


def load_ratings(person: Person) -> list[Rating]:
    with reading(person.folder) as state:
        return list(experiments.ratings(state).values())


def load_marks(person: Person) -> dict[str, LessonMark]:
    with reading(person.folder) as state:
        return marks.marks(state)


def test_without_an_archive_every_command_says_what_to_do(person: Person) -> None:
    assert "until `preheat install AGENT`" in person.run("experiment", "status").out
    assert person.run("experiment", "list").code == 0
    assert person.run("ledger").code == 0
    for words in (("experiment", "report"), ("experiment", "power"), ("experiment", "explain"), ("rate", "good")):
        done = person.run(*words)
        assert done.code == 2
        assert "preheat sync" in done.err


def test_install_mentions_the_holdout_and_how_to_turn_it_off(person: Person) -> None:
    """The random key is made at the first installation only, and is readable by its owner only."""
    done = person.run("install", "codex")
    assert done.code == 0
    assert "One session in five" in done.out
    assert "holdout = 0" in done.out
    first = find_secret(person)
    assert first is not None
    assert os.stat(os.path.join(person.folder, "state.db")).st_mode & 0o077 == 0
    person.run("install", "codex")
    assert find_secret(person) == first
    assert "One session in five" in person.run("status").out
    Path(person.folder, "settings.toml").write_text("[experiment]\nholdout = 0\n")
    assert "Every session starts warm" in person.run("status").out


@pytest.mark.parametrize(
    ("share", "words"), [("0.5", "One session in two"), ("0.1", "One session in ten"), ("0.3", "30% of the sessions")]
)
def test_the_sentence_on_the_holdout_has_its_share(tmp_path: Path, share: str, words: str) -> None:
    make_key(str(tmp_path))
    (tmp_path / "settings.toml").write_text(f"[experiment]\nholdout = {share}\n")
    assert describe_assignment_with_hint(str(tmp_path)).startswith(words)


def test_doctor_names_invalid_settings(person: Person) -> None:
    os.makedirs(person.folder, exist_ok=True)
    Path(person.folder, "settings.toml").write_text("[experiment]\nholdout = 2\n")
    done = person.run("doctor")
    assert done.code == 1
    assert "`holdout` is from 0 to 0.9" in done.out


def test_an_experiment_is_started_listed_reported_stopped_and_recorded(known: Person) -> None:
    """The ledger also records an experiment without sessions, and its name cannot be used again."""
    started = known.run("experiment", "start", "mine", "--shares", "0.8,0.2", "--guardrail", "tokens", "--stop", "n=40")
    assert started.code == 0
    assert "mine runs: 80% warm, 20% cold of all sessions." in started.out
    assert "The experiment `mine` runs" in known.run("experiment", "status").out
    assert "`mine` runs" in known.run("experiment", "start", "other").err
    found = run_json(known, "experiment", "report")
    assert (found["name"], found["state"], found["verdict"]) == ("mine", "running", "too little data")
    entry = run_json(known, "experiment", "stop", "mine")
    assert entry["digest"] == found["experiment"].partition("@")[2]
    assert "stopped already" in known.run("experiment", "stop", "mine").err
    assert "was an experiment `mine` already" in known.run("experiment", "start", "mine").err
    assert "nothing runs" in known.run("experiment", "stop").err
    shown = known.run("ledger")
    assert "mine: too little data (0 warm, 0 cold)" in shown.out
    assert [each["verdict"] for each in run_json(known, "experiment", "list")] == ["too little data"]
    assert "no experiment `his`" in known.run("experiment", "report", "his").err


PLAN = {"name", "arms", "shares", "metric", "guardrails", "margin", "stop", "agent", "project", "template", "at"}


def test_json_names_every_field_of_a_plan(known: Person) -> None:
    """Fields with default values, too; on disk the plan stays as it was hashed."""
    started = run_json(known, "experiment", "start", "mine")
    assert (started["plan"]["metric"], started["plan"]["stop"], started["plan"]["guardrails"]) == (
        "mistakes",
        "anytime",
        [],
    )
    shown = [started["plan"], run_json(known, "experiment", "report")["plan"]]
    shown += [each["plan"] for each in run_json(known, "experiment", "list")]
    shown += [each["plan"] for each in run_json(known, "experiment", "status")["reports"]]
    shown.append(run_json(known, "experiment", "stop")["plan"])
    shown += [each["plan"] for each in run_json(known, "ledger")["entries"]]
    assert [each.keys() for each in shown] == [PLAN] * 6
    assert Preheat(known.folder).experiments.plan_problems() == []


def test_the_report_of_a_stopped_experiment_says_so(known: Person) -> None:
    known.run("experiment", "start", "mine")
    done = known.run("experiment", "stop")
    assert "mine (stopped, since " in done.out
    assert "running" not in done.out


def test_the_holdout_is_reported_by_default_and_by_both_its_names(known: Person) -> None:
    reports = [known.run("experiment", "report", *words).out for words in ([], ["holdout"], ["standing"])]
    assert "holdout (no session yet)" in reports[0]
    assert reports[1:] == reports[:1] * 2


def test_experiment_status_does_not_refer_to_itself(known: Person) -> None:
    make_key(known.folder)
    assert "One session in five" in known.run("experiment", "status").out
    for name, project in (("mine", "shop"), ("his", "site")):
        os.makedirs(os.path.join(known.home, project), exist_ok=True)
        assert known.run("experiment", "start", name, "--project", os.path.join(known.home, project)).code == 0
        done = known.run("experiment", "status")
        assert "`preheat experiment status`" not in done.out + done.err
        assert describe_assignment_with_hint(known.folder).endswith("; `preheat experiment status` says what is known.")
    assert "`mine`, `his`" in done.out


def test_the_deciding_metric_is_not_a_guardrail_as_well(known: Person) -> None:
    done = known.run("experiment", "start", "mine", "--guardrail", "mistakes", "--guardrail", "tokens", "--json")
    assert json.loads(done.out)["plan"]["guardrails"] == ["tokens"]
    assert "mistakes decides already" in done.err
    known.run("experiment", "stop")
    done = known.run("experiment", "start", "next", "--guardrail", "mistakes", "--guardrail", "tokens")
    assert "by more than 10%: tokens." in done.out
    assert "mistakes decides already" in done.err


def test_an_experiment_without_an_archive_can_be_stopped(person: Person) -> None:
    person.run("experiment", "start", "mine")
    done = person.run("experiment", "stop")
    assert done.code == 0
    assert done.out.startswith("Too little data: no session in `warm` and none in `cold`.")
    assert [each.name for each in load_ledger(person)] == ["mine"]


def test_the_report_says_when_differences_are_adjusted_and_p_values_corrected(
    steady: None, capsys: pytest.CaptureFixture[str]
) -> None:
    show_report(Trial().add(300, {"cold": 0.12, "warm": 0.04}, FIFTH).report())
    check_screen("experiment-report", capsys.readouterr().out)
    show_report(Trial().report())
    shown = capsys.readouterr().out
    assert "adjusted" not in shown
    assert "(Holm)" not in shown


def test_a_report_without_a_session_has_no_table_of_missing_numbers(
    steady: None, capsys: pytest.CaptureFixture[str]
) -> None:
    show_report(Trial().report())
    shown = capsys.readouterr().out
    assert shown.startswith("Too little data")
    assert "difference" not in shown
    assert "got a context" not in shown


def test_in_a_narrow_window_the_table_keeps_what_decides(
    steady: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    show_report(Trial().add(300, {"cold": 0.12, "warm": 0.04}, FIFTH).report())
    lines = capsys.readouterr().out.splitlines()
    (titles,) = (line for line in lines if "metric" in line and "difference" in line)
    table = lines[lines.index(titles) :][:9]
    assert titles.split() == ["metric", "level", "against", "difference", "95", "%,", "any", "look"]
    assert table[1].split() == ["mistakes", *["4.0", "%", "10.8", "%", "-6.8", "%", "-9.1", "%", "to", "-4.4", "%"]]
    assert max(map(len, table)) <= 60


def test_two_projects_may_have_experiments_at_once(known: Person) -> None:
    os.makedirs(os.path.join(known.home, "site", ".git"))
    assert known.run("experiment", "start", "a", "--project", os.path.join(known.home, "shop")).code == 0
    assert known.run("experiment", "start", "b", "--project", os.path.join(known.home, "site")).code == 0
    assert "several run" in known.run("experiment", "report").err
    assert "is no folder" in known.run("experiment", "start", "c", "--project", "nowhere").err


def test_an_assigned_session_is_visible_from_its_start_to_after_its_end(known: Person) -> None:
    """`sessions show` says its arm, `ledger` why it is empty, and the report knows when the agent has said that it is over."""
    make_key(known.folder)
    project = os.path.join(known.home, "shop")
    engine = Engine(prepare_folder(known.folder), Hooks(known.folder), PatientTimeLimit())
    session = "0000000a-1111-4000-8000-000000000000"
    now = time.time()
    engine.handle(AGENT, started(session, cwd=project), now)
    transcript = ClaudeTranscript(session=session, project=project, started=now).prompt("Make it work").answer("Yes.")
    transcript.run("uv run pytest", "5 passed").answer("Done.").write(os.path.join(known.home, ".claude", "projects"))
    engine.sessions.prepare_flush()()
    assert known.run("sync").code == 0
    assert known.run("learn").code == 0
    assert "1 session goes on" in known.run("experiment", "report").out
    engine.handle(AGENT, hook_payload("SessionEnd", session, cwd=project), now + 1)
    engine.sessions.prepare_flush()()
    assert "on; what" not in known.run("experiment", "report").out
    arm = engine.sessions.get(AGENT, session).assigned
    assert arm is not None
    assert f"arm: {arm.arm} of `holdout`" in known.run("sessions", "show", session).out
    assert run_json(known, "sessions", "show", session)["assignment"]["arm"] == arm.arm
    assert run_json(known, "sessions", "show", "00000001")["assignment"] is None
    assert "`holdout` (1 session assigned)" in " ".join(known.run("ledger").err.split())
    assert run_json(known, "ledger")["unfinished"] == {"holdout": 1}


def test_a_changed_ledger_is_noticed(known: Person) -> None:
    """A line that was changed or removed: exit code 1, and the line is named."""
    for name in ("one", "two", "three"):
        entry = LedgerEntry(kind="experiment", at=1.0, name=name, sentence="It showed nothing.", verdict="hurts")
        with writing(known.folder) as state:
            ledger.add_entry(state, entry)
    assert known.run("ledger").code == 0
    with writing(known.folder) as state:
        line = ledger.load_lines(state)[0]
        state.execute("UPDATE ledger SET line = ? WHERE number = 1", (line.replace(b"hurts", b"helps"),))
    done = known.run("ledger")
    assert done.code == 1
    assert "line 2 of the ledger" in done.out
    with writing(known.folder) as state:
        state.execute("UPDATE ledger SET line = ? WHERE number = 1", (line,))
        state.execute("DELETE FROM ledger WHERE number = 2")
    assert known.run("ledger").code == 1


def test_the_last_rating_of_a_session_counts(known: Person) -> None:
    """Secrets in the note are not stored."""
    assert known.run("rate", "good").out.startswith("good: ")
    assert run_json(known, "rate", "good").keys() == {"session", "good", "at", "note"}
    rated = run_json(known, "rate", "bad", "latest", "--note", "it printed AKIAIOSFODNN7EXAMPLE twice")
    assert rated["good"] is False
    (one,) = load_ratings(known)
    assert not one.good
    assert "AKIA" not in one.note
    done = known.run("rate", "bad", "--note", "x" * 1990 + " AKIAIOSFODNN7EXAMPLE")
    assert "the first 2,000 characters" in done.err
    (one,) = load_ratings(known)
    assert "AKIA" not in one.note
    everything = b"".join(path.read_bytes() for path in Path(known.folder).rglob("state.db*"))
    assert b"AKIAIOSFODNN7EXAMPLE" not in everything


def test_power_says_when_there_are_too_few_sessions(known: Person) -> None:
    done = known.run("experiment", "power")
    assert done.code == 2
    assert "10 earlier sessions or more" in done.err
    assert known.run("experiment", "power", "--cold", "2").code == 2


def test_power_plans_for_a_fall_where_success_cannot_rise(known: Person) -> None:
    """Every session's last check passed, so success can only fall; weeks are counted in sessions that had a check."""
    write_trial(known, harm=0.2, count=40)
    known.run("learn")
    words = ("experiment", "power", "--metric", "success", "--margin", "0.15")
    found = run_json(known, *words)
    assert found["plan"]["effect"] == -0.15
    assert found["worse"]
    assert found["a_week"] == pytest.approx(10, abs=1)
    done = known.run(*words)
    assert done.code == 0
    assert "It cannot improve by 15.0 %" in done.out
    done = known.run("experiment", "power", "--metric", "rating")
    assert "with nothing to count; sync more first, or plan for another --metric" in done.err


def write_trial(person: Person, harm: float, count: int = 240) -> str:
    """Sessions that were given a lesson or not, at random, and made more mistakes with it; the lesson's id."""
    connection = connect(person.folder)
    item = next(each.id for each in load_lessons(connection) if each.kind == "convention" and each.status == "active")
    connection.close()
    project = os.path.join(person.home, "shop")
    records: list[AssignmentRecord] = []
    start = time.time() - count * 3600
    for number in range(count):
        session = f"{number + 4096:08x}-4444-4000-8000-000000000000"
        shown = number % 2 == 0
        name, at = f"claude_code:{session}", start + number * 3600
        fields: dict[str, Any] = {"root": name, "experiment": "standing", "agent": "claude_code", "project": project}
        records.append(Assignment(session=name, arm="warm", shares={"cold": 0.2, "warm": 0.8}, at=at, **fields))
        sides = {"shown": (item,)} if shown else {"withheld": (item,)}
        records.append(Delivery(session=name, at=at, context="c", offered=1, probability=0.5, **sides))  # type: ignore[arg-type]
        found = ClaudeTranscript(session=session, project=project, started=at).prompt("the next step")
        wrong = number // 2 % 3 + (round(10 * harm) if shown else 0)
        for call in range(10):
            if call < wrong:
                change = {"file_path": f"{project}/src/a.py", "old_string": f"old {call}", "new_string": "new"}
                found = found.answer("I change it.").call("Edit", change)
                found = found.result(
                    "<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True
                )
            else:
                found = found.answer("I run it.").run(RIGHT, "5 passed in 0.1s")
        found.answer("Done.").write(person.projects)
    make_key(person.folder)
    with writing(person.folder) as state:
        experiments.keep_assignments(state, records)
    assert person.run("sync").code == 0
    return item


def test_a_harmful_lesson_is_withdrawn_and_can_be_released(known: Person) -> None:
    """The ledger, `lessons` and `explain` give the reason; a released lesson stays, also in a new archive."""
    item = write_trial(known, harm=0.2)
    first = run_json(known, "learn")
    assert any(line.startswith("withdrawn: ") for line in first["proof"])
    (entry,) = [each for each in load_ledger(known) if each.name == item]
    assert (entry.kind, entry.verdict) == ("withdrawn", "hurts")
    shown = run_json(known, "lessons", "show", item)
    assert shown["status"] == "retired"
    assert "withdrawn by measurement: it does harm" in shown["why"]
    (explained,) = run_json(known, "experiment", "explain", item)
    assert explained["verdict"] == "hurts"
    assert explained["low"] > 0.1
    assert "it does harm" in known.run("experiment", "explain", item).out
    assert "it does harm" in known.run("ledger").out
    assert run_json(known, "learn")["proof"] == []

    for name in os.listdir(known.folder):
        if name.startswith("archive.db"):
            os.unlink(os.path.join(known.folder, name))
    known.run("sync")
    known.run("learn")
    assert load_marks(known)[item].mark == "retired"

    assert known.run("lessons", "release", item).code == 0
    known.run("learn")
    assert item not in load_marks(known)
    assert [each.kind for each in load_ledger(known)] == ["withdrawn", "brought back"]
    assert "status" not in run_json(known, "lessons", "show", item)  # active, as what is usual is not written
    known.run("lessons", "pin", item)
    assert any(line.startswith("pinned, but it does harm") for line in run_json(known, "learn")["proof"])


COUNT = 64


def session_id(number: int) -> str:
    return f"{number + 4096:08x}-5555-4000-8000-000000000000"


def write_session(person: Person, number: int, at: float, wrong: frozenset[int], calls: int = 16) -> str:
    """A session whose calls of these numbers fail by a mistake; its key. A call and its result take four seconds, with a text
    before them two more."""
    project = os.path.join(person.home, "shop")
    found = ClaudeTranscript(session=session_id(number), project=project, started=at).prompt("the next step")
    for call in range(calls):
        found = found.answer("Next.")
        if call in wrong:
            change = {"file_path": f"{project}/src/a.py", "old_string": f"old {call}", "new_string": "new"}
            found = found.call("Edit", change)
            found = found.result("<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True)
        else:
            found = found.run(RIGHT, "5 passed in 0.1s")
    found.answer("Done.").write(person.projects)
    return f"claude_code:{session_id(number)}"


def prepare_shop(person: Person) -> float:
    os.makedirs(os.path.join(person.home, "shop", ".git"))
    learned(person.folder, os.path.join(person.home, "shop"), person.home)
    make_key(person.folder)
    return time.time() - COUNT * 3600


def test_explain_advice_measures_the_next_calls(person: Person) -> None:
    """Advice helps if mistakes stop after it and go on where it was withheld; moments without later calls are counted."""
    start = prepare_shop(person)
    records: list[AssignmentRecord] = []
    for number in range(COUNT):
        at = start + number * 3600
        shown = number % 2 == 0
        after = frozenset([6]) if shown else frozenset([6, 7, 8]) if number % 4 == 1 else frozenset([6, 8])
        key = write_session(person, number, at, frozenset([1, 3]) | after)
        moment = at + 2 + 6 * 5 + 5  # after the result of the sixth call
        fields: dict[str, Any] = {"session": key, "turn": 6, "signal": "loop", "probability": 0.5}
        records.append(AdviceAssignment(at=moment, cause="c", shown=shown, **fields))
    records.append(
        AdviceAssignment(
            session="claude_code:gone", at=1.0, turn=1, signal="loop", cause="c", shown=True, probability=0.5
        )
    )
    with writing(person.folder) as state:
        experiments.keep_assignments(state, records)
    person.run("sync")
    person.run("learn")
    found = json.loads(person.run("experiment", "explain", "advice", "--json").out)
    assert found["estimate"]["units"] == [COUNT // 2, COUNT // 2]
    assert found["estimate"]["difference"] == pytest.approx(-0.3)
    assert found["estimate"]["high"] < 0
    assert found["moments_without_calls_after"] == 1
    printed = person.run("experiment", "explain", "advice").out
    assert printed.startswith("Advice helps: -30.0 mistakes per 100 of the next 5 calls")


def test_explain_orientation_measures_calls_before_the_next_edit_and_leaves_advice_alone(person: Person) -> None:
    """The edit is the call after the moment where files were named, and three or four calls later where that was withheld; a
    session without an edit counts with all its calls."""
    start = prepare_shop(person)
    project = os.path.join(person.home, "shop")
    records: list[AssignmentRecord] = []
    for number in range(COUNT):
        at, shown = start + number * 3600, number % 2 == 0
        found = ClaudeTranscript(session=session_id(number), project=project, started=at).prompt("the next step")
        for _ in range(0 if shown else 3 + number % 4 // 2):
            found = found.run("cat src/a.py", "x = 1")
        if number:
            found = found.call("Edit", {"file_path": f"{project}/src/a.py", "old_string": "1", "new_string": "2"})
            found = found.result("The file has been updated.")
        found = found.run(RIGHT, "5 passed in 0.1s")
        found.answer("Done.").write(person.projects)
        fields: dict[str, Any] = {"session": f"claude_code:{session_id(number)}", "turn": 1, "signal": "orientation"}
        records.append(AdviceAssignment(at=at + 0.5, cause="c", shown=shown, probability=0.5, **fields))
    with writing(person.folder) as state:
        experiments.keep_assignments(state, records)
    person.run("sync")
    person.run("learn")
    found_effect = json.loads(person.run("experiment", "explain", "orientation", "--json").out)
    assert found_effect["calls"]["units"] == [COUNT // 2, COUNT // 2]
    assert found_effect["calls"]["level"] == pytest.approx(1 / (COUNT // 2))  # the one without an edit ran its check
    assert found_effect["calls"]["base"] == pytest.approx(3.5)
    assert found_effect["calls"]["high"] < 0
    assert found_effect["moments_without_edit_after"] == 1
    printed = person.run("experiment", "explain", "orientation").out
    assert printed.startswith("Orientation saves calls before the next edit: -3.")
    advice = json.loads(person.run("experiment", "explain", "advice", "--json").out)
    assert advice["estimate"]["units"] == [0, 0]


def test_a_harmful_template_is_unloaded_and_recorded_once(person: Person) -> None:
    start = prepare_shop(person)
    project = os.path.join(person.home, "shop")
    assert person.run("warm", "build", "mine", "--project", project, "--min-messages", "0").code == 0
    pin = load_template(person.folder, project, "mine", start)
    records: list[AssignmentRecord] = []
    for number in range(COUNT):
        at, warm = start + number * 3600, number % 2 == 0
        key = write_session(person, number, at, frozenset(range(number // 2 % 3 + (6 if warm else 0))))
        fields: dict[str, Any] = {"root": key, "experiment": "standing", "agent": "claude_code", "project": project}
        shares = {"cold": 0.5, "warm": 0.5}
        records.append(Assignment(session=key, arm="warm" if warm else "cold", shares=shares, at=at, **fields))
        records.append(
            Delivery(session=key, at=at, context="c" if warm else "", offered=2, template=f"mine@{pin.digest[:12]}")
        )
    with writing(person.folder) as state:
        experiments.keep_assignments(state, records)
    person.run("sync")
    proof = json.loads(person.run("learn", "--json").out)["proof"]
    assert any("withdrawn: template mine@" in line and "does harm" in line for line in proof)
    assert load_pins(person.folder) == {}
    with reading(person.folder) as state:
        entries = [each for each in ledger.load_entries(state) if each.name.startswith("mine@")]
    assert [(each.kind, each.verdict) for each in entries] == [("withdrawn", "hurts")]
    (explained,) = json.loads(person.run("experiment", "explain", "mine", "--json").out)
    assert (explained["template"], explained["estimate"]["units"]) == (entries[0].name, [COUNT // 2, COUNT // 2])
    assert "does harm" in person.run("experiment", "explain", "mine").out
    load_template(person.folder, project, "mine", start)
    assert json.loads(person.run("learn", "--json").out)["proof"] == []
    assert load_pins(person.folder)
    report = json.loads(person.run("experiment", "report", "--json").out)
    assert report["verdict"] == "hurts"
