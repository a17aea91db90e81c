"""The field trial through the engine: who gets what, that it is on disk before anything is given, and that it lasts."""

import json
import os
import random
import subprocess
import sys
import time
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from preheat.app.experiments.assignment import make_key
from preheat.app.experiments.comparisons import Experiments
from preheat.app.experiments.records import load_records
from preheat.app.learning import learn
from preheat.app.live.hooks import Hooks
from preheat.app.sessions.archive import forget_sessions, sync
from preheat.archive.connect import connect
from preheat.daemon.engine import Engine
from preheat.daemon_client import prepare_folder
from preheat.model.experiment import AdviceAssignment, Assignment, Delivery
from preheat.model.live import HookEvent
from preheat.provisioning.tokens import estimate_tokens
from preheat.state import experiments
from preheat.state.connect import reading, writing
from preheat.testing.builders import ClaudeTranscript
from tests.daemon.builders import (
    AGENT,
    RIGHT,
    Daemon,
    PatientTimeLimit,
    daemon,
    edited,
    hook_payload,
    learned,
    prompted,
    started,
)

ALL = "[experiment]\nholdout = 0.5\ndrop_items = 0.3\nwithhold_advice = 0.5\n"


class Machine:
    """A person's machine with a project that four sessions have worked on, and an engine on it."""

    def __init__(self, home: Path, settings: str = "", key: bool = True) -> None:
        self.home = str(home)
        self.data = str(home / "data")
        self.project = str(home / "shop")
        os.makedirs(os.path.join(self.project, ".git"))
        learned(self.data, self.project, self.home)
        if settings:
            Path(self.data, "settings.toml").write_text(settings)
        if key:
            make_key(self.data)
        self.live = prepare_folder(self.data)
        self.engine = self.restarted()

    def restarted(self) -> Engine:
        """A daemon that comes after one that was killed."""
        self.engine = Engine(self.live, Hooks(self.data), PatientTimeLimit())
        return self.engine

    def start(self, session: str, source: str = "startup", at: float = 1.0, **more: Any) -> str:
        """What a session is given at a start."""
        answer = self.engine.handle(AGENT, started(session, source, cwd=self.project, **more), at)
        return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""

    def arm(self, session: str) -> str:
        found = self.engine.sessions.get(AGENT, session).assigned
        return "" if found is None else found.arm

    @property
    def records(self) -> list[Any]:
        """Assignments, then deliveries, then advice: each in the order in which it was drawn."""
        with reading(self.data) as state:
            drawn_at = sorted(experiments.assignments(state), key=lambda each: each.at)
            return [*drawn_at, *experiments.deliveries(state), *experiments.advice_assignments(state)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, ALL)


def test_the_assignment_is_on_disk_before_a_context_is_given(machine: Machine) -> None:
    """Half of 200 sessions start without, within binomial limits; each has its assignment in the journal and in the file,
    and what it was given is what its arm says."""
    cold = 0
    for number in range(200):
        text = machine.start(f"s{number}", at=float(number))
        assert machine.arm(f"s{number}") == ("warm" if text else "cold")
        cold += not text
    assert abs(cold - 100) <= 4 * sqrt(200 * 0.25)
    drawn = [each for each in machine.records if isinstance(each, Assignment)]
    assert [each.session for each in drawn] == [f"{AGENT}:s{number}" for number in range(200)]
    assert {(each.project, each.agent) for each in drawn} == {(machine.project, AGENT)}
    assert {tuple(sorted(each.shares.items())) for each in drawn} == {(("cold", 0.5), ("warm", 0.5))}
    given = [each for each in machine.records if isinstance(each, Delivery)]
    assert len(given) == 200
    assert all(each.offered for each in given)  # there was something for everybody, whatever the arm
    journaled = [record for entry in machine.engine.journal.replay(0) for record in entry.assignments]
    assert [each for each in journaled if isinstance(each, Assignment)] == drawn
    assert [each for each in journaled if isinstance(each, Delivery)] == given
    assert len(journaled) == len(machine.records)


