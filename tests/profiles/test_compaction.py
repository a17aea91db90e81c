"""The check of compactions: which calls stand on which side, and verdicts that do not promise too much."""

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.model.comparison import CompactionCheck
from preheat.model.outcome import Outcome
from preheat.model.session import Compaction, Event, Session, ToolCall, ToolResult, UserMessage
from preheat.profiles import trace
from preheat.profiles.compaction import BoundaryCalls, TracedSession, check_boundaries, find_boundaries
from preheat.profiles.comparison import Counts
from preheat.profiles.noninferiority import measure_changes
from preheat.statistics.intervals import newcombe, ratio_bounds
from preheat.statistics.shares import fisher


def traced(pattern: str, key: str = "agent:one", start: int = 0, **heading: Any) -> TracedSession:
    """A session from letters: `.` a call that worked, `x` one that failed, `?` one nothing is known of, `|` a compaction, `p` a
    prompt."""
    events: list[Event] = []
    outcomes: list[Outcome] = []
    for place, letter in enumerate(pattern):
        name = f"call-{start + place}"
        if letter == "|":
            events.append(Compaction(line=place, at=float(place)))
        elif letter == "p":
            events.append(UserMessage(line=place, text="please make all the tests pass again"))
        else:
            events.append(
                ToolCall(line=place, call_id=name, tool="Read", kind="read", input={"path": f"/w/{place}.py"})
            )
            events.append(ToolResult(line=place, call_id=name, text=""))
            status: Any = {".": "ok", "x": "failed", "?": "unknown"}[letter]
            outcomes.append(Outcome(name, status, "flag", cause="mistake" if letter == "x" else None))
    session = Session(agent="agent", id=key.partition(":")[2], events=tuple(events), **heading)
    return TracedSession(key, session, trace(session, tuple(outcomes)))


def errors(crossing: BoundaryCalls) -> tuple[tuple[int, int], tuple[int, int]]:
    before, after = crossing.window
    return (before.failures, before.judged), (after.failures, after.judged)


def test_windows_are_the_calls_next_to_the_boundary_and_equally_many() -> None:
    (crossing,) = find_boundaries([traced("xxxx...|x." + "." * 50)], size=5)
    assert errors(crossing) == ((2, 5), (1, 5))
    assert (crossing.whole.before.failures, crossing.whole.before.judged) == (4, 7)
    (short,) = find_boundaries([traced("xxxx...|x.")], size=5)
    assert errors(short) == ((0, 2), (1, 2))


def test_every_compaction_is_a_boundary_between_its_neighbours() -> None:
    found = list(find_boundaries([traced("x.|.x.|..")], size=30))
    assert [(each.number, errors(each)) for each in found] == [(1, ((1, 2), (1, 2))), (2, ((1, 2), (0, 2)))]
    assert all(each.how == "in place" for each in found)


def test_a_session_that_goes_on_from_another_is_a_boundary_and_copies_count_once() -> None:
    """The child repeats its parent's last call under the same id: that call is the parent's."""
    parent = traced("..x", "agent:one")
    child = traced("x..x", "agent:two", start=2, parent="one", relation="compaction")
    (crossing,) = find_boundaries([parent, child], size=2)
    assert (crossing.session, crossing.child, crossing.how) == ("agent:one", "agent:two", "compaction")
    assert errors(crossing) == ((1, 2), (0, 2))
    assert crossing.whole.after.calls == 3


def test_a_session_that_was_only_resumed_is_no_boundary() -> None:
    """It knew all that its parent knew; its calls and the parent's are one part, up to the next compaction."""
    parent = traced("x..", "agent:one")
    child = traced(".x|..", "agent:two", start=10, parent="one", relation="continuation")
    (crossing,) = find_boundaries([parent, child])
    assert (crossing.session, crossing.child, crossing.how) == ("agent:two", None, "in place")
    assert (crossing.whole.before.failures, crossing.whole.before.judged) == (2, 5)


def test_a_session_that_goes_on_and_begins_with_a_compaction_is_a_boundary() -> None:
    parent = traced("x..", "agent:one")
    child = traced("|..|x", "agent:two", start=10, parent="one", relation="continuation")
    found = list(find_boundaries([parent, child]))
    assert [(each.session, each.child, each.how, each.number) for each in found] == [
        ("agent:one", "agent:two", "continuation", 1),
        ("agent:two", None, "in place", 2),
    ]
    assert errors(found[0]) == ((0, 2), (0, 2))


def test_a_prompt_typed_again_after_the_compaction_is_asked_again() -> None:
    (crossing,) = find_boundaries([traced("p..|p..")])
    assert (crossing.whole.before.asks, crossing.whole.before.asked_again) == (1, 0)
    assert (crossing.whole.after.asks, crossing.whole.after.asked_again) == (1, 1)


def pair(before: tuple[int, int], after: tuple[int, int]) -> list[tuple[Counts, Counts]]:
    return [tuple(Counts(calls=n, judged=n, failures=x) for x, n in (before, after))]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("before", "after", "margin", "verdict"),
    [
        ((400, 4000), (390, 4000), 0.2, "preserved"),
        ((400, 4000), (700, 4000), 0.2, "not preserved"),
        ((400, 4000), (700, 4000), 1.0, "preserved"),
        ((3, 30), (3, 30), 0.2, "too little data"),
        ((0, 30), (0, 30), 0.2, "too little data"),
        ((0, 4000), (0, 4000), 0.2, "too little data"),
        ((0, 30), (3, 30), 0.2, "too little data"),
        ((0, 30), (12, 30), 0.2, "not preserved"),
        ((12, 30), (0, 30), 0.2, "preserved"),
        ((3, 22), (0, 22), 0.2, "too little data"),
        ((0, 0), (5, 10), 0.2, "too little data"),
        ((30, 30), (30, 30), 0.2, "preserved"),
    ],
)
def test_the_verdict_follows_from_the_interval_and_the_margin(
    before: tuple[int, int], after: tuple[int, int], margin: float, verdict: str
) -> None:
    """A verdict only where the bound is on one side of the margin; nothing on either side says nothing about a ratio."""
    assert measure_changes([pair(before, after)], margin)[0].verdict == verdict


