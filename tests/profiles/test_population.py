"""What is counted over many sessions: every call once, in the right cell, and nothing made up where there is little."""

import json
import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.model.outcome import CAUSES, FAILURES, JUDGED, STATUSES
from preheat.model.population import Population, PopulationCell
from preheat.model.profile import CallFact, SessionFact
from preheat.profiles import tally
from preheat.profiles.population import measure_population
from tests.profiles.simulated import call, mixed, session, simulated


def steady(length: int, message: int, activity: str, level: float) -> float:
    return 0.15 + level


def test_every_call_is_counted_where_it_belongs() -> None:
    """Buckets by the session's messages, windows and tenths by the call's own place; refused calls are in no rate."""
    sessions = [session(1, 50), session(2, 51), session(3, 101, model="n", project="/w/q")]
    calls = [
        call(1, 1, failed=True, tool="Read"),
        call(1, 50, tool="Read"),
        call(2, 26, failed=True, cause="finding", tool="Bash"),
        call(2, 51, status="denied", tool="Bash"),
        call(3, 101, failed=True, cause="environment", tool="Bash"),
        call(3, 101, bookkeeping=True, tool="Todo"),
        call(9, 1, failed=True),  # of a session that was not chosen
    ]
    found = measure_population(sessions, calls)
    assert (found.sessions, found.calls, found.bookkeeping_calls) == (3, 5, 1)
    assert found.causes == {"mistake": 1, "finding": 1, "environment": 1}
    assert found.statuses == {"ok": 1, "failed": 3, "denied": 1}
    assert [(cell.errors.count, cell.errors.total) for cell in found.marathon.buckets] == [(1, 2), (1, 1), (1, 1)]
    assert [(cell.name, cell.errors.total) for cell in found.tools.cells] == [("Read", 2), ("Bash", 2)]
    assert found.tools.cells[1].unjudged == 1
    assert [cell.name for cell in found.windows if cell.errors.total] == ["1-25", "26-50", "101-125"]
    assert [cell.errors.total for cell in found.tenths] == [1, 0, 0, 0, 1, 0, 0, 0, 0, 2]
    assert {cell.name: cell.mistakes.count for cell in found.projects.cells} == {"/w/p": 1, "/w/q": 0}


