"""Trust: how well the session does without advice, 0 to 100. It starts at 100; the higher it is, the less is advised.

A mistake or a repeated failure costs 5, opening another subsystem 2, a dead end 4; every good call gives back 1 and a passed
check after changes 10. Every unverified file past the free ones takes off 3 while it is unverified. A failing test alone costs
nothing. Knows no phase.
"""

import re

import msgspec

from preheat.live.signal import EarlierReadings, FoldContext, Signal, check_passed
from preheat.model.live import CallEvent, LiveEvent, SignalReading, StartEvent
from preheat.model.outcome import FAILURES

FULL = 100.0
_MOST_FAILURES = 8
_LONGEST = 160
_SAME_FINDING = 3
"""From the third time on, the same finding without progress is a repeated failure."""
_GOOD = frozenset(["ok", "empty"])
_DISCARDS_CHANGES = re.compile(
    r"\bgit\b.{0,40}?\b(?:restore\b|stash(?! (?:list|show|pop|apply))|checkout\b.{0,80}? -- |reset\b.{0,40}? --hard|clean -)"
)
"""Git commands that discard changes."""


class Failure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A remembered failure: form and error, how often it occurred, and the last number of failing tests."""

    form: str
    signature: str
    times: int = 1
    failing: int | None = None


class TrustState(msgspec.Struct, frozen=True, gc=False):
    base: float = FULL
    debt: float = 0.0
    failures: tuple[Failure, ...] = ()
    loop: bool = False
    """A loop lasts, and was counted as a dead end when it began."""
    changed: bool = False
    """Files were changed since a check last passed."""
    lapse: bool = False
    """The last event was a mistake or a repeated failure."""
    lapses: int = 0
    switches: int = 0
    dead_ends: int = 0
    proofs: int = 0


START = TrustState()


def step(state: TrustState, event: LiveEvent, context: FoldContext) -> TrustState:
    if not isinstance(event, CallEvent):
        if isinstance(event, StartEvent) and event.source in ("startup", "clear"):
            return START
        if state.lapse or context.earlier.unverified_files != state.debt:
            return msgspec.structs.replace(state, lapse=False, debt=context.earlier.unverified_files)
        return state
    earlier = context.earlier
    if event.status not in FAILURES and earlier.unverified_files == state.debt and _is_plain(state, event, earlier):
        if state.base == FULL or event.status not in _GOOD:
            return state
        return _with_points(state, context.thresholds.trust_recovery)
    lapse = proved = False
    failures = state.failures
    if event.status in FAILURES:
        failures, lapse = _add_failure(failures, event)
    elif event.status in _GOOD:
        proved = state.changed and check_passed(event)
        if failures:
            failures = () if event.checks else tuple(each for each in failures if each.form != event.form[:_LONGEST])
    loop_began = bool(earlier.loop_cause) and not state.loop
    dead_end = loop_began or (state.changed and "git" in event.form and bool(_DISCARDS_CHANGES.search(event.summary)))
    return TrustState(
        _base(state.base, event, context, lapse, dead_end, proved),
        earlier.unverified_files,
        failures,
        bool(earlier.loop_cause),
        not proved and (state.changed or bool(event.edited)),
        lapse,
        state.lapses + lapse,
        state.switches + earlier.opened_subsystems,
        state.dead_ends + dead_end,
        state.proofs + proved,
    )


def _base(base: float, event: CallEvent, context: FoldContext, lapse: bool, dead_end: bool, proved: bool) -> float:
    thresholds, switched = context.thresholds, context.earlier.opened_subsystems
    if lapse:
        base -= thresholds.trust_mistake
    if switched:
        base -= thresholds.trust_switch * switched
    if dead_end:
        base -= thresholds.trust_dead_end
    if proved:
        base += thresholds.trust_progress
    elif event.status in _GOOD and not dead_end and not switched:
        base += thresholds.trust_recovery
    return min(FULL, max(0.0, base))


def _with_points(state: TrustState, points: float) -> TrustState:
    return TrustState(
        min(FULL, max(0.0, state.base + points)), state.debt, state.failures, state.loop, state.changed, state.lapse,
        state.lapses, state.switches, state.dead_ends, state.proofs,
    )  # fmt: skip


def _is_plain(state: TrustState, event: CallEvent, earlier: EarlierReadings) -> bool:
    """Whether a call that did not fail leaves this state as it is: a fast path for most calls."""
    if event.checks or state.lapse or state.loop or earlier.loop_cause or earlier.opened_subsystems:
        return False
    if state.failures:
        form = event.form[:_LONGEST]
        for each in state.failures:
            if each.form == form:
                return False
    return event.activity != "shell:vcs" if state.changed else not event.edited


def _add_failure(failures: tuple[Failure, ...], event: CallEvent) -> tuple[tuple[Failure, ...], bool]:
    """The failures including this one, and whether it is a lapse."""
    form, signature = event.form[:_LONGEST], event.signature[:_LONGEST]
    before, kept = None, failures
    for place, each in enumerate(failures):
        if each.form == form and each.signature == signature:
            before, kept = each, (*failures[:place], *failures[place + 1 :])
            break
    times = 1 if before is None else before.times + 1
    if event.cause == "finding":
        fewer = (
            before is not None
            and event.failing is not None
            and before.failing is not None
            and event.failing < before.failing
        )
        times = 1 if fewer else times
        lapse = bool(signature) and times >= _SAME_FINDING
    else:
        lapse = event.cause == "mistake" or (times > 1 and not event.polling)
    return (*kept, Failure(form, signature, times, event.failing))[-_MOST_FAILURES:], lapse and not event.polling


def trust_value(state: TrustState, context: FoldContext) -> float:
    """Trust after the deduction for unverified files."""
    thresholds = context.thresholds
    over = max(0.0, state.debt - thresholds.debt_free)
    return max(0.0, state.base - thresholds.trust_unverified * over)


def read(state: TrustState, context: FoldContext) -> SignalReading:
    thresholds = context.thresholds
    value = trust_value(state, context)
    over = max(0.0, state.debt - thresholds.debt_free)
    return SignalReading(
        signal="trust",
        value=value,
        facts={
            "mistakes and failures that came back": f"{state.lapses} × −{thresholds.trust_mistake:g}",
            "subsystems opened": f"{state.switches} × −{thresholds.trust_switch:g}",
            "dead ends": f"{state.dead_ends} × −{thresholds.trust_dead_end:g}",
            "checks that proved changes": f"{state.proofs} × +{thresholds.trust_progress:g}",
            "every good call": f"+{thresholds.trust_recovery:g}, never above 100 nor below 0",
            "left of 100": f"{state.base:g}",
            "unverified files past the free ones": f"{over:g} × −{thresholds.trust_unverified:g}",
            "trust": f"{value:g}",
        },
    )


TRUST = Signal("trust", START, step, read)