def test_too_little_data_gives_the_number_of_calls_needed() -> None:
    """Ten percent on both sides and a margin of a fifth take some three thousand calls each, by the textbook."""
    needed = measure_changes([pair((3, 30), (3, 30))], 0.2)[0].needed
    assert needed is not None
    assert 2800 <= needed <= 3600
    nothing = measure_changes([pair((0, 30), (0, 30))], 0.2)[0].needed
    assert nothing is not None
    assert nothing > needed


def test_few_sessions_give_no_verdict() -> None:
    """Two to four sessions: their calls are not independent, and too few sessions to see how much they differ."""
    large = pair((400, 4000), (390, 4000))
    assert measure_changes([large] * 4, 0.2)[0].verdict == "too little data"
    assert measure_changes([large] * 8, 0.2)[0].verdict == "preserved"


def test_sessions_that_differ_widen_the_bounds() -> None:
    """The same totals, but half of the sessions got much worse and half much better: calls alone would be too sure."""
    alike = [pair((40, 400), (40, 400))] * 10
    torn = [pair((70, 400), (10, 400)), pair((10, 400), (70, 400))] * 5
    high = [measure_changes(clusters, 0.2)[0].high for clusters in (alike, torn)]
    assert high[0] is not None
    assert high[1] is not None
    assert high[1] > 1.3 * high[0]


def test_errors_of_the_verdict_are_rare() -> None:
    """At the margin itself (truth 1.2) hardly any simulated check may say preserved, and at 1.0 none `not preserved`."""
    random = np.random.default_rng(3)
    wrong = {1.2: 0, 1.0: 0}
    for truth, verdict in ((1.2, "preserved"), (1.0, "not preserved")):
        for _ in range(60):
            rates = random.beta(4, 36, 12)
            clusters = [
                pair((int(random.binomial(120, rate)), 120), (int(random.binomial(120, truth * rate)), 120))
                for rate in rates
            ]
            wrong[truth] += measure_changes(clusters, 0.2)[0].verdict == verdict
    assert wrong[1.2] <= 6
    assert wrong[1.0] <= 3


def test_agents_are_listed_only_where_there_are_several() -> None:
    one = list(find_boundaries([traced("x..|..x")]))
    other = [each._replace(agent="other", cluster="other:one") for each in one]
    assert check_boundaries(one).agents == {}
    assert set(check_boundaries([*one, *other]).agents) == {"agent", "other"}


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text("..x?|p", max_size=25), max_size=4), st.integers(1, 40), st.floats(0.01, 3))
def test_any_session_gives_a_check_without_a_nan(patterns: list[str], size: int, margin: float) -> None:
    """No calls, one call, only unknown ones, compactions in a row: a verdict or too little data, and it survives JSON."""
    found = [
        each
        for place, pattern in enumerate(patterns)
        for each in find_boundaries([traced(pattern, f"agent:{place}")], size)
    ]
    checked = check_boundaries(found, margin, size)
    assert checked.crossings == sum(pattern.count("|") for pattern in patterns)
    for change in (*checked.window, *checked.whole):
        for value in (change.ratio, change.low, change.high):
            assert value is None or (math.isfinite(value) and value >= 0)
        assert change.before.total or change.verdict == "too little data"
    assert msgspec.json.decode(msgspec.json.encode(checked), type=CompactionCheck) == checked


# The intervals, against published examples.
def test_newcombes_interval_is_the_published_one() -> None:
    """Newcombe 1998, table II, method 10: 56/70 against 48/80, and 9/10 against 3/10."""
    assert newcombe(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe(9, 10, 3, 10) == pytest.approx((0.1705, 0.8090), abs=5e-5)


def test_the_bounds_of_a_ratio_are_those_of_the_score_test() -> None:
    """At each bound the score test gives exactly 5 %: checked against its definition, by maximising the likelihood."""
    low, high = ratio_bounds(60, 400, 40, 400)
    for bound, sign in ((low, 1), (high, -1)):
        shares = np.linspace(1e-4, min(0.9999, 0.9999 / bound), 400_000)
        likelihood = (
            60 * np.log(bound * shares)
            + 340 * np.log1p(-bound * shares)
            + 40 * np.log(shares)
            + 360 * np.log1p(-shares)
        )
        share = shares[likelihood.argmax()]
        variance = bound * share * (1 - bound * share) / 400 + bound**2 * share * (1 - share) / 400
        assert sign * (60 / 400 - bound * 40 / 400) / math.sqrt(variance) == pytest.approx(1.645, abs=0.01)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=200, deadline=None)
def test_bounds_hold_the_ratio_between_them(x: int, more_x: int, y: int, more_y: int) -> None:
    low, high = ratio_bounds(x, x + more_x, y, y + more_y)
    assert 0 <= low <= high
    if y and x + more_x:
        ratio = (x / (x + more_x)) / (y / (y + more_y))
        assert low <= ratio * (1 + 1e-9)
        assert ratio <= high * (1 + 1e-9)


def test_fishers_test_is_the_lady_tasting_tea() -> None:
    assert fisher(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)
