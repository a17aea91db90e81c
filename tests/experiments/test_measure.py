"""From lots and sessions to units: whoever was assigned counts in that arm, and nothing is dropped in silence."""

from preheat.experiments.measure import Trial, build_trial, epochs_of, trial_units
from preheat.model.experiment import METRICS, AssignedArm, Assignment, MetricName, SessionResult

NOW = 1_000_000.0
FIFTH = {"cold": 0.2, "warm": 0.8}


def drawn(
    name: str, arm: AssignedArm = "warm", at: float = 1000.0, root: str = "", project: str = "/w/p", **more: float
) -> Assignment:
    return Assignment(
        session=f"a:{name}", root=f"a:{root or name}", experiment="e", arm=arm, shares=more or FIFTH, agent="a",
        project=project, at=at,
    )  # fmt: skip


def went(
    name: str, mistakes: int = 1, calls: int = 10, start: float = 1000.0, project: str = "/w/p", **more: object
) -> SessionResult:
    given = {"agent": "a", "errors": mistakes, "started_at": start, "ended_at": start + 60, "tokens": 100, **more}
    return SessionResult(session=f"a:{name}", project=project, mistakes=mistakes, calls=calls, **given)  # type: ignore[arg-type]


def found(*lots: Assignment, sessions: list[SessionResult], now: float = NOW) -> Trial:
    return build_trial(lots, sessions, now)


def test_a_line_of_sessions_is_one_unit() -> None:
    """A compaction's child and a fork of it count with the session that the lot was drawn for; a delegated one does not."""
    sessions = [
        went("one", 1, 10),
        went("two", 2, 10, 1100, parent="a:one", relation="compaction"),
        went("three", 0, 20, 1200, parent="a:two", relation="fork"),
        went("other", 5, 5, 1300, parent="a:one", relation="subagent"),
    ]
    made = trial_units("mistakes", found(drawn("one", "cold"), sessions=sessions))
    assert [(each.session, each.arm, each.above, each.below) for each in made] == [("a:one", "cold", 3, 40)]


def test_a_fork_that_drew_for_itself_counts_with_its_root() -> None:
    """Its program did not say what it came out of, so it got a lot and another arm; the line's first session decides."""
    sessions = [went("one"), went("two", 4, 10, 1100, parent="a:one", relation="fork")]
    result = found(drawn("one", "cold"), drawn("two", "warm", 1100), sessions=sessions)
    assert [(each.arm, each.above) for each in trial_units("mistakes", result)] == [("cold", 5)]
    assert result.reassigned == 1


def test_sessions_that_say_they_come_out_of_each_other_do_not_go_round() -> None:
    """A ring of parents, as a damaged archive might have it."""
    sessions = [went("one", parent="a:two", relation="fork"), went("two", parent="a:one", relation="fork")]
    assert len(trial_units("mistakes", found(drawn("one"), sessions=sessions))) == 1


def test_whoever_cannot_be_measured_is_counted() -> None:
    """Missing from the archive, not judged, going on, unassigned, and begun during the trial without a lot."""
    lots = [drawn("gone", "cold"), drawn("raw"), drawn("open"), drawn("late", "unassigned"), drawn("fine", "cold")]
    sessions = [
        went("raw", judged=False), went("open", start=NOW - 100), went("late"), went("fine"), went("lost", start=2000.0),
        went("before", start=10.0), went("elsewhere", start=2000.0, project="/w/q"),
    ]  # fmt: skip
    result = found(*lots, sessions=sessions)
    assert result.missing == {"cold": 1}
    assert result.unjudged == {"warm": 1}
    assert result.going_on == {"warm": 1}
    assert (result.unassigned, result.unrecorded) == (1, 1)
    assert [each.session for each in trial_units("mistakes", result)] == ["a:fine", "a:open"]


def test_what_is_known_from_before_is_of_the_same_project_and_from_before() -> None:
    """Sessions of the trial, later ones and other projects' tell nothing that an arm could not have changed."""
    sessions = [
        went("one"), went("early", 3, 10, 10.0), went("also", 1, 10, 20.0), went("late", 9, 10, 5000.0),
        went("foreign", 9, 10, 10.0, project="/w/q"),
    ]  # fmt: skip
    (unit,) = trial_units("mistakes", found(drawn("one"), sessions=sessions))
    assert unit.before == 4 / 20
    (lonely,) = trial_units("mistakes", found(drawn("one"), sessions=[went("one")]))
    assert lonely.before is None


def test_every_metric() -> None:
    """Rates over calls, the last check and the last rating of the line, and sums for each session."""
    sessions = [
        went("one", 2, 10, passed=True, rating=True, cost=10.0, corrections=1),
        went("two", 0, 10, 1100, parent="a:one", relation="continuation", passed=False, cost=5.0),
    ]
    result = found(drawn("one"), sessions=sessions)
    told = {}
    for metric in METRICS:
        (unit,) = trial_units(metric, result)
        told[metric] = (unit.above, unit.below)
    assert told == {
        "mistakes": (2, 20), "errors": (2, 20), "success": (0, 1), "seconds": (120, 1), "tokens": (200, 1), "cost": (15, 1),
        "corrections": (1, 1), "rating": (1, 1),
    }  # fmt: skip


def test_nothing_to_count_is_kept_and_says_so() -> None:
    """A session without a call, a check or a rating has 0 below: the estimate leaves it out and names it."""
    result = found(drawn("one"), sessions=[went("one", 0, 0)])
    rates: tuple[MetricName, ...] = ("mistakes", "success", "rating")
    for metric in rates:
        (unit,) = trial_units(metric, result)
        assert (unit.above, unit.below) == (0, 0)


def test_what_a_transcript_does_not_say_is_not_zero() -> None:
    """No times, no tokens: nothing to count, and not a session that took neither. That nobody corrected it is known."""
    result = found(drawn("one"), sessions=[went("one", start=0.0, ended_at=None, tokens=0)])
    told = {metric: trial_units(metric, result)[0].below for metric in METRICS}
    assert (told["seconds"], told["tokens"], told["cost"], told["corrections"]) == (0, 0, 0, 1)


def test_sessions_under_other_shares_are_another_stratum() -> None:
    """A share that was changed in mid-trial: an epoch of its own."""
    lots = [drawn("one"), drawn("two", at=2000.0, cold=0.5, warm=0.5)]
    result = found(*lots, sessions=[went("one"), went("two", start=2000.0)])
    assert len(epochs_of(result)) == 2
    assert [each.stratum for each in trial_units("mistakes", result)] == ["a /w/p 1", "a /w/p 2"]
