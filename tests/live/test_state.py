"""The fold: the state of a session after any events."""

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.live.advice import step
from preheat.live.state import SIGNALS, START, LiveState, fold, reading, readings
from preheat.model.live import PHASES, LiveEvent
from tests.live.builders import asked, began, checked, edited, ended, polled, ran, read, stopped
from tests.live.generated_events import SESSIONS

RANGES = {"focus": (0, 100), "drift": (0, 1), "pressure": (0, 1), "trust": (0, 100)}


def folded(events: Sequence[LiveEvent], state: LiveState = START) -> LiveState:
    for event in events:
        state = fold(state, event)
    return state


def stored(state: LiveState) -> LiveState:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=LiveState)


def test_trust_and_phase_are_the_last_signals() -> None:
    assert [part.name for part in SIGNALS] == [
        "focus",
        "loop",
        "debt",
        "drift",
        "pressure",
        "mistake",
        "trust",
        "phase",
    ]
    assert [each.signal for each in readings(START)] == [part.name for part in SIGNALS]


def test_calls_of_one_response_are_one_turn() -> None:
    assert folded([read("a.py", turn="r1"), read("b.py", turn="r1"), read("c.py", turn="r2")]).turn == 2
    assert folded([read("a.py"), read("a.py")]).turn == 2
    assert folded([began(), asked("fix it"), read("a.py"), stopped(), ended()]).turn == 1


def test_clear_and_startup_reset_the_state_and_resume_does_not() -> None:
    state = folded([asked("fix src/a/x.py"), edited("src/a/x.py"), ran("x", ok=False)])
    assert folded([began("clear")], state) == folded([began()])
    assert folded([began("resume")], state).turn == 2
    assert folded([began("compact")], state).trust.base == 95


def test_trust_and_phase_use_the_readings_of_other_signals() -> None:
    wide = folded([edited(f"src/{name}/x.py") for name in "abcde"])
    assert (wide.trust.debt, wide.trust.switches) == (5, 4)
    events = [
        event
        for _ in range(5)
        for event in (edited("src/a/x.py"), checked("build", ok=False, signature="E0597 borrowed"))
    ]
    stuck = folded(events)
    assert stuck.loop_cause
    assert stuck.trust.dead_ends == 1
    assert stuck.phase.phase == "struggling"


def test_no_signal_fires_in_ordinary_work() -> None:
    events: list[LiveEvent] = [
        asked("add a limit to src/auth/login.py"),
        read("src/auth/login.py"),
        edited("src/auth/login.py"),
        checked(),
        polled(),
    ]
    assert not any(each.fired for each in readings(folded(events)))
    assert reading(folded(events), "trust").value == 100


@given(SESSIONS)
@settings(max_examples=150, deadline=None)
def test_any_events_give_a_bounded_state_and_values_in_range(events: list[LiveEvent]) -> None:
    state = START
    for event in events:
        state, advisory = step(state, event)
        assert advisory is None or len(advisory.text) <= 420
        for each in readings(state):
            low, high = RANGES.get(each.signal, (0, float("inf")))
            assert low <= each.value <= high
            assert each.fired <= bool(each.text)
    assert state.phase.phase in PHASES
    assert len(msgspec.msgpack.encode(state)) < 64_000


@given(SESSIONS, st.integers(0, 60))
@settings(max_examples=100, deadline=None)
def test_folding_with_a_stored_state_in_between_gives_the_same_state(events: list[LiveEvent], cut: int) -> None:
    whole = folded(events)
    half = stored(folded(events[:cut]))
    assert half == folded(events[:cut])
    assert folded(events[cut:], half) == whole
    assert stored(whole) == whole


def test_a_long_session_stays_small() -> None:
    """Ten thousand events leave a state of a few kilobytes."""
    state = START
    for number in range(2_500):
        for event in (
            asked(f"change number {number} in src/part{number}/file.py"),
            edited(f"src/part{number}/{'x' * 300}.py"),
            checked("build", ok=False, signature=f"error {number} " + "y" * 500, command=f"make {number} " + "z" * 500),
            ran(f"cmd {number}", ok=False, signature=f"no {number}" + "w" * 500),
        ):
            state, _ = step(state, event)
    assert len(msgspec.msgpack.encode(state)) < 64_000
