"""What the session is in: warmup, productive, exploring, struggling or late. Not a sequence: it goes back and forth.

Warmup is the first turns, late is turn 80 or a window that is 80 % full; both are counted and come at once. Struggling and
exploring need evidence that holds for two turns, and so does the way back. Struggling comes before late, so that lateness
hides no trouble; when it is over the session is late again. Knows no advice.
"""

import msgspec

from preheat.live.part import Frame, Part, passed
from preheat.live.places import short
from preheat.model.live import Began, Called, LiveEvent, Phase, Reading

_CALLS = 6
"""Lapses are counted in the last so many calls, against as many before."""
_RECENT = (1 << _CALLS) - 1
_ALL = (1 << 2 * _CALLS) - 1
_LAPSES = 3
_SAME_FILE = 4
"""Changes of one file without a check that passes,"""
_FAILED_CHECKS = 3
"""and checks that failed meanwhile, that make a struggle."""
_FILES = 8
_CHANGES = 10
_LONGEST = 160


class Change(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One change of phase."""

    turn: int
    phase: Phase
    reason: str


class PhaseState(msgspec.Struct, frozen=True, gc=False):
    phase: Phase = "warmup"
    reason: str = "the session begins"
    since: int = 0
    wanted: Phase = "warmup"
    """What the evidence says, until it has held long enough."""
    wanted_since: int = 0
    lapses: int = 0
    """One bit for each of the last calls, the newest lowest: a mistake or a failure that came back."""
    edits: tuple[tuple[str, int], ...] = ()
    """How often the last files were changed since there was progress."""
    failed_checks: int = 0
    """Since there was progress."""
    failing: int | None = None
    changes: tuple[Change, ...] = ()
    """The last ones."""


START = PhaseState()


def step(state: PhaseState, event: LiveEvent, frame: Frame) -> PhaseState:
    if not isinstance(event, Called):
        if isinstance(event, Began) and event.source in ("startup", "clear"):
            return START
        return state
    if _steady(state, event, frame):
        return state
    lapses = (state.lapses << 1 | frame.around.lapse) & _ALL
    edits, failed_checks, failing = state.edits, state.failed_checks, state.failing
    if event.edited:
        edits = _counted(edits, event.edited)
    if event.checks:
        if passed(event):
            lapses, edits, failed_checks, failing = 0, (), 0, None
        elif event.status == "failed":
            if failing is not None and event.failing is not None and event.failing < failing:
                edits, failed_checks = (), 0
            failed_checks = min(failed_checks + 1, 1000)
            failing = event.failing
    wanted, reason = _wanted(lapses, edits, failed_checks, frame)
    phase = state.phase
    if wanted == phase:
        unchanged = lapses == state.lapses and edits is state.edits and failed_checks == state.failed_checks
        if unchanged and failing == state.failing and wanted == state.wanted:
            return state
        return PhaseState(
            phase, state.reason, state.since, phase, frame.turn, lapses, edits, failed_checks, failing, state.changes
        )
    since = state.wanted_since if wanted == state.wanted else frame.turn
    held = frame.turn - since + 1
    if held < frame.thresholds.phase_patience and not _at_once(phase, wanted):
        return PhaseState(
            phase, state.reason, state.since, wanted, since, lapses, edits, failed_checks, failing, state.changes
        )
    changes = (*state.changes, Change(frame.turn, wanted, reason))[-_CHANGES:]
    return PhaseState(wanted, reason, frame.turn, wanted, frame.turn, lapses, edits, failed_checks, failing, changes)


def _steady(state: PhaseState, event: Called, frame: Frame) -> bool:
    """Whether nothing can have changed: most calls of a session that goes well."""
    if event.edited or event.checks or state.lapses or state.failed_checks >= _FAILED_CHECKS:
        return False
    around, thresholds, turn = frame.around, frame.thresholds, frame.turn
    if around.lapse or around.loop or around.away or (around.share or 0.0) >= thresholds.late_share:
        return False
    counted: Phase = "productive"
    if turn <= thresholds.warmup_turns:
        counted = "warmup"
    elif turn >= thresholds.late_turn:
        counted = "late"
    return state.phase == counted == state.wanted


def _counted(edits: tuple[tuple[str, int], ...], paths: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    for path in paths[:_FILES]:
        path = path[-_LONGEST:]
        if edits and edits[-1][0] == path:  # most edits are of the file that was just edited
            edits = (*edits[:-1], (path, min(edits[-1][1] + 1, 1000)))
            continue
        times, others = 0, edits
        for place, (known, so_far) in enumerate(edits):
            if known == path:
                times, others = so_far, (*edits[:place], *edits[place + 1 :])
                break
        edits = (*others, (path, min(times + 1, 1000)))
    return edits[-_FILES:]


def _at_once(phase: Phase, wanted: Phase) -> bool:
    """Whether a change is a matter of counting, not of evidence that may pass."""
    return (wanted in ("warmup", "late") and phase != "struggling") or (phase == "warmup" and wanted == "productive")


def _wanted(lapses: int, edits: tuple[tuple[str, int], ...], failed_checks: int, frame: Frame) -> tuple[Phase, str]:
    turn, thresholds, around = frame.turn, frame.thresholds, frame.around
    if turn <= thresholds.warmup_turns:
        return "warmup", "the session begins"
    if around.loop:
        return "struggling", "the same is tried again and again"
    recent = (lapses & _RECENT).bit_count()
    if recent >= _LAPSES and recent > (lapses >> _CALLS).bit_count():
        return "struggling", f"{recent} of the last {_CALLS} calls were mistakes or failures that came back"
    if failed_checks >= _FAILED_CHECKS and edits:
        path, times = max(edits, key=lambda each: (each[1], each[0]))
        if times >= _SAME_FILE:
            return (
                "struggling",
                f"`{short(path, 60)}` was changed {times} times, {failed_checks} checks failed and none passed",
            )
    if turn >= thresholds.late_turn:
        return "late", f"turn {turn}"
    if around.share is not None and around.share >= thresholds.late_share:
        return "late", f"the context is {around.share:.0%} full"
    if around.away:
        return "exploring", "the last looks are all outside of what was asked for"
    return (
        "productive",
        f"{thresholds.warmup_turns} turns are over" if frame.phase == "warmup" else "nothing speaks against it",
    )


def read(state: PhaseState, frame: Frame) -> Reading:
    facts = {"phase": state.phase, "since turn": str(state.since), "because": state.reason}
    if state.wanted != state.phase:
        facts["evidence"] = f"for `{state.wanted}` since turn {state.wanted_since}"
    return Reading(signal="phase", value=float(frame.turn - state.since), cause=state.phase, facts=facts)


PHASE = Part("phase", START, step, read)
