"""How far the session can be left alone, 0 to 100. It starts at 100 and steers how much is said.

A mistake or a failure that comes back costs 5, a subsystem that is opened beside others 2, a dead end 4; every good call gives
back 1 and a check that proves changes 10. From what is left, 3 are taken for every unverified file past the free ones, for as
long as they stay unverified. Bad news alone (a failing test) costs nothing. Knows no phase.
"""

import re

import msgspec

from preheat.live.part import Around, Frame, Part, passed
from preheat.model.live import Began, Called, LiveEvent, Reading
from preheat.model.outcome import FAILURES

FULL = 100.0
_REMEMBERED = 8
_LONGEST = 160
_SAME_FINDING = 3
"""From the third time on, the same bad news without any progress is a failure that comes back."""
_GOOD = frozenset(["ok", "empty"])
_THROWN_AWAY = re.compile(
    r"\bgit\b.{0,40}?\b(?:restore\b|stash(?! (?:list|show|pop|apply))|checkout\b.{0,80}? -- |reset\b.{0,40}? --hard|clean -)"
)
"""What takes changes back."""


class Failure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A failure as it is remembered: what was done and the error, how often, and how many failed the last time."""

    form: str
    signature: str
    times: int = 1
    failing: int | None = None


class TrustState(msgspec.Struct, frozen=True, gc=False):
    base: float = FULL
    debt: float = 0.0
    failures: tuple[Failure, ...] = ()
    loop: bool = False
    """One goes on, and was counted as a dead end when it began."""
    changed: bool = False
    """Files were changed since a check last passed."""
    lapse: bool = False
    """The last event was a mistake or a failure that came back."""
    lapses: int = 0
    switches: int = 0
    dead_ends: int = 0
    proofs: int = 0


START = TrustState()


def step(state: TrustState, event: LiveEvent, frame: Frame) -> TrustState:
    if not isinstance(event, Called):
        if isinstance(event, Began) and event.source in ("startup", "clear"):
            return START
        if state.lapse or frame.around.debt != state.debt:
            return msgspec.structs.replace(state, lapse=False, debt=frame.around.debt)
        return state
    around = frame.around
    if event.status not in FAILURES and around.debt == state.debt and _is_plain(state, event, around):
        if state.base == FULL or event.status not in _GOOD:
            return state
        return _restored(state, frame.thresholds.trust_recovery)
    lapse = proved = False
    failures = state.failures
    if event.status in FAILURES:
        failures, lapse = _remembered(failures, event)
    elif event.status in _GOOD:
        proved = state.changed and passed(event)
        if failures:
            failures = () if event.checks else tuple(each for each in failures if each.form != event.form[:_LONGEST])
    begun = bool(around.loop) and not state.loop
    dead_end = begun or (state.changed and "git" in event.form and bool(_THROWN_AWAY.search(event.summary)))
    return TrustState(
        _base(state.base, event, frame, lapse, dead_end, proved),
        around.debt,
        failures,
        bool(around.loop),
        not proved and (state.changed or bool(event.edited)),
        lapse,
        state.lapses + lapse,
        state.switches + around.switched,
        state.dead_ends + dead_end,
        state.proofs + proved,
    )


def _base(base: float, event: Called, frame: Frame, lapse: bool, dead_end: bool, proved: bool) -> float:
    thresholds, switched = frame.thresholds, frame.around.switched
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


def _restored(state: TrustState, points: float) -> TrustState:
    return TrustState(
        min(FULL, max(0.0, state.base + points)), state.debt, state.failures, state.loop, state.changed, state.lapse,
        state.lapses, state.switches, state.dead_ends, state.proofs,
    )  # fmt: skip


def _is_plain(state: TrustState, event: Called, around: Around) -> bool:
    """Whether a call that did not fail changes nothing of what is remembered, as most do not."""
    if event.checks or state.lapse or state.loop or around.loop or around.switched:
        return False
    if state.failures:
        form = event.form[:_LONGEST]
        for each in state.failures:
            if each.form == form:
                return False
    return event.activity != "shell:vcs" if state.changed else not event.edited


def _remembered(failures: tuple[Failure, ...], event: Called) -> tuple[tuple[Failure, ...], bool]:
    """The failures with this one, and whether it is a lapse."""
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
    return (*kept, Failure(form, signature, times, event.failing))[-_REMEMBERED:], lapse and not event.polling


def value(state: TrustState, frame: Frame) -> float:
    """What is left after the unverified files."""
    thresholds = frame.thresholds
    over = max(0.0, state.debt - thresholds.debt_free)
    return max(0.0, state.base - thresholds.trust_unverified * over)


def read(state: TrustState, frame: Frame) -> Reading:
    thresholds = frame.thresholds
    found = value(state, frame)
    over = max(0.0, state.debt - thresholds.debt_free)
    return Reading(
        signal="trust",
        value=found,
        facts={
            "mistakes and failures that came back": f"{state.lapses} × −{thresholds.trust_mistake:g}",
            "subsystems opened": f"{state.switches} × −{thresholds.trust_switch:g}",
            "dead ends": f"{state.dead_ends} × −{thresholds.trust_dead_end:g}",
            "checks that proved changes": f"{state.proofs} × +{thresholds.trust_progress:g}",
            "every good call": f"+{thresholds.trust_recovery:g}, never above 100 nor below 0",
            "left of 100": f"{state.base:g}",
            "unverified files past the free ones": f"{over:g} × −{thresholds.trust_unverified:g}",
            "trust": f"{found:g}",
        },
    )


TRUST = Part("trust", START, step, read)
