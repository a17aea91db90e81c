"""Drift: how far the work is from what the prompt asked for, from 0 to 1, and how fast that grows.

Every file touch has a closeness to the goal: 1 if the prompt named the file or the work began with it, 0.7 in the same subsystem,
0.5 if its path shares a telling word with the prompt, else 0. Drift is 1 minus the mean closeness of the last twelve touches;
its velocity is the slope over the last eight turns that touched files. A prompt sets a new goal; work that passed a check
belongs to the goal. Knows no meaning of words: a vague prompt gives no drift.
"""

from functools import lru_cache

import msgspec

from preheat.live import sentences
from preheat.live.project_files import (
    is_supporting_file,
    locate_file,
    path_words,
    shorten_path,
    states_a_goal,
    subsystem_of,
)
from preheat.live.signal import FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, LiveEvent, PromptEvent, SignalReading, StartEvent

WINDOW = 12
_TURNS = 8
_LEAST_TURNS = 4
"""Turns that a velocity needs."""
_GOAL_FILES = 6
"""The first files touched after a prompt belong to the goal."""
_GOAL_FILES_EDITED = 2
"""So do the first files changed, however many were read before."""
_MOST_FILES = 40
_MOST_WORDS = 60
_LONGEST_WORD = 40
_MOST_SUBSYSTEMS = 16
_SAME_SUBSYSTEM = 0.7
_SAME_WORD = 0.5
_READS_OUTSIDE = 6
"""Reads in a row outside of the goal that count as looking away."""
_CHANGES_OUTSIDE = 3
"""Files changed outside of the goal from which drift fires: one or two are usual for any change."""
_SLACK = 0.2
"""How far drift must fall below its threshold before its cause ends."""
_LONGEST = 200

Touch = tuple[float, str, bool, str]
"""Closeness, subsystem, whether it was changed, path."""


class DriftState(msgspec.Struct, frozen=True, gc=False):
    known: bool = False
    """The last prompt gave a goal to measure against."""
    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """The file names of those paths: people name a file without its folder."""
    subsystems: tuple[str, ...] = ()
    firsts: int = 0
    firsts_edited: int = 0
    touches: tuple[Touch, ...] = ()
    """The last ones, oldest first."""
    history: tuple[float, ...] = ()
    """Drift after each of the last turns that touched files."""
    turn: int = 0
    """The turn of the last entry in `history`."""


START = DriftState()


def step(state: DriftState, event: LiveEvent, context: FoldContext) -> DriftState:
    if isinstance(event, CallEvent):
        if not state.known:
            return state
        if event.files:
            state = _fold_touches(state, event, context.turn)
        if event.checks and state.touches and check_passed(event):
            return _extend_goal(state)
        return state
    if isinstance(event, PromptEvent):
        return _fold_prompt(state, event)
    if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
        return START
    return state


def _fold_prompt(state: DriftState, prompt: PromptEvent) -> DriftState:
    """The state after a prompt. A prompt without a goal (`go on`) accepts the work so far."""
    if not states_a_goal(prompt):
        return _extend_goal(state, edited_only=False) if state.known else state
    files = tuple(path[-_LONGEST:] for path in prompt.files[: _MOST_FILES - _GOAL_FILES - _GOAL_FILES_EDITED])
    places = [location.subsystem for path in files if (location := locate_file(path)) is not None]
    if files and not places and all(map(is_supporting_file, files)):  # the goal is in a document that is not read here
        return START
    return DriftState(
        known=True,
        words=_cap_words(prompt.words[:_MOST_WORDS]),
        files=files,
        names=tuple(path.rpartition("/")[2] for path in files),
        subsystems=tuple(dict.fromkeys(name for name in places if name not in ("", ".")))[:_MOST_SUBSYSTEMS],
    )


def _cap_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return words if max(map(len, words), default=0) <= _LONGEST_WORD else tuple(word[:_LONGEST_WORD] for word in words)


def _extend_goal(state: DriftState, *, edited_only: bool = True) -> DriftState:
    """The state with the touched subsystems as part of the goal, and no touches."""
    more = [subsystem for _, subsystem, edited, _ in state.touches if edited or not edited_only]
    subsystems = tuple(dict.fromkeys((*state.subsystems, *more)))[-_MOST_SUBSYSTEMS:]
    return msgspec.structs.replace(state, subsystems=subsystems, touches=(), history=())


