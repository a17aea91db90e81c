"""A watched session as a person reads it: what was done, turn by turn, what the signals said, and what would have been told.

Nothing is measured here; the values come from `preheat.app.live.watching`.
"""

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text

from preheat.app.live.watching import Moment, Timeline
from preheat.cli.screen import clean, say, speaks_unicode
from preheat.cli.text import clock, count, one_line
from preheat.model.live import (
    Advisory,
    Asked,
    Began,
    Called,
    Compacted,
    Ended,
    LiveEvent,
    Reading,
    SignalName,
    Stopped,
    without_marks,
)
from preheat.model.outcome import FAILURES

_MOVES: dict[SignalName, float] = {
    "focus": 10, "loop": 1, "debt": 1, "drift": 0.2, "pressure": 0.1, "mistake": 1, "trust": 5,
}  # fmt: skip
"""By so much a signal must move to be told of."""
_LEAST: dict[SignalName, float] = {"loop": 2, "mistake": 2, "drift": 0.5, "pressure": 0.5}
"""Below this it is quiet."""
_MARKS = ("✓", "✗", "·"), ("+", "x", ".")
_TOOL = 12


def show_timeline(screen: Console, timeline: Timeline, everything: bool) -> None:
    """Print a session; quiet calls are counted, not shown, unless `everything` is wanted."""
    last: dict[SignalName, float] = {}
    folded = 0
    for moment in timeline.moments:
        signals = _moved(moment, last)
        if not everything and not signals and _is_quiet(moment):
            folded += isinstance(moment.event, Called)
            continue
        if folded:
            say(screen, f"{'':>13}  … {count(folded, 'call')}", "dim")
            folded = 0
        _moment(screen, moment, signals)
    if folded:
        say(screen, f"{'':>13}  … {count(folded, 'call')}", "dim")
    say(screen)
    say(screen, summary(timeline), "bold")


def summary(timeline: Timeline) -> str:
    """How much would have been said."""
    said = timeline.advisories
    by = [f"{sum(each.signal == name for each in said)} {name}" for name in dict.fromkeys(each.signal for each in said)]
    rate = f", {per_hundred(timeline):.1f} per 100 turns" if timeline.turns else ""
    told = f"{count(len(said), 'advisory', 'advisories')}{rate} ({', '.join(by)})" if said else "silence throughout"
    return f"{count(timeline.turns, 'turn')}: {told}"


def per_hundred(timeline: Timeline) -> float:
    """Advisories per 100 turns."""
    return 100 * len(timeline.advisories) / timeline.turns if timeline.turns else 0.0


def _is_quiet(moment: Moment) -> bool:
    if moment.advisories or moment.reason:
        return False
    event = moment.event
    if isinstance(event, Called):
        return event.status not in FAILURES and not event.checks
    return isinstance(event, Stopped)


def _moved(moment: Moment, last: dict[SignalName, float]) -> list[str]:
    """The signals that moved enough since they were last told, or that are over their threshold for the first time."""
    found = []
    for reading in moment.readings:
        name, least = reading.signal, _MOVES.get(reading.signal)
        if least is None:
            continue
        value, before = reading.value, last.get(reading.signal)
        if before is None:  # the first value is where it starts from
            last[name] = value
            continue
        quiet = _LEAST.get(name, 0.0)
        if abs(value - before) < least or max(value, before) < quiet:
            continue
        last[name] = value
        found.append(f"{name} {_number(reading)}{'!' if reading.fired else ''}")
    return found


def _number(reading: Reading) -> str:
    if reading.signal in ("drift", "pressure"):
        return f"{reading.value:.2f}" if reading.signal == "drift" else f"{reading.value:.0%}"
    return f"{reading.value:.0f}"


def _moment(screen: Console, moment: Moment, signals: list[str]) -> None:
    warned = [each for each in moment.advisories if each.signal == "mistake" and each.turn < moment.turn]
    for advisory in warned:  # told before the call was made
        _told(screen, advisory)
    event = moment.event
    line = Text(f"{moment.turn or '':>5}  {clock(event.at)}  ")
    for text, style in _words(event, max(30, min(screen.width, 150) - 40)):
        line.append(text, style)
    if signals:
        line.append(f"  {' · '.join(signals)}", "cyan")
    line.rstrip()
    screen.print(line, soft_wrap=True)
    if moment.reason:
        say(screen, f"{'':>14} {moment.phase}: {clean(moment.reason)}", "magenta")
    for advisory in moment.advisories:
        if advisory not in warned:
            _told(screen, advisory)


def _told(screen: Console, advisory: Advisory) -> None:
    say(screen, f"{'':>14} {advisory.signal} > {said(advisory)}", "bold yellow")


def said(advisory: Advisory) -> str:
    """The text without its mark."""
    return clean(without_marks(advisory.text))


def _words(event: LiveEvent, room: int) -> Iterator[tuple[str, str]]:
    if isinstance(event, Called):
        good, bad, other = _MARKS[0] if speaks_unicode() else _MARKS[1]
        failed = event.status in FAILURES
        mark = bad if failed else good if event.status in ("ok", "empty") else other
        yield mark, "red" if failed else "green" if mark == good else "yellow"
        yield f" {one_line(clean(event.tool), _TOOL):<{_TOOL}} {one_line(clean(event.summary), room)}", ""
        if failed:
            left = f" {event.failing} failing:" if event.failing else ""
            yield f" {event.cause or 'failed'}:{left} {one_line(clean(event.signature), 80)}", "red"
    elif isinstance(event, Asked):
        yield f"prompt: {one_line(' '.join(event.words), room)}", "bold cyan"
    else:
        yield _NAMES[type(event)], "dim"


_NAMES: dict[type, str] = {Began: "began", Compacted: "compacted", Stopped: "stopped", Ended: "ended"}


def as_values(timeline: Timeline) -> dict[str, Any]:
    """The timeline for programs."""
    return {
        "session": timeline.session,
        "agent": timeline.agent,
        "project": timeline.project,
        "turns": timeline.turns,
        "advisories": timeline.advisories,
        "advisories_per_100_turns": round(per_hundred(timeline), 2),
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
