"""Phase of a session: warmup, productive, exploring, struggling or late; it may return to an earlier phase.

Warmup is the first turns, late is turn 80 or a window that is 80 % full; both begin at once. Struggling and exploring need
evidence for two turns, and so does leaving them. A late session that struggles is struggling. Knows no advice.
"""

import msgspec

from preheat.live.project_files import shorten_path
from preheat.live.signal import FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, LiveEvent, Phase, SignalReading, StartEvent

_COMPARED_CALLS = 6
"""Lapses in so many last calls are compared with as many calls before."""
_RECENT = (1 << _COMPARED_CALLS) - 1
_ALL = (1 << 2 * _COMPARED_CALLS) - 1
_LEAST_LAPSES = 3
_SAME_FILE = 4
"""Changes of one file without a passing check that make a struggle, together with `_FAILED_CHECKS`."""
_FAILED_CHECKS = 3
"""Failed checks meanwhile."""
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
    """The phase that the evidence is for, while it has not held long enough."""
    wanted_since: int = 0
    lapses: int = 0
    """One bit for each of the last calls, the newest lowest: a mistake or a repeated failure."""
    edits: tuple[tuple[str, int], ...] = ()
    """How often the last files were changed since there was progress."""
    failed_checks: int = 0
    """Checks that failed since there was progress."""
    failing: int | None = None
    changes: tuple[Change, ...] = ()
    """The last ones."""


START = PhaseState()


def step(state: PhaseState, event: LiveEvent, context: FoldContext) -> PhaseState:
    if not isinstance(event, CallEvent):
        if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
            return START
        return state
    if _is_steady(state, event, context):
        return state
    lapses = (state.lapses << 1 | context.earlier.is_lapse) & _ALL
    edits, failed_checks, failing = state.edits, state.failed_checks, state.failing
    if event.edited:
        edits = _count_edits(edits, event.edited)
    if event.checks:
        if check_passed(event):
            lapses, edits, failed_checks, failing = 0, (), 0, None
        elif event.status == "failed":
            if failing is not None and event.failing is not None and event.failing < failing:
                edits, failed_checks = (), 0
            failed_checks = min(failed_checks + 1, 1000)
            failing = event.failing
    wanted, reason = _phase_by_evidence(lapses, edits, failed_checks, context)
    phase = state.phase
    if wanted == phase:
        unchanged = lapses == state.lapses and edits is state.edits and failed_checks == state.failed_checks
        if unchanged and failing == state.failing and wanted == state.wanted:
            return state
        return PhaseState(
            phase, state.reason, state.since, phase, context.turn, lapses, edits, failed_checks, failing, state.changes
        )
    since = state.wanted_since if wanted == state.wanted else context.turn
    held = context.turn - since + 1
    if held < context.thresholds.phase_patience and not _is_immediate(phase, wanted):
        return PhaseState(
            phase, state.reason, state.since, wanted, since, lapses, edits, failed_checks, failing, state.changes
        )
    changes = (*state.changes, Change(context.turn, wanted, reason))[-_CHANGES:]
    return PhaseState(
        wanted, reason, context.turn, wanted, context.turn, lapses, edits, failed_checks, failing, changes
    )


def _is_steady(state: PhaseState, event: CallEvent, context: FoldContext) -> bool:
    """Whether a call cannot change this state: a fast path for most calls."""
    if event.edited or event.checks or state.lapses or state.failed_checks >= _FAILED_CHECKS:
        return False
    earlier, thresholds, turn = context.earlier, context.thresholds, context.turn
    if (
        earlier.is_lapse
        or earlier.loop_cause
        or earlier.looks_outside_goal
        or (earlier.context_share or 0.0) >= thresholds.late_share
    ):
        return False
    counted: Phase = "productive"
    if turn <= thresholds.warmup_turns:
        counted = "warmup"
    elif turn >= thresholds.late_turn:
        counted = "late"
    return state.phase == counted == state.wanted


def _count_edits(edits: tuple[tuple[str, int], ...], paths: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
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


def _is_immediate(phase: Phase, wanted: Phase) -> bool:
    """Whether a change of phase needs no patience, because it is counted."""
    return (wanted in ("warmup", "late") and phase != "struggling") or (phase == "warmup" and wanted == "productive")


def _phase_by_evidence(
    lapses: int, edits: tuple[tuple[str, int], ...], failed_checks: int, context: FoldContext
) -> tuple[Phase, str]:
    turn, thresholds, earlier = context.turn, context.thresholds, context.earlier
    if turn <= thresholds.warmup_turns:
        return "warmup", "the session begins"
    if earlier.loop_cause:
        return "struggling", "the same is tried again and again"
    recent = (lapses & _RECENT).bit_count()
    if recent >= _LEAST_LAPSES and recent > (lapses >> _COMPARED_CALLS).bit_count():
        return "struggling", f"{recent} of the last {_COMPARED_CALLS} calls were mistakes or failures that came back"
    if failed_checks >= _FAILED_CHECKS and edits:
        path, times = max(edits, key=lambda each: (each[1], each[0]))
        if times >= _SAME_FILE:
            return (
                "struggling",
                f"`{shorten_path(path, 60)}` was changed {times} times, {failed_checks} checks failed and none passed",
            )
    if turn >= thresholds.late_turn:
        return "late", f"turn {turn}"
    if earlier.context_share is not None and earlier.context_share >= thresholds.late_share:
        return "late", f"the context is {earlier.context_share:.0%} full"
    if earlier.looks_outside_goal:
        return "exploring", "the last looks are all outside of what was asked for"
    return (
        "productive",
        f"{thresholds.warmup_turns} turns are over" if context.phase == "warmup" else "nothing speaks against it",
    )


def read(state: PhaseState, context: FoldContext) -> SignalReading:
    facts = {"phase": state.phase, "since turn": str(state.since), "because": state.reason}
    if state.wanted != state.phase:
        facts["evidence"] = f"for `{state.wanted}` since turn {state.wanted_since}"
    return SignalReading(signal="phase", value=float(context.turn - state.since), cause=state.phase, facts=facts)


PHASE = Signal("phase", START, step, read)