def _fold_touches(state: DriftState, event: CallEvent, turn: int) -> DriftState:
    last = state.touches[-1] if state.touches else None
    if last is not None and event.files == (last[3],) and (last[2] or not event.edited):
        return state  # the same file again
    files, names, subsystems = state.files, state.names, state.subsystems
    firsts, firsts_edited, touches = state.firsts, state.firsts_edited, state.touches
    for path in event.files[:WINDOW]:
        edited = path in event.edited
        location = locate_file(path)
        path = path[-_LONGEST:]
        named = path in files or path.rpartition("/")[2] in names
        subsystem = ""
        if location is not None:
            subsystem = subsystem_of(location, subsystems) if location.is_test else location.subsystem
        if not named and subsystem and (firsts < _GOAL_FILES or (edited and firsts_edited < _GOAL_FILES_EDITED)):
            named, files, firsts = True, (*files, path)[-_MOST_FILES:], firsts + 1
        firsts_edited += edited
        if named and subsystem and subsystem not in subsystems:
            subsystems = (*subsystems, subsystem)[-_MOST_SUBSYSTEMS:]
        if subsystem or named:
            close = 1.0 if named else _closeness(path, subsystem, state.words, subsystems)
            if touches and touches[-1][3] == path:  # the same file again is one touch
                edited, touches = edited or touches[-1][2], touches[:-1]
            touches = (*touches, (close, subsystem, edited, path))
    if touches is state.touches:
        return state
    touches = touches[-WINDOW:]
    drift = distance(touches)
    history = (*(state.history[:-1] if turn == state.turn else state.history), drift)[-_TURNS:]
    return DriftState(
        True, state.words, files, names, subsystems, firsts, min(firsts_edited, _MOST_FILES), touches, history, turn
    )


def _closeness(path: str, subsystem: str, words: tuple[str, ...], subsystems: tuple[str, ...]) -> float:
    if subsystem in subsystems:
        return _SAME_SUBSYSTEM
    return 0.0 if path_words(path).isdisjoint(_as_set(words)) else _SAME_WORD


@lru_cache(maxsize=512)
def _as_set(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(words)


def distance(touches: tuple[Touch, ...]) -> float:
    """Drift of some touches; missing touches count as close, so that drift starts at 0."""
    return sum([1.0 - touch[0] for touch in touches]) / WINDOW


def velocity(history: tuple[float, ...]) -> float:
    """The slope of drift per turn (least squares); 0 for too few turns."""
    number = len(history)
    if number < _LEAST_TURNS:
        return 0.0
    middle, mean = (number - 1) / 2, sum(history) / number
    above = sum((place - middle) * (value - mean) for place, value in enumerate(history))
    return above / sum((place - middle) ** 2 for place in range(number))


def looks_outside_goal(state: DriftState) -> bool:
    """Whether the last touches are reads outside of the goal only."""
    touches = state.touches
    if len(touches) < _READS_OUTSIDE or touches[-1][0] or touches[-1][2]:
        return False
    last = touches[-_READS_OUTSIDE:]
    return sum(close + edited for close, _, edited, _ in last) <= _SAME_WORD


def read(state: DriftState, context: FoldContext) -> SignalReading:
    if not state.known:
        return SignalReading(
            signal="drift", value=0.0, facts={"goal": "the prompt names nothing that work could be measured against"}
        )
    thresholds = context.thresholds
    drift, speed = distance(state.touches), velocity(state.history)
    far = drift >= thresholds.drift_high
    outside = [subsystem for close, subsystem, _, _ in state.touches if not close]
    changed = len({path for close, _, edited, path in state.touches if edited and not close})
    fired = far and speed >= thresholds.drift_velocity and changed >= _CHANGES_OUTSIDE and context.phase != "warmup"
    return SignalReading(
        signal="drift",
        value=drift,
        fired=fired,
        cause="away" if drift >= thresholds.drift_high - _SLACK else "",
        facts={
            "file touches": str(len(state.touches)),
            "outside of the goal": f"{len(outside)}, {changed} files changed",
            "drift": f"1 − mean closeness = {drift:.2f}",
            "velocity": f"{speed:+.3f} a turn over {len(state.history)} turns",
            "goal": ", ".join((*state.names[:3], *state.subsystems[:3])) or "words of the prompt",
        },
        text=_text(state, outside, drift, speed) if fired else "",
    )


def _text(state: DriftState, outside: list[str], drift: float, speed: float) -> str:
    began = next((path for path in (*state.files, *state.subsystems) if "/" in path), next(iter(state.subsystems), ""))
    return sentences.DRIFT.write(
        outside=len(outside),
        touches=len(state.touches),
        places=[shorten_path(name) for name in list(dict.fromkeys(reversed(outside)))[:3]],
        drift=f"{drift:.2f}",
        speed=f"{speed:.2f}",
        began=shorten_path(began, 60),
    )


def is_quiet(state: DriftState, context: FoldContext) -> bool:
    return not state.history or state.history[-1] < context.thresholds.drift_high


DRIFT = Signal("drift", START, step, read, is_quiet)