def test_numbers_are_the_same_however_the_stream_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions that lie across two chunks are put together, and their last call is known as such."""
    sessions, calls = simulated(steady, mixed(60))
    whole = measure_population(sessions, calls)
    monkeypatch.setattr(tally, "CHUNK", 7)
    assert measure_population(sessions, calls) == whole


def test_worktrees_belong_to_their_project() -> None:
    sessions = [
        session(number, 10, project=project)
        for number, project in enumerate(["/w/p", "/w/p/.worktrees/fix", "/w/p/.tool/worktrees/a", "/w/worktrees-app"])
    ]
    found = measure_population(sessions, [call(number, 1) for number in range(4)])
    assert {cell.name: cell.sessions for cell in found.projects.cells} == {"/w/p": 3, "/w/worktrees-app": 1}


def test_every_project_weighs_the_same() -> None:
    """One project with a thousand calls does not drown nine that are different."""
    sessions = [session(number, 120, project=f"/w/{number}") for number in range(10)]
    calls = [call(0, 1 + place % 100) for place in range(1000)]
    calls += [call(number, 1 + place, failed=place < 10) for number in range(1, 10) for place in range(20)]
    found = measure_population(sessions, calls)
    everything = found.even[0]
    assert found.overall.errors.value == pytest.approx(90 / 1180)
    assert everything.projects == 10
    assert everything.errors.value == pytest.approx(0.45)
    assert everything.errors.low is not None
    assert everything.errors.low < 0.45


def test_too_little_data_is_reported() -> None:
    """A rate is shown, an interval is not, and the words say how little there was."""
    found = measure_population([session(1, 10)], [call(1, 1, failed=True), call(1, 2)])
    assert found.overall.errors.value == 0.5
    assert found.overall.errors.low is None
    assert not found.overall.has_enough_data
    assert "All together: only 1 session with 2 judged calls." in found.too_little
    assert found.marathon.errors.verdict == "too_little_data"


def test_only_the_largest_cells_are_listed_with_the_number_left_out() -> None:
    sessions = [session(1, 60)]
    calls = [call(1, place + 1, tool=f"t{place % 20}") for place in range(50)]
    found = measure_population(sessions, calls, top=3)
    assert [len(found.tools.cells), found.tools.left_out, found.tools.left_out_calls] == [3, 17, 41]
    assert measure_population(sessions, calls, top=None).tools.left_out == 0


def test_zero_failures_still_have_an_interval() -> None:
    """Ten sessions without a failure do not prove that there never is one."""
    sessions = [session(number, 20) for number in range(10)]
    found = measure_population(sessions, [call(number, place) for number in range(10) for place in range(1, 11)])
    assert found.overall.errors.value == 0
    assert found.overall.errors.high is not None
    assert found.overall.errors.high > 0.03
    assert found.marathon.errors.slope.change.value is None


facts = st.lists(
    st.tuples(
        st.integers(-5, 400),
        st.sampled_from(["one", "two"]),
        st.lists(
            st.tuples(
                st.integers(-3, 500),
                st.sampled_from(["read", "edit", ""]),
                st.sampled_from(STATUSES),
                st.sampled_from([None, *CAUSES]),
                st.booleans(),
            ),
            max_size=30,
        ),
    ),
    max_size=8,
)


def cells(found: Population) -> list[PopulationCell]:
    every = [found.overall, *found.windows, *found.tenths]
    for group in (found.tools, found.activities, found.agents, found.models, found.projects):
        every += group.cells
    for answer in (found.marathon, *found.by_agent):
        every += [*answer.buckets, *answer.early]
    return every


@settings(max_examples=40, deadline=None)
@given(facts)
def test_wild_facts_give_sound_numbers(drawn: list[tuple[int, str, list[Any]]]) -> None:
    """Whatever comes: bounds around the value, within 0 and 1, cells that add up, no NaN, and JSON that reads back."""
    sessions = [session(number, messages, agent) for number, (messages, agent, _) in enumerate(drawn)]
    calls = [
        call(number, place, activity=activity, status=status, cause=cause, bookkeeping=bookkeeping)
        for number, (_, _, rows) in enumerate(drawn)
        for place, activity, status, cause, bookkeeping in rows
    ]
    found = measure_population(sessions, calls, top=None)
    counted = [fact for fact in calls if not fact.bookkeeping]
    assert found.calls == len(counted)
    assert found.overall.errors.total == sum(fact.status in JUDGED for fact in counted)
    assert found.overall.errors.count == sum(fact.status in FAILURES for fact in counted)
    for group in (found.tools, found.agents, found.models, found.projects):
        assert sum(cell.errors.total for cell in group.cells) == found.overall.errors.total
    assert sum(cell.errors.total for cell in found.marathon.buckets) == found.overall.errors.total
    for cell in cells(found):
        for share in (cell.errors, cell.mistakes):
            if share.value is not None and share.low is not None and share.high is not None:
                assert 0 <= share.low <= share.value <= share.high <= 1
    encoded = msgspec.json.encode(found)
    json.loads(encoded, parse_constant=lambda name: pytest.fail(name))
    assert msgspec.json.decode(encoded, type=Population) == found


def test_ten_thousand_failing_calls_of_one_session_are_measured() -> None:
    """One session is one session, however long: no interval, and no division by nothing."""
    calls: list[CallFact] = [call(1, place, failed=True) for place in range(1, 10_001)]
    sessions: list[SessionFact] = [session(1, 10_000)]
    found = measure_population(sessions, calls)
    assert found.overall.errors.value == 1
    assert found.overall.errors.low is None
    many = measure_population(
        [session(number, 100) for number in range(9)], [call(n, p, True) for n in range(9) for p in range(9)]
    )
    assert many.overall.errors.value == many.overall.errors.high == 1
    assert many.overall.errors.low is not None
    assert 0.5 < many.overall.errors.low < 1
    assert not math.isnan(float(np.float64(many.overall.errors.low)))
