"""Trust: how far the session can be left alone."""

import pytest
from msgspec.structs import replace

from preheat.live.part import Around
from preheat.live.thresholds import DEFAULTS
from preheat.live.trust import TRUST
from preheat.model.live import LiveEvent
from tests.live.made import asked, began, checked, edited, polled, ran, read
from tests.live.playing import heard, played

LOSS: list[LiveEvent] = [ran("frobnicate --now", ok=False)] * 4


def test_it_starts_full_and_stays_full_while_all_is_well() -> None:
    """Good calls cannot raise it above 100, and leave the very same state."""
    assert heard(TRUST, [read("a.py"), edited("a.py"), checked()]).value == 100
    state = played(TRUST, [read("a.py")])
    assert played(TRUST, [read("b.py")], state=state) is state


def test_a_mistake_costs_five() -> None:
    """Each one, be it another every time."""
    assert heard(TRUST, [ran("a", ok=False)]).value == 95
    assert heard(TRUST, [ran("a", ok=False, signature="x"), ran("b", ok=False, signature="y")]).value == 90


def test_findings_alone_cost_nothing() -> None:
    """A failing test is news; red, change, another red is how tests are worked with."""
    events = [checked(ok=False, signature=f"error {number}") for number in range(8)]
    assert heard(TRUST, events).value == 100
    assert heard(TRUST, [checked(ok=False), edited("a.py"), checked(ok=False)]).value == 100


def test_the_same_finding_for_the_third_time_is_a_failure_that_came_back() -> None:
    """Unless fewer fail than before."""
    again = [checked(ok=False, failing=4), edited("a.py")]
    assert played(TRUST, [*again, *again, checked(ok=False, failing=4)]).lapses == 1
    assert played(TRUST, [*again, *again, checked(ok=False, failing=2)]).lapses == 0
    assert played(TRUST, [*again, *again, checked(), *again]).lapses == 0


def test_the_world_costs_only_when_it_fails_the_same_way_again() -> None:
    """A network that is away is nobody's mistake, calling it again at once is; waiting for it is not."""
    away = ran("curl example.org", ok=False, cause="environment", signature="could not resolve host")
    assert heard(TRUST, [away]).value == 100
    assert heard(TRUST, [away, away]).value == 95
    assert heard(TRUST, [away, ran("curl example.org"), away]).value == 100
    assert heard(TRUST, [polled(), polled(), polled()]).value == 100


@pytest.mark.parametrize("status", ["denied", "interrupted", "unknown"])
def test_what_a_person_stops_costs_nothing(status: str) -> None:
    """Refused and cut off calls say nothing about the agent."""
    assert heard(TRUST, [replace(ran("x"), status=status)] * 3).value == 100


def test_a_switch_costs_two() -> None:
    """For every subsystem that is opened beside others."""
    assert heard(TRUST, [edited("src/b/x.py")], around=Around(switched=1)).value == 98
    assert heard(TRUST, [edited("src/b/x.py", "src/c/x.py")], around=Around(switched=2)).value == 96


def test_a_loop_is_one_dead_end_while_it_lasts() -> None:
    """Four when it is noticed, not with every round; another loop is another one."""
    state = played(TRUST, [checked(ok=False)] * 2, around=Around(loop="E0597"))
    assert (state.base, state.dead_ends) == (96, 1)
    state = played(TRUST, [read("a.py")], state=state)
    assert played(TRUST, [read("a.py")], state=state, around=Around(loop="E0597")).dead_ends == 2


@pytest.mark.parametrize(
    ("command", "dead_ends"),
    [("git restore src/a.py", 1), ("git checkout HEAD -- src/a.py", 1), ("git reset -q --hard", 1), ("git stash", 1),
     ("git stash pop", 0), ("git checkout main", 0), ("git status", 0)],
)  # fmt: skip
def test_changes_thrown_away_are_a_dead_end(command: str, dead_ends: int) -> None:
    """Only where there were changes."""
    assert played(TRUST, [edited("src/a.py"), ran(command, purpose="vcs")]).dead_ends == dead_ends
    assert played(TRUST, [ran(command, purpose="vcs")]).dead_ends == 0


def test_unverified_files_cost_as_long_as_they_are_unverified() -> None:
    """Three each past the two free ones; a check that clears them gives all of it back."""
    assert heard(TRUST, [edited("a.py")], around=Around(debt=2)).value == 100
    assert heard(TRUST, [edited("a.py")], around=Around(debt=6)).value == 88
    state = played(TRUST, [edited("a.py")], around=Around(debt=6))
    assert played(TRUST, [checked()], state=state).debt == 0


def test_progress_restores() -> None:
    """A check that proves changes gives ten, a good call one; a check of nothing new is a good call."""
    assert heard(TRUST, LOSS).value == 80
    assert heard(TRUST, [*LOSS, read("a.py")]).value == 81
    assert heard(TRUST, [*LOSS, edited("a.py"), checked()]).value == 91
    assert heard(TRUST, [*LOSS, checked(), checked()]).value == 82


def test_it_stays_within_its_bounds() -> None:
    """Floor 0, cap 100."""
    assert heard(TRUST, LOSS * 20).value == 0
    assert heard(TRUST, [*LOSS, *[edited("a.py"), checked()] * 20]).value == 100
    assert heard(TRUST, LOSS * 4, around=Around(debt=400)).value == 0


def test_a_new_session_is_trusted_anew() -> None:
    """A prompt changes nothing, `clear` begins again."""
    assert heard(TRUST, [*LOSS, asked("go on")]).value == 80
    assert heard(TRUST, [*LOSS, began("clear")]).value == 100


def test_the_arithmetic_is_told() -> None:
    """`why` prints every number that makes it up."""
    facts = heard(TRUST, [*LOSS, read("a.py")], around=Around(debt=4)).facts
    assert facts["mistakes and failures that came back"] == "4 × −5"
    assert facts["unverified files past the free ones"] == "2 × −3"
    assert (facts["left of 100"], facts["trust"]) == ("81", "75")


@pytest.mark.parametrize(
    ("setting", "events", "around"),
    [
        ("trust_mistake", LOSS, Around()),
        ("trust_unverified", [edited("a.py")], Around(debt=5)),
        ("debt_free", [edited("a.py")], Around(debt=5)),
        ("trust_switch", [edited("a.py")], Around(switched=1)),
        ("trust_dead_end", [edited("a.py")], Around(loop="x")),
        ("trust_progress", [*LOSS, edited("a.py"), checked()], Around()),
        ("trust_recovery", [*LOSS, read("a.py")], Around()),
    ],
)
def test_every_setting_acts(setting: str, events: list[LiveEvent], around: Around) -> None:
    """Another number gives another trust."""
    other = replace(DEFAULTS, **{setting: getattr(DEFAULTS, setting) + 1})
    assert heard(TRUST, events, around=around).value != heard(TRUST, events, around=around, thresholds=other).value
