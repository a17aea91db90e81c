"""Trust: how far the session can be left alone."""

import pytest
from msgspec.structs import replace

from preheat.live.signal import DEFAULTS, EarlierReadings
from preheat.live.trust import TRUST
from preheat.model.live import LiveEvent
from tests.live.builders import asked, began, checked, edited, fold_signal, polled, ran, read, read_signal

LOSS: list[LiveEvent] = [ran("frobnicate --now", ok=False)] * 4


def test_trust_starts_at_100_and_stays_there_without_lapses() -> None:
    assert read_signal(TRUST, [read("a.py"), edited("a.py"), checked()]).value == 100
    state = fold_signal(TRUST, [read("a.py")])
    assert fold_signal(TRUST, [read("b.py")], state=state) is state


def test_a_mistake_costs_five_points() -> None:
    assert read_signal(TRUST, [ran("a", ok=False)]).value == 95
    assert read_signal(TRUST, [ran("a", ok=False, signature="x"), ran("b", ok=False, signature="y")]).value == 90


def test_a_finding_costs_no_trust() -> None:
    events = [checked(ok=False, signature=f"error {number}") for number in range(8)]
    assert read_signal(TRUST, events).value == 100
    assert read_signal(TRUST, [checked(ok=False), edited("a.py"), checked(ok=False)]).value == 100


def test_the_same_finding_is_a_lapse_the_third_time() -> None:
    again = [checked(ok=False, failing=4), edited("a.py")]
    assert fold_signal(TRUST, [*again, *again, checked(ok=False, failing=4)]).lapses == 1
    assert fold_signal(TRUST, [*again, *again, checked(ok=False, failing=2)]).lapses == 0
    assert fold_signal(TRUST, [*again, *again, checked(), *again]).lapses == 0


def test_a_failure_of_the_environment_is_a_lapse_only_when_repeated() -> None:
    away = ran("curl example.org", ok=False, cause="environment", signature="could not resolve host")
    assert read_signal(TRUST, [away]).value == 100
    assert read_signal(TRUST, [away, away]).value == 95
    assert read_signal(TRUST, [away, ran("curl example.org"), away]).value == 100
    assert read_signal(TRUST, [polled(), polled(), polled()]).value == 100


@pytest.mark.parametrize("status", ["denied", "interrupted", "unknown"])
def test_a_denied_or_interrupted_call_costs_no_trust(status: str) -> None:
    assert read_signal(TRUST, [replace(ran("x"), status=status)] * 3).value == 100


def test_a_switch_costs_two_points() -> None:
    assert read_signal(TRUST, [edited("src/b/x.py")], earlier=EarlierReadings(opened_subsystems=1)).value == 98
    assert (
        read_signal(TRUST, [edited("src/b/x.py", "src/c/x.py")], earlier=EarlierReadings(opened_subsystems=2)).value
        == 96
    )


def test_a_loop_is_one_dead_end_while_it_lasts() -> None:
    """Four when it is noticed, not with every round; another loop is another one."""
    state = fold_signal(TRUST, [checked(ok=False)] * 2, earlier=EarlierReadings(loop_cause="E0597"))
    assert (state.base, state.dead_ends) == (96, 1)
    state = fold_signal(TRUST, [read("a.py")], state=state)
    assert fold_signal(TRUST, [read("a.py")], state=state, earlier=EarlierReadings(loop_cause="E0597")).dead_ends == 2


@pytest.mark.parametrize(
    ("command", "dead_ends"),
    [("git restore src/a.py", 1), ("git checkout HEAD -- src/a.py", 1), ("git reset -q --hard", 1), ("git stash", 1),
     ("git stash pop", 0), ("git checkout main", 0), ("git status", 0)],
)  # fmt: skip
def test_discarded_changes_are_a_dead_end(command: str, dead_ends: int) -> None:
    assert fold_signal(TRUST, [edited("src/a.py"), ran(command, purpose="vcs")]).dead_ends == dead_ends
    assert fold_signal(TRUST, [ran(command, purpose="vcs")]).dead_ends == 0


def test_unverified_files_cost_trust_while_they_are_unverified() -> None:
    assert read_signal(TRUST, [edited("a.py")], earlier=EarlierReadings(unverified_files=2)).value == 100
    assert read_signal(TRUST, [edited("a.py")], earlier=EarlierReadings(unverified_files=6)).value == 88
    state = fold_signal(TRUST, [edited("a.py")], earlier=EarlierReadings(unverified_files=6))
    assert fold_signal(TRUST, [checked()], state=state).debt == 0


def test_a_passing_check_restores_trust() -> None:
    assert read_signal(TRUST, LOSS).value == 80
    assert read_signal(TRUST, [*LOSS, read("a.py")]).value == 81
    assert read_signal(TRUST, [*LOSS, edited("a.py"), checked()]).value == 91
    assert read_signal(TRUST, [*LOSS, checked(), checked()]).value == 82


def test_trust_stays_between_0_and_100() -> None:
    assert read_signal(TRUST, LOSS * 20).value == 0
    assert read_signal(TRUST, [*LOSS, *[edited("a.py"), checked()] * 20]).value == 100
    assert read_signal(TRUST, LOSS * 4, earlier=EarlierReadings(unverified_files=400)).value == 0


def test_a_new_session_starts_with_full_trust() -> None:
    assert read_signal(TRUST, [*LOSS, asked("go on")]).value == 80
    assert read_signal(TRUST, [*LOSS, began("clear")]).value == 100


def test_the_facts_of_trust_have_its_arithmetic() -> None:
    facts = read_signal(TRUST, [*LOSS, read("a.py")], earlier=EarlierReadings(unverified_files=4)).facts
    assert facts["mistakes and failures that came back"] == "4 × −5"
    assert facts["unverified files past the free ones"] == "2 × −3"
    assert (facts["left of 100"], facts["trust"]) == ("81", "75")


@pytest.mark.parametrize(
    ("setting", "events", "earlier"),
    [
        ("trust_mistake", LOSS, EarlierReadings()),
        ("trust_unverified", [edited("a.py")], EarlierReadings(unverified_files=5)),
        ("debt_free", [edited("a.py")], EarlierReadings(unverified_files=5)),
        ("trust_switch", [edited("a.py")], EarlierReadings(opened_subsystems=1)),
        ("trust_dead_end", [edited("a.py")], EarlierReadings(loop_cause="x")),
        ("trust_progress", [*LOSS, edited("a.py"), checked()], EarlierReadings()),
        ("trust_recovery", [*LOSS, read("a.py")], EarlierReadings()),
    ],
)
def test_every_trust_setting_changes_trust(setting: str, events: list[LiveEvent], earlier: EarlierReadings) -> None:
    other = replace(DEFAULTS, **{setting: getattr(DEFAULTS, setting) + 1})
    assert (
        read_signal(TRUST, events, earlier=earlier).value
        != read_signal(TRUST, events, earlier=earlier, thresholds=other).value
    )
