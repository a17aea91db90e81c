"""Drift: how far the work is from what was asked."""

import pytest
from msgspec.structs import replace

from preheat.live.drift import DRIFT, WINDOW, looks_outside_goal, velocity
from preheat.live.signal import DEFAULTS
from preheat.model.live import LiveEvent
from tests.live.builders import asked, began, checked, edited, fold_signal, read, read_signal

GOAL = asked("fix the expired session in src/auth/login.py")
NEAR: list[LiveEvent] = [
    GOAL,
    *[read(f"src/auth/{name}.py") for name in ("login", "token", "session", "store", "keys", "clock", "cookie")],
    edited("src/auth/login.py"),
    edited("src/auth/token.py"),
]
FAR = [edited(f"src/billing/invoice{number}.py") for number in range(10)]


def test_work_on_the_named_files_and_their_subsystem_has_no_drift() -> None:
    reading = read_signal(DRIFT, NEAR)
    assert reading.value == 0
    assert not reading.fired


def test_edits_outside_of_the_goal_fire_while_drift_rises() -> None:
    reading = read_signal(DRIFT, [*NEAR, *FAR])
    assert reading.fired
    assert reading.value == pytest.approx(10 / WINDOW)
    assert "10 of the last 12 file touches (`billing`)" in reading.text
    assert "src/auth/login.py" in reading.text


def test_constant_drift_has_no_velocity_and_does_not_fire() -> None:
    reading = read_signal(DRIFT, [*NEAR, *FAR, *FAR])
    assert reading.value == 1
    assert reading.cause == "away"
    assert not reading.fired


def test_reads_outside_of_the_goal_do_not_fire() -> None:
    events = [*NEAR, *[read(f"src/billing/{number}.py") for number in range(10)]]
    assert not read_signal(DRIFT, events).fired
    assert looks_outside_goal(fold_signal(DRIFT, events))
    assert not looks_outside_goal(fold_signal(DRIFT, [*events, edited("src/billing/1.py")]))
    assert not looks_outside_goal(fold_signal(DRIFT, [*events, read("src/auth/login.py")]))


@pytest.mark.parametrize("prompt", ["", "go on", "yes please", "continue with the next one"])
def test_a_vague_prompt_gives_no_drift(prompt: str) -> None:
    """There is nothing to be far from."""
    reading = read_signal(DRIFT, [asked(prompt), *NEAR[1:], *FAR])
    assert (reading.value, reading.fired) == (0, False)


def test_a_prompt_that_names_only_a_document_gives_no_drift() -> None:
    assert read_signal(DRIFT, [asked("implement everything in docs/plan.md"), *NEAR[1:], *FAR]).value == 0


def test_a_prompt_with_a_goal_replaces_the_goal_and_one_without_keeps_it() -> None:
    assert read_signal(DRIFT, [*NEAR, *FAR, asked("export every invoice of a year as one archive")]).value == 0
    after = read_signal(DRIFT, [*NEAR, *FAR, asked("go on"), *FAR])
    assert after.value < DEFAULTS.drift_high


def test_the_goal_ends_with_clear_and_survives_resume() -> None:
    assert not fold_signal(DRIFT, [*NEAR, began("clear")]).known
    assert fold_signal(DRIFT, [*NEAR, began("resume")]).known


def test_subsystems_that_passed_a_check_belong_to_the_goal() -> None:
    steps = [
        event for place, edit in enumerate((*FAR, *FAR)) for event in ((edit, checked()) if place % 4 == 3 else (edit,))
    ]
    for length in range(1, len(steps)):
        assert not read_signal(DRIFT, [*NEAR, *steps[:length]]).fired


def test_a_path_that_shares_a_word_with_the_prompt_has_half_closeness() -> None:
    events = [
        asked("let invoices be sent again when the mail bounced"),
        *NEAR[1:],
        *[read(f"src/post/bounced_mail{number}.py") for number in range(WINDOW)],
    ]
    assert read_signal(DRIFT, events).value == pytest.approx(0.5)


def test_repeated_edits_of_one_file_are_one_touch() -> None:
    assert read_signal(DRIFT, [*NEAR, *[edited("src/config/types.py")] * 20]).value == pytest.approx(1 / WINDOW)


def test_velocity_is_the_least_squares_slope_per_turn() -> None:
    assert velocity((0.0, 0.1, 0.2, 0.3, 0.4)) == pytest.approx(0.1)
    assert velocity((0.5, 0.5, 0.5, 0.5)) == 0
    assert velocity((0.0, 1.0, 0.0)) == 0


def test_drift_high_sets_the_drift_that_fires() -> None:
    assert not read_signal(DRIFT, [*NEAR, *FAR], thresholds=replace(DEFAULTS, drift_high=0.9)).fired


def test_drift_velocity_sets_the_rise_that_fires() -> None:
    assert not read_signal(DRIFT, [*NEAR, *FAR], thresholds=replace(DEFAULTS, drift_velocity=0.2)).fired
