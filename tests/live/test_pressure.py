"""Pressure: how full the model's window is."""

import pytest
from msgspec.structs import replace

from preheat.live.advice import step
from preheat.live.pressure import PRESSURE, growth_rate
from preheat.live.signal import DEFAULTS
from preheat.live.state import START
from preheat.model.live import LiveEvent
from tests.live.builders import began, compacted, edited, fold_signal, read, read_signal


def filled(*tokens: int, window: int | None = 200_000) -> list[LiveEvent]:
    return [read(f"a{number}.py", context=each, window=window) for number, each in enumerate(tokens)]


def test_a_full_window_fires_with_the_turns_left() -> None:
    reading = read_signal(PRESSURE, filled(150_000, 160_000, 170_000, 180_000))
    assert reading.value == pytest.approx(0.9)
    assert reading.fired
    assert "90% full (180,000 of 200,000 tokens, about 2 more turns at the present rate)" in reading.text


def test_pressure_does_not_fire_with_room_left() -> None:
    assert not read_signal(PRESSURE, filled(10_000, 20_000)).fired


@pytest.mark.parametrize("events", [[], [edited("a.py")], filled(190_000, window=None), filled(190_000, window=0)])
def test_an_unknown_window_has_no_share(events: list[LiveEvent]) -> None:
    """Where the agent's program does not count, nothing is guessed."""
    reading = read_signal(PRESSURE, events)
    assert (reading.value, reading.fired, reading.facts) == (0, False, {"share": "not known"})


def test_the_size_of_the_window_is_remembered() -> None:
    assert read_signal(PRESSURE, [*filled(1_000), *filled(100_000, window=None)]).value == 0.5


def test_a_compaction_resets_pressure() -> None:
    assert read_signal(PRESSURE, [*filled(190_000), compacted()]).value == 0
    assert read_signal(PRESSURE, [*filled(190_000), began("compact")]).value == 0
    assert read_signal(PRESSURE, [*filled(190_000), compacted(), *filled(30_000, window=None)]).value == 0.15


def test_growth_is_measured_since_the_last_compaction() -> None:
    assert growth_rate(fold_signal(PRESSURE, filled(10_000, 30_000, 50_000))) == 20_000
    assert growth_rate(fold_signal(PRESSURE, filled(10_000, 30_000, 5_000))) == 0


def test_a_count_beyond_the_window_is_a_full_window() -> None:
    """Whatever a host counts, the share stays within 0 and 1."""
    assert read_signal(PRESSURE, filled(900_000)).value == 1


def test_pressure_share_sets_the_share_that_fires() -> None:
    assert not read_signal(PRESSURE, filled(180_000), thresholds=replace(DEFAULTS, pressure_share=0.95)).fired


def test_a_share_around_the_threshold_is_advised_once() -> None:
    trembling = filled(100_000, 172_000, 169_000, *(172_000 + 10 * number for number in range(12)))
    assert _told(trembling) == ["pressure"]
    assert _told([*trembling, compacted(), *filled(30_000, *(175_000 + number for number in range(12)))]) == [
        "pressure",
        "pressure",
    ]


def _told(events: list[LiveEvent]) -> list[str]:
    state = START
    told: list[str] = []
    for event in events:
        state, advisory = step(state, event)
        if advisory is not None:
            told.append(advisory.signal)
    return told
