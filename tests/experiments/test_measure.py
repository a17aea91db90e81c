"""Units of a comparison: a session counts in the arm it was assigned to, and one that cannot be measured is counted."""

from preheat.experiments.measure import Trial, build_trial, epochs_of, trial_units
from preheat.model.experiment import METRICS, AssignedArm, Assignment, MetricName, SessionResult

NOW = 1_000_000.0
FIFTH = {"cold": 0.2, "warm": 0.8}


def assigned(
    name: str, arm: AssignedArm = "warm", at: float = 1000.0, root: str = "", project: str = "/w/p", **more: float
) -> Assignment:
    return Assignment(
        session=f"a:{name}", root=f"a:{root or name}", experiment="e", arm=arm, shares=more or FIFTH, agent="a",
        project=project, at=at,
    )  # fmt: skip


def result(
    name: str, mistakes: int = 1, calls: int = 10, start: float = 1000.0, project: str = "/w/p", **more: object
) -> SessionResult:
    fields = {"agent": "a", "errors": mistakes, "started_at": start, "ended_at": start + 60, "tokens": 100, **more}
    return SessionResult(session=f"a:{name}", project=project, mistakes=mistakes, calls=calls, **fields)  # type: ignore[arg-type]


def trial(*assignments: Assignment, sessions: list[SessionResult], now: float = NOW) -> Trial:
    return build_trial(assignments, sessions, now)


def test_a_session_with_its_continuations_is_one_unit() -> None:
    """A continuation and its fork count with the assigned session; a subagent does not."""
    sessions = [
        result("one", 1, 10),
        result("two", 2, 10, 1100, parent="a:one", relation="compaction"),
        result("three", 0, 20, 1200, parent="a:two", relation="fork"),
        result("other", 5, 5, 1300, parent="a:one", relation="subagent"),
    ]
    units = trial_units("mistakes", trial(assigned("one", "cold"), sessions=sessions))
    assert [(each.session, each.arm, each.above, each.below) for each in units] == [("a:one", "cold", 3, 40)]


def test_a_fork_with_an_assignment_of_its_own_counts_with_its_root() -> None:
    """The agent's program did not name its parent at the start, so that it was assigned to another arm."""
    sessions = [result("one"), result("two", 4, 10, 1100, parent="a:one", relation="fork")]
    measured = trial(assigned("one", "cold"), assigned("two", "warm", 1100), sessions=sessions)
    assert [(each.arm, each.above) for each in trial_units("mistakes", measured)] == [("cold", 5)]
    assert measured.reassigned == 1


def test_a_ring_of_parents_is_measured_once() -> None:
    """A damaged archive may have a ring of parents; the measurement ends all the same."""
    sessions = [result("one", parent="a:two", relation="fork"), result("two", parent="a:one", relation="fork")]
    assert len(trial_units("mistakes", trial(assigned("one"), sessions=sessions))) == 1


def test_sessions_that_cannot_be_measured_are_counted_by_reason() -> None:
    """Missing from the archive, not judged, going on, unassigned, without a record of an assignment."""
    assignments = [
        assigned("gone", "cold"),
        assigned("raw"),
        assigned("open"),
        assigned("late", "unassigned"),
        assigned("fine", "cold"),
    ]
    sessions = [
        result("raw", judged=False), result("open", start=NOW - 100), result("late"), result("fine"),
        result("lost", start=2000.0),
        result("before", start=10.0), result("elsewhere", start=2000.0, project="/w/q"),
    ]  # fmt: skip
    measured = trial(*assignments, sessions=sessions)
    assert measured.missing == {"cold": 1}
    assert measured.unjudged == {"warm": 1}
    assert measured.going_on == {"warm": 1}
    assert (measured.unassigned, measured.unrecorded) == (1, 1)
    assert [each.session for each in trial_units("mistakes", measured)] == ["a:fine", "a:open"]


def test_the_value_before_the_trial_is_that_of_earlier_sessions_of_the_project() -> None:
    """An arm cannot have changed it; sessions of the trial, later ones and those of other projects do not count."""
    sessions = [
        result("one"), result("early", 3, 10, 10.0), result("also", 1, 10, 20.0), result("late", 9, 10, 5000.0),
        result("foreign", 9, 10, 10.0, project="/w/q"),
    ]  # fmt: skip
    (unit,) = trial_units("mistakes", trial(assigned("one"), sessions=sessions))
    assert unit.before == 4 / 20
    (lonely,) = trial_units("mistakes", trial(assigned("one"), sessions=[result("one")]))
    assert lonely.before is None


def test_every_metric_is_measured_over_the_whole_chain() -> None:
    """Rates over all calls, the last check, the last rating, and sums."""
    sessions = [
        result("one", 2, 10, passed=True, rating=True, cost=10.0, corrections=1),
        result("two", 0, 10, 1100, parent="a:one", relation="continuation", passed=False, cost=5.0),
    ]
    measured = trial(assigned("one"), sessions=sessions)
    units = {}
    for metric in METRICS:
        (unit,) = trial_units(metric, measured)
        units[metric] = (unit.above, unit.below)
    assert units == {
        "mistakes": (2, 20), "errors": (2, 20), "success": (0, 1), "seconds": (120, 1), "tokens": (200, 1), "cost": (15, 1),
        "corrections": (1, 1), "rating": (1, 1),
    }  # fmt: skip


def test_a_session_with_nothing_to_count_is_a_unit_with_zero_below() -> None:
    """It has no call, check or rating: the estimate leaves it out and reports it."""
    measured = trial(assigned("one"), sessions=[result("one", 0, 0)])
    rates: tuple[MetricName, ...] = ("mistakes", "success", "rating")
    for metric in rates:
        (unit,) = trial_units(metric, measured)
        assert (unit.above, unit.below) == (0, 0)


def test_unknown_times_and_tokens_are_not_counted_as_zero() -> None:
    """A transcript without them has nothing to count; its corrections are known."""
    measured = trial(assigned("one"), sessions=[result("one", start=0.0, ended_at=None, tokens=0)])
    units = {metric: trial_units(metric, measured)[0].below for metric in METRICS}
    assert (units["seconds"], units["tokens"], units["cost"], units["corrections"]) == (0, 0, 0, 1)


def test_sessions_with_other_shares_are_another_stratum() -> None:
    """Changed shares begin a new epoch."""
    assignments = [assigned("one"), assigned("two", at=2000.0, cold=0.5, warm=0.5)]
    measured = trial(*assignments, sessions=[result("one"), result("two", start=2000.0)])
    assert len(epochs_of(measured)) == 2
    assert [each.stratum for each in trial_units("mistakes", measured)] == ["a /w/p 1", "a /w/p 2"]
