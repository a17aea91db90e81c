"""What advice and templates did, out of lots and transcripts as they are found on disk."""

import json
import os
import time
from typing import Any

import pytest

from preheat.app.experiments.assignment import make_key
from preheat.app.templates.uses import load_pins, load_template
from preheat.model.experiment import AdviceAssignment, Assignment, AssignmentRecord, Delivery
from preheat.state import experiments, ledger
from preheat.state.connect import reading, writing
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import Person
from tests.daemon.builders import RIGHT, learned

COUNT = 64


def session_of(number: int) -> str:
    return f"{number + 4096:08x}-5555-4000-8000-000000000000"


def worked(person: Person, number: int, at: float, wrong: frozenset[int], calls: int = 16) -> str:
    """A session whose calls of these numbers fail by a mistake; its key. A call and its result take four seconds, with a text
    before them two more."""
    project = os.path.join(person.home, "shop")
    found = ClaudeTranscript(session=session_of(number), project=project, started=at).prompt("the next step")
    for call in range(calls):
        found = found.answer("Next.")
        if call in wrong:
            change = {"file_path": f"{project}/src/a.py", "old_string": f"old {call}", "new_string": "new"}
            found = found.call("Edit", change)
            found = found.result("<tool_use_error>String to replace not found in file.</tool_use_error>", is_error=True)
        else:
            found = found.run(RIGHT, "5 passed in 0.1s")
    found.answer("Done.").write(person.projects)
    return f"claude_code:{session_of(number)}"


def prepared(person: Person) -> float:
    os.makedirs(os.path.join(person.home, "shop", ".git"))
    learned(person.folder, os.path.join(person.home, "shop"), person.home)
    make_key(person.folder)
    return time.time() - COUNT * 3600


def test_explain_advice_measures_the_next_calls(person: Person) -> None:
    """Advice helps if mistakes stop after it and go on where it was withheld; moments without later calls are counted."""
    begun = prepared(person)
    lots: list[AssignmentRecord] = []
    for number in range(COUNT):
        at = begun + number * 3600
        shown = number % 2 == 0
        after = frozenset([6]) if shown else frozenset([6, 7, 8]) if number % 4 == 1 else frozenset([6, 8])
        key = worked(person, number, at, frozenset([1, 3]) | after)
        moment = at + 2 + 6 * 5 + 5  # after the result of the sixth call
        given: dict[str, Any] = {"session": key, "turn": 6, "signal": "loop", "probability": 0.5}
        lots.append(AdviceAssignment(at=moment, cause="c", shown=shown, **given))
    lots.append(
        AdviceAssignment(
            session="claude_code:gone", at=1.0, turn=1, signal="loop", cause="c", shown=True, probability=0.5
        )
    )
    with writing(person.folder) as state:
        experiments.keep_assignments(state, lots)
    person.run("sync")
    person.run("learn")
    found = json.loads(person.run("experiment", "explain", "advice", "--json").out)
    assert found["estimate"]["units"] == [COUNT // 2, COUNT // 2]
    assert found["estimate"]["difference"] == pytest.approx(-0.3)
    assert found["estimate"]["high"] < 0
    assert found["moments_without_calls_after"] == 1
    printed = person.run("experiment", "explain", "advice").out
    assert printed.startswith("Advice helps: -30.0 mistakes per 100 of the next 5 calls")


def test_a_harmful_template_is_unloaded_and_recorded_once(person: Person) -> None:
    begun = prepared(person)
    project = os.path.join(person.home, "shop")
    assert person.run("warm", "build", "mine", "--project", project, "--min-messages", "0").code == 0
    pin = load_template(person.folder, project, "mine", begun)
    lots: list[AssignmentRecord] = []
    for number in range(COUNT):
        at, warm = begun + number * 3600, number % 2 == 0
        key = worked(person, number, at, frozenset(range(number // 2 % 3 + (6 if warm else 0))))
        given: dict[str, Any] = {"root": key, "experiment": "standing", "agent": "claude_code", "project": project}
        shares = {"cold": 0.5, "warm": 0.5}
        lots.append(Assignment(session=key, arm="warm" if warm else "cold", shares=shares, at=at, **given))
        lots.append(
            Delivery(session=key, at=at, context="c" if warm else "", offered=2, template=f"mine@{pin.digest[:12]}")
        )
    with writing(person.folder) as state:
        experiments.keep_assignments(state, lots)
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
    load_template(person.folder, project, "mine", begun)
    assert json.loads(person.run("learn", "--json").out)["proof"] == []
    assert load_pins(person.folder)
    report = json.loads(person.run("experiment", "report", "--json").out)
    assert report["verdict"] == "hurts"
