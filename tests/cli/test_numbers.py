"""Every screen gives the same numbers: how many sessions there are, how many calls failed, and what came of each call."""

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from preheat.model.outcome import FAILURES
from preheat.model.session import LATE_ENDING
from preheat.testing.builders import ClaudeTranscript
from tests.shared import FIXTURES, SHARED, needs_corpus

from .conftest import FIRST, Person


def test_all_screens_agree_on_the_recorded_sessions(person: Person) -> None:
    """Sessions of all agents, among them forks, copies and sessions that stand in several files."""
    check_agreement(person, FIXTURES)


@pytest.mark.corpus
@needs_corpus
def test_all_screens_agree_on_real_sessions(person: Person) -> None:
    check_agreement(person, os.path.join(SHARED, "corpus"))


def test_the_list_knows_what_came_of_calls_that_a_session_has_grown_by(person: Person) -> None:
    """Two syncs and no other command: a failure that only the text of a result shows is counted at once."""
    text = "bash: frobnicate: command not found"
    first = ClaudeTranscript(session=FIRST).prompt("mend it").answer("so").run("make", "done")
    path = person.write(first)
    run_json(person, "sync")
    with open(path, "wb") as stream:
        stream.write(first.answer("next").run("frobnicate; true", text).answer("and").run("make", "done").data())
    run_json(person, "sync")
    (listed,) = run_json(person, "sessions", "list")
    numbers = count_calls(person, listed)
    assert set(numbers.values()) == {(3, 1)}


def check_agreement(person: Person, folder: str) -> None:
    """Read a folder, and compare the numbers of the commands."""
    synced = run_json(person, "sync", folder)
    listed = run_json(person, "sessions", "list", "--all")
    assert sum(row["sessions"] for row in synced["agents"].values()) == len(listed) > 20
    assert run_json(person)["archive"]["sessions"] == len(listed)
    measured = run_json(person, "profile", "--all")
    assert measured["sessions"] == len(listed)
    assert measured["overall"]["errors"]["count"] == sum(each["errors"] for each in listed)
    different = {
        each["key"]: numbers for each in listed if len(set((numbers := count_calls(person, each)).values())) > 1
    }
    assert different == {}


def count_calls(person: Person, listed: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Calls and failures of one session, by the screen that says so; what came of each call is compared on the way."""
    measured = run_json(person, "profile", listed["key"])
    session = run_json(person, "sessions", "show", listed["key"])
    shown, ended = session["outcomes"], {each["call_id"] for each in session["events"] if each["type"] == "result"}
    watched = [
        moment["event"]
        for moment in run_json(person, "replay", listed["key"])["moments"]
        if moment["event"]["type"] == "called"
    ]
    judged, seen = statuses(each for each in shown if not each["bookkeeping"]), statuses(watched)
    endings = [each["raw"] for each in session["events"] if each.get("name") == LATE_ENDING]
    late = {each["call_id"] for each in endings if isinstance(each.get("exit_code"), int)}
    seen -= Counter((call, "unknown") for call in late)  # reported as unknown while it ran, and again at its end
    assert seen <= judged, listed["key"]
    assert ended.isdisjoint(call for call, _ in judged - seen)  # one that never ended need not be seen
    own = [each for each in shown if not each["copied"]]
    failed = [each for each in own if each["status"] in FAILURES and not each["bookkeeping"]]
    return {
        "list": (listed["calls"], listed["errors"]),
        "profile": (measured["calls"] + measured["bookkeeping_calls"], measured["errors"]["count"]),
        "show": (len(own), len(failed)),
    }


def statuses(calls: Iterable[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((each["call_id"], each["status"]) for each in calls)


def run_json(person: Person, *arguments: str) -> Any:
    """What a command prints as JSON."""
    done = person.run(*arguments, "--json")
    assert done.code in (0, 1), done.err
    return json.loads(done.out)
