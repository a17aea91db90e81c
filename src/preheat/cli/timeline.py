"""A watched session as a person reads it: what was done, turn by turn, what the signals said, and what would have been told.

Nothing is measured here; the values come from `preheat.app.live.watching`.
"""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from preheat.app.live.watching import ReplayMoment, Timeline
from preheat.cli.screen import clean, has_unicode, say
from preheat.cli.text import count, one_line, time_of_day
from preheat.model.live import (
    Advisory,
    CallEvent,
    CompactionEvent,
    EndEvent,
    LiveEvent,
    PromptEvent,
    SignalName,
    SignalReading,
    StartEvent,
    StopEvent,
    strip_marks,
)
from preheat.model.outcome import FAILURES

_LEAST_CHANGE: dict[SignalName, float] = {
    "focus": 10, "loop": 1, "debt": 1, "drift": 0.2, "pressure": 0.1, "mistake": 1, "trust": 5,
}  # fmt: skip
"""How much a signal must change to be printed."""
_LEAST_VALUE: dict[SignalName, float] = {"loop": 2, "mistake": 2, "drift": 0.5, "pressure": 0.5}
"""Values below this are not printed."""
_MARKS = ("✓", "✗", "·"), ("+", "x", ".")
_TOOL = 12


def show_timeline(screen: Console, timeline: Timeline, everything: bool) -> None:
    """Print a session's timeline; calls without a signal are only counted, unless `everything` is set."""
    last: dict[SignalName, float] = {}
    folded = 0
    for moment in timeline.moments:
        signals = _changed_signals(moment, last)
        if not everything and not signals and _is_quiet(moment):
            folded += isinstance(moment.event, CallEvent)
            continue
        if folded:
            say(screen, f"{'':>13}  … {count(folded, 'call')}", "dim")
            folded = 0
        _show_moment(screen, moment, signals)
    if folded:
        say(screen, f"{'':>13}  … {count(folded, 'call')}", "dim")
    say(screen)
    say(screen, summarize_timeline(timeline), "bold")


def summarize_timeline(timeline: Timeline) -> str:
    """The number of turns and of advisories."""
    advisories = timeline.advisories
    by = [
        f"{sum(each.signal == name for each in advisories)} {name}"
        for name in dict.fromkeys(each.signal for each in advisories)
    ]
    rate = f", {advisories_per_hundred_turns(timeline):.1f} per 100 turns" if timeline.turns else ""
    amount = count(len(advisories), "advisory", "advisories")
    described = f"{amount}{rate} ({', '.join(by)})" if advisories else "no advisory"
    return f"{count(timeline.turns, 'turn')}: {described}"


def advisories_per_hundred_turns(timeline: Timeline) -> float:
    """Advisories per 100 turns."""
    return 100 * len(timeline.advisories) / timeline.turns if timeline.turns else 0.0


def _is_quiet(moment: ReplayMoment) -> bool:
    if moment.advisories or moment.reason:
        return False
    event = moment.event
    if isinstance(event, CallEvent):
        return event.status not in FAILURES and not event.checks
    return isinstance(event, StopEvent)


def _changed_signals(moment: ReplayMoment, last: dict[SignalName, float]) -> list[str]:
    """The signals that changed enough since they were last printed, with `!` for those over their threshold."""
    found = []
    for reading in moment.readings:
        name, least = reading.signal, _LEAST_CHANGE.get(reading.signal)
        if least is None:
            continue
        value, before = reading.value, last.get(reading.signal)
        if before is None:  # the first value is the starting point
            last[name] = value
            continue
        quiet = _LEAST_VALUE.get(name, 0.0)
        if abs(value - before) < least or max(value, before) < quiet:
            continue
        last[name] = value
        found.append(f"{name} {_number(reading)}{'!' if reading.fired else ''}")
    return found


def _number(reading: SignalReading) -> str:
    if reading.signal in ("drift", "pressure"):
        return f"{reading.value:.2f}" if reading.signal == "drift" else f"{reading.value:.0%}"
    return f"{reading.value:.0f}"


def _show_moment(screen: Console, moment: ReplayMoment, signals: list[str]) -> None:
    warned = [each for each in moment.advisories if each.signal == "mistake" and each.turn < moment.turn]
    for advisory in warned:  # sent before the call was made
        _show_advisory(screen, advisory)
    event = moment.event
    line = Text(f"{moment.turn or '':>5}  {time_of_day(event.at)}  ")
    for text, style in _describe_event(event, max(30, min(screen.width, 150) - 40)):
        line.append(text, style)
    if signals:
        line.append(f"  {' · '.join(signals)}", "cyan")
    line.rstrip()
    screen.print(line, soft_wrap=True)
    if moment.reason:
        say(screen, f"{'':>14} {moment.phase}: {clean(moment.reason)}", "magenta")
    for advisory in moment.advisories:
        if advisory not in warned:
            _show_advisory(screen, advisory)


def _show_advisory(screen: Console, advisory: Advisory) -> None:
    say(screen, f"{'':>14} {advisory.signal} > {advisory_text(advisory)}", "bold yellow")


def advisory_text(advisory: Advisory) -> str:
    """The text of an advisory without its mark."""
    return clean(strip_marks(advisory.text))


def _describe_event(event: LiveEvent, room: int) -> Iterator[tuple[str, str]]:
    if isinstance(event, CallEvent):
        good, bad, other = _MARKS[0] if has_unicode() else _MARKS[1]
        failed = event.status in FAILURES
        mark = bad if failed else good if event.status in ("ok", "empty") else other
        yield mark, "red" if failed else "green" if mark == good else "yellow"
        yield f" {one_line(clean(event.tool), _TOOL):<{_TOOL}} {one_line(clean(event.summary), room)}", ""
        if failed:
            left = f" {event.failing} failing:" if event.failing else ""
            yield f" {event.cause or 'failed'}:{left} {one_line(clean(event.signature), 80)}", "red"
    elif isinstance(event, PromptEvent):
        yield f"prompt: {one_line(' '.join(event.words), room)}", "bold cyan"
    else:
        yield _NAMES[type(event)], "dim"


_NAMES: dict[type, str] = {StartEvent: "began", CompactionEvent: "compacted", StopEvent: "stopped", EndEvent: "ended"}


def timeline_json(timeline: Timeline) -> dict[str, Any]:
    """The timeline for JSON."""
    return {
        "session": timeline.session,
        "agent": timeline.agent,
        "project": timeline.project,
        "turns": timeline.turns,
        "advisories": timeline.advisories,
        "advisories_per_100_turns": round(advisories_per_hundred_turns(timeline), 2),
        "moments": [
            {
                "turn": moment.turn,
                "event": moment.event,
                "phase": moment.phase,
                "reason": moment.reason,
                "signals": {reading.signal: round(reading.value, 4) for reading in moment.readings},
                "fired": [reading.signal for reading in moment.readings if reading.fired],
                "advisories": moment.advisories,
            }
            for moment in timeline.moments
        ],
    }