def test_a_session_keeps_its_arm_over_resume_compaction_and_restarts(machine: Machine) -> None:
    before = {f"s{number}": bool(machine.start(f"s{number}")) for number in range(30)}
    for source in ("resume", "compact", "startup"):
        machine.restarted()
        for session, warm in before.items():
            text = machine.start(session, source, 50.0)
            assert machine.arm(session) == ("warm" if warm else "cold")
            assert warm or RIGHT not in text
    assert sum(isinstance(each, Assignment) for each in machine.records) == 30


def test_a_fork_has_the_arm_of_its_parent(machine: Machine) -> None:
    hooks = Hooks(machine.data)
    arms = set()
    for number in range(20):
        root = hooks.assign_session(
            HookEvent(agent=AGENT, session=f"r{number}", name="session_start", cwd=machine.project), None, False
        )
        assert root is not None
        fork = HookEvent(
            agent=AGENT, session=f"f{number}", name="session_start", cwd="/elsewhere", source="fork", at=9.0
        )
        found = hooks.assign_session(fork, root, False)
        assert found is not None
        assert (found.arm, found.root, found.session) == (root.arm, root.session, f"{AGENT}:f{number}")
        arms.add(found.arm)
    assert arms == {"warm", "cold"}


def test_the_arm_of_a_session_is_read_from_the_assignments_file(machine: Machine) -> None:
    before = {f"s{number}": bool(machine.start(f"s{number}")) for number in range(12)}
    for part in ("journal", "sessions"):
        for name in os.listdir(os.path.join(machine.live, part)):
            os.unlink(os.path.join(machine.live, part, name))
    machine.restarted()
    for session, warm in before.items():
        machine.start(session, "resume")
        assert machine.arm(session) == ("warm" if warm else "cold")


def test_a_session_whose_start_was_missed_is_unassigned_and_warm(machine: Machine) -> None:
    assert RIGHT in machine.start("resumed", "resume")
    assert machine.arm("resumed") == "unassigned"
    machine.engine.handle(AGENT, edited(1, "src/a.py", "underway", cwd=machine.project), 2.0)
    machine.engine.handle(AGENT, prompted("go on", "underway", cwd=machine.project), 3.0)
    assert machine.arm("underway") == "unassigned"
    whys = [each.why for each in machine.records if isinstance(each, Assignment)]
    assert whys == ["its start was missed"] * 2


def test_left_out_items_are_recorded_with_their_probability(machine: Machine) -> None:
    texts = {f"s{number}": machine.start(f"s{number}", at=float(number)) for number in range(60)}
    with reading(machine.data) as state:
        exposures = experiments.exposures(state)
    warm = {session for session, text in texts.items() if text}
    assert {record.session.partition(":")[2] for record in exposures} == warm
    assert {record.probability for record in exposures} == {0.7}
    assert {record.shown for record in exposures} == {True, False}
    given = {each.session: each for each in machine.records if isinstance(each, Delivery)}
    offered = {frozenset((*each.shown, *each.withheld)) for each in given.values() if each.shown or each.withheld}
    assert len(offered) == 1
    assert len({each.shown for each in given.values() if each.context}) > 1
    for each in given.values():
        text = texts[each.session.partition(":")[2]]
        assert not text or f'id="{each.context}"' in text


def test_with_the_trial_off_nothing_is_assigned(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "[experiment]\nholdout = 0\n")
    texts = {machine.start(f"s{number}") for number in range(40)}
    assert len(texts) == 1
    assert RIGHT in texts.pop()
    for number in range(20):
        machine.engine.handle(AGENT, edited(number, f"src/part{number}.py", "s1", cwd=machine.project), float(number))
    assert machine.engine.counts["withheld"] == 0
    assert machine.records == []


def test_no_session_is_assigned_before_the_person_was_informed(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ALL, key=False)
    assert len({machine.start(f"s{number}") for number in range(20)}) == 1
    assert machine.records == []


def test_invalid_trial_settings_leave_every_session_warm(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "[experiment]\nholdout = 7\n")
    assert all(machine.start(f"s{number}") for number in range(20))


