"""The choice of sessions that a template is built from."""

from typing import Any

from preheat.templates.choice import BestRule, Candidate, SessionRule, best_sessions, choose_sessions

from .made import profile, rate


def candidate(key: str, **more: Any) -> Candidate:
    usual = {"project": "harbour", "ended_at": 100.0, "starter": "human", "delegated": False, "passed": True}
    own = {name: more.pop(name) for name in list(more) if name in usual}
    clean = {"mistakes": rate(0, 60, 0.06), **more}
    return Candidate(key=key, profile=profile(key, **clean), **{**usual, **own})


def keys(candidates: tuple[Candidate, ...]) -> list[str]:
    return [each.key for each in candidates]


def test_the_defaults_are_those_of_the_users_documents() -> None:
    """At least 30 messages, at most 50 sessions, at most half of the calls failed."""
    assert SessionRule() == SessionRule(min_messages=30, max_sessions=50, max_error_rate=0.5)


def test_sessions_that_do_not_fit_are_counted_by_reason() -> None:
    some = [
        candidate("good"), candidate("short", messages=29), candidate("bad", errors=rate(21, 40)),
        candidate("idle", errors=rate(0, 0)), candidate("child", delegated=True), candidate("ours", starter="preheat"),
        candidate("half", errors=rate(20, 40)),
    ]  # fmt: skip
    choice = choose_sessions(some, SessionRule())
    assert keys(choice.chosen) == ["good", "half"]
    assert choice.skipped == {
        "shorter than 30 messages": 1,
        "more than 50% of calls failed": 1,
        "without tool calls": 1,
        "a subagent's": 1,
        "started by a program": 1,
    }


def test_the_newest_sessions_are_chosen() -> None:
    """Whatever the order of the candidates is."""
    some = [candidate(str(number), ended_at=float(number)) for number in range(9)]
    for order in (some, some[::-1]):
        choice = choose_sessions(order, SessionRule(max_sessions=3))
        assert keys(choice.chosen) == ["8", "7", "6"]
        assert choice.skipped == {"older than the newest 3": 6}


def test_the_best_sessions_are_long_have_few_mistakes_and_passed_their_last_check() -> None:
    """Each condition alone keeps a session out."""
    some = [
        candidate("good"), candidate("few", calls=19), candidate("careless", mistakes=rate(4, 60, 0.16)),
        candidate("unchecked", passed=None), candidate("broken", passed=False), candidate("homeless", project=""),
    ]  # fmt: skip
    (group,) = best_sessions(some, BestRule(min_sessions=1))
    assert group.project == "harbour"
    assert keys(group.choice.chosen) == ["good"]
    assert sum(group.choice.skipped.values()) == 4
    assert set(group.choice.skipped) >= {"no check at all", "the last check failed", "fewer than 20 calls"}


def test_a_project_with_fewer_than_three_good_sessions_has_not_enough() -> None:
    some = [candidate(f"h{number}") for number in range(3)] + [
        candidate(f"p{number}", project="pier") for number in "12"
    ]
    groups = best_sessions(some, BestRule())
    assert [(group.project, group.enough) for group in groups] == [("harbour", True), ("pier", False)]
