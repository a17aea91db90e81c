"""Drift: how far the work is from what was asked."""

import pytest
from msgspec.structs import replace

from preheat.live.drift import DRIFT, WINDOW, away, velocity
from preheat.live.thresholds import DEFAULTS
from preheat.model.live import LiveEvent
from tests.live.made import asked, began, checked, edited, read
from tests.live.playing import heard, played

GOAL = asked("fix the expired session in src/auth/login.py")
NEAR: list[LiveEvent] = [
    GOAL,
    *[read(f"src/auth/{name}.py") for name in ("login", "token", "session", "store", "keys", "clock", "cookie")],
    edited("src/auth/login.py"),
    edited("src/auth/token.py"),
]
FAR = [edited(f"src/billing/invoice{number}.py") for number in range(10)]


def test_work_on_what_was_asked_has_no_drift() -> None:
    """Named files, the files that work begins with and their subsystem are the goal."""
    reading = heard(DRIFT, NEAR)
    assert reading.value == 0
    assert not reading.fired


def test_leaving_is_told_while_it_happens() -> None:
    """Edit after edit outside of the goal: drift passes 0.7 while it rises, with counts and where the work began."""
    reading = heard(DRIFT, [*NEAR, *FAR])
    assert reading.fired
    assert reading.value == pytest.approx(10 / WINDOW)
    assert "10 of the last 12 file touches (`billing`)" in reading.text
    assert "src/auth/login.py" in reading.text


def test_work_that_stays_away_has_no_velocity() -> None:
    """Once it is far and stays there nothing is new: the cause lasts, the word is not repeated."""
    reading = heard(DRIFT, [*NEAR, *FAR, *FAR])
    assert reading.value == 1
    assert reading.cause == "away"
    assert not reading.fired


def test_looks_outside_are_an_excursion_and_no_drift_to_tell() -> None:
    """Only looking: the phase may call it exploring, nobody is told."""
    events = [*NEAR, *[read(f"src/billing/{number}.py") for number in range(10)]]
    assert not heard(DRIFT, events).fired
    assert away(played(DRIFT, events))
    assert not away(played(DRIFT, [*events, edited("src/billing/1.py")]))
    assert not away(played(DRIFT, [*events, read("src/auth/login.py")]))


@pytest.mark.parametrize("prompt", ["", "go on", "yes please", "continue with the next one"])
def test_a_vague_prompt_gives_no_drift(prompt: str) -> None:
    """There is nothing to be far from."""
    reading = heard(DRIFT, [asked(prompt), *NEAR[1:], *FAR])
    assert (reading.value, reading.fired) == (0, False)


def test_a_goal_in_a_document_gives_no_drift() -> None:
    """What the document asks for is not seen, so no distance from it can be."""
    assert heard(DRIFT, [asked("implement everything in docs/plan.md"), *NEAR[1:], *FAR]).value == 0


def test_a_prompt_anchors_anew() -> None:
    """A person who asks for something else sets another goal; one who says `go on` agrees with where the work is."""
    assert heard(DRIFT, [*NEAR, *FAR, asked("export every invoice of a year as one archive")]).value == 0
    after = heard(DRIFT, [*NEAR, *FAR, asked("go on"), *FAR])
    assert after.value < DEFAULTS.drift_high


def test_a_new_session_has_no_goal() -> None:
    """After `clear` nothing of the old goal counts, after `resume` all of it does."""
    assert not played(DRIFT, [*NEAR, began("clear")]).known
    assert played(DRIFT, [*NEAR, began("resume")]).known


def test_work_that_a_check_has_proved_belongs_to_the_goal() -> None:
    """A change that reaches into other subsystems and passes its checks goes on without a word."""
    steps = [
        event for place, edit in enumerate((*FAR, *FAR)) for event in ((edit, checked()) if place % 4 == 3 else (edit,))
    ]
    for length in range(1, len(steps)):
        assert not heard(DRIFT, [*NEAR, *steps[:length]]).fired


def test_words_of_the_prompt_are_half_way_to_the_goal() -> None:
    """A path that shares a telling word with the prompt is half close."""
    events = [
        asked("let invoices be sent again when the mail bounced"),
        *NEAR[1:],
        *[read(f"src/post/bounced_mail{number}.py") for number in range(WINDOW)],
    ]
    assert heard(DRIFT, events).value == pytest.approx(0.5)


def test_a_file_worked_on_for_long_is_one_touch() -> None:
    """Where a change is wired in, one file may take many edits."""
    assert heard(DRIFT, [*NEAR, *[edited("src/config/types.py")] * 20]).value == pytest.approx(1 / WINDOW)


def test_velocity_is_the_slope() -> None:
    """Least squares per turn; too few turns have none."""
    assert velocity((0.0, 0.1, 0.2, 0.3, 0.4)) == pytest.approx(0.1)
    assert velocity((0.5, 0.5, 0.5, 0.5)) == 0
    assert velocity((0.0, 1.0, 0.0)) == 0


def test_drift_high_acts() -> None:
    """A higher threshold is not passed."""
    assert not heard(DRIFT, [*NEAR, *FAR], thresholds=replace(DEFAULTS, drift_high=0.9)).fired


def test_drift_velocity_acts() -> None:
    """A drift that rises more slowly than the setting is not told."""
    assert not heard(DRIFT, [*NEAR, *FAR], thresholds=replace(DEFAULTS, drift_velocity=0.2)).fired