def unverified_edits(machine: Machine, session: str) -> list[bytes]:
    """Files pile up that no check has seen: what is answered."""
    machine.start(session)
    payloads = [
        edited(number, f"src/part{number}.py", session).replace(b"/work/shop", machine.project.encode())
        for number in range(12)
    ]
    return [machine.engine.handle(AGENT, payload, 10.0 + number) for number, payload in enumerate(payloads)]


def test_withheld_advice_is_not_given_later(tmp_path: Path) -> None:
    """About half of the sessions hear of their files; in the others the moment is written down all the same, the state is what
    it would be had it been said, and so it is not said a turn later."""
    machine = Machine(tmp_path, ALL + '[live]\nadvise = ["debt"]\n')
    said = {f"s{number}": sum(map(bool, unverified_edits(machine, f"s{number}"))) for number in range(40)}
    exposures = {each.session.partition(":")[2]: each for each in machine.records if isinstance(each, AdviceAssignment)}
    assert exposures.keys() == said.keys()
    assert set(said.values()) == {0, 1}
    assert all(exposures[session].shown == bool(count) for session, count in said.items())
    assert {each.probability for each in exposures.values()} == {0.5}
    states = {machine.engine.sessions.get(AGENT, session).state.sent for session in said}
    assert len(states) == 1
    assert machine.engine.counts["withheld"] == sum(not count for count in said.values())
    again = machine.restarted()
    for session in said:
        assert again.sessions.get(AGENT, session).state.sent in states


def test_a_refusal_is_never_withheld(tmp_path: Path) -> None:
    machine = Machine(tmp_path, '[live]\nblock = "critical"\n' + ALL.replace("0.5\n", "0.9\n"))
    call = {"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}, "cwd": machine.project}
    for number in range(30):
        answer = machine.engine.handle(
            AGENT, hook_payload("PreToolUse", "s1", tool_use_id=f"c{number}", **call), float(number)
        )
        assert b"safety rule" in answer


def test_placebo_and_note_arms_get_their_texts(tmp_path: Path) -> None:
    """Four arms: a placebo has the tokens of what it stands for and nothing of it, a note has the same facts in one paragraph;
    both carry the mark by which Preheat knows its own words."""
    machine = Machine(tmp_path, "[experiment]\ndrop_items = 0\n")
    Experiments(machine.data).start("four", ["warm", "cold", "placebo", "note"], now=1.0)
    texts: dict[str, str] = {}
    for number in range(40):
        text = machine.start(f"s{number}")
        texts[machine.arm(f"s{number}")] = text
    assert texts.keys() == {"warm", "cold", "placebo", "note"}
    assert texts["cold"] == ""
    assert all(texts[arm].startswith("<preheat-context id=") for arm in ("warm", "placebo", "note"))
    assert abs(estimate_tokens(texts["placebo"]) - estimate_tokens(texts["warm"])) <= 0.05 * estimate_tokens(
        texts["warm"]
    )
    assert RIGHT not in texts["placebo"]
    body = texts["note"].splitlines()
    assert len(body) == 3
    assert RIGHT in body[1]
    assert "\n- " in texts["warm"]


def test_an_experiment_replaces_the_holdout_while_it_runs(machine: Machine) -> None:
    machine.start("before")
    name = Experiments(machine.data).start("mine", ["warm", "note"]).experiment
    for number in range(20):
        machine.start(f"s{number}")
    machine.start("before", "resume")
    drawn = {each.session: each for each in machine.records if isinstance(each, Assignment)}
    assert {each.experiment for each in drawn.values()} == {"standing", name}
    assert drawn[f"{AGENT}:before"].experiment == "standing"
    assert {each.arm for each in drawn.values() if each.experiment == name} == {"warm", "note"}
    Experiments(machine.data).stop("mine")
    machine.start("after")
    drawn = {each.session: each for each in machine.records if isinstance(each, Assignment)}
    assert drawn[f"{AGENT}:after"].experiment == "standing"


def test_a_killed_daemon_loses_no_assignment(tmp_path: Path) -> None:
    """A real daemon, killed with no chance to write anything more: every answer that was given has its assignment in the
    journal, the file has it once the next daemon runs, and the sessions are in their arms."""
    machine = Machine(tmp_path, ALL)
    given: dict[str, bool] = {}
    one = Daemon(machine.data)
    for number in range(16):
        answer = one.ask(started(f"s{number}", cwd=machine.project))
        given[f"s{number}"] = b"preheat-context" in answer
    one.kill()
    with writing(machine.data) as state:  # as if the machine had not come to it
        for table in ("assignments", "deliveries"):
            state.execute(f"DELETE FROM {table}")
    with daemon(machine.data) as other:
        for session, warm in given.items():
            answer = other.ask(started(session, "compact", cwd=machine.project))
            assert (b"preheat-context" in answer) == warm
    drawn = {each.session: each.arm for each in machine.records if isinstance(each, Assignment)}
    assert drawn == {f"{AGENT}:{session}": "warm" if warm else "cold" for session, warm in given.items()}


def test_assignments_that_cannot_be_written_are_stored_later(machine: Machine) -> None:
    program = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        " print('held', flush=True); time.sleep(999)"
    )
    path = os.path.join(machine.data, "state.db")
    holding = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    assert holding.stdout is not None
    try:
        assert holding.stdout.readline() == b"held\n"
        machine.start("s1")
        assert machine.arm("s1")
        assert "assignments" in machine.engine.troubles
        assert machine.records == []
    finally:
        holding.kill()
        holding.wait()
        holding.stdout.close()
    machine.start("s2")
    assert "assignments" not in machine.engine.troubles
    assert {each.session for each in machine.records} == {f"{AGENT}:s1", f"{AGENT}:s2"}


def test_a_rebuilt_archive_has_every_assignment(machine: Machine) -> None:
    for number in range(10):
        machine.start(f"s{number}")
    first = connect(machine.data)
    before = load_records(first)
    first.close()
    for name in os.listdir(machine.data):
        if name.startswith("archive.db"):
            os.unlink(os.path.join(machine.data, name))
    second = connect(machine.data)
    assert load_records(second) == before
    assert len(before.assignments) == 10
    second.close()


def worked(machine: Machine, session: str, at: float, rate: float, chance: random.Random) -> None:
    """A session as it is found on disk afterwards: each call fails by a mistake at this rate."""
    found = ClaudeTranscript(session=session, project=machine.project, started=at).prompt("the next step")
    for number in range(chance.randint(8, 20)):
        if chance.random() < rate:
            change = {"file_path": f"{machine.project}/src/a.py", "old_string": f"old {number}", "new_string": "new"}
            found = found.answer("I change it.").call("Edit", change)
            found = found.result("<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True)
        else:
            found = found.answer("I run it.").run(RIGHT, "5 passed in 0.1s")
    found.answer("Done.").write(os.path.join(machine.home, ".claude", "projects"))


@pytest.mark.parametrize(("effect", "helps"), [(0.25, True), (0.0, False)])
def test_a_trial_works_from_assignment_to_report(tmp_path: Path, effect: float, helps: bool) -> None:
    """Sessions start through the engine, work, are read and judged: where a warm start truly lowers mistakes the report says
    that it helps, where it does not it does not. What was forgotten is gone from the trial, too."""
    machine = Machine(tmp_path, "[experiment]\nholdout = 0.5\n")
    chance = random.Random(11)
    begun = time.time() - 90 * 3600
    for number in range(80):
        session = f"{number + 4096:08x}-3333-4000-8000-000000000000"
        warm = bool(machine.start(session, at=begun + number * 3600))
        worked(machine, session, begun + number * 3600 + 1, 0.3 - effect * warm, chance)
    sync(machine.data, {"HOME": machine.home})
    learn(machine.data)
    found = Experiments(machine.data).report()
    assert (found.verdict == "helps") == helps
    assert sum(found.measured.values()) == 80
    first = found.estimates[0]
    assert first.low is not None
    assert first.high is not None
    assert first.low <= -effect + 0.06
    assert first.high >= -effect - 0.06
    gone = next(each.session for each in machine.records if isinstance(each, Assignment))
    forget_sessions(machine.data, [gone])
    assert gone not in {each.session for each in machine.records}
    assert sum(Experiments(machine.data).report().assigned.values()) == 79
