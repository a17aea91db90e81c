"""The commands `preheat sessions replay` and `explain`: a session's signals and advisories.

Measures nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from preheat.app.live.signals import Explanation, ReplayMoment, Timeline
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import clean, console, has_unicode, hint, print_json, say
from preheat.cli.session_screen import heading_lines
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
from preheat.model.session import UserMessage

# The timeline of a session
_LEAST_CHANGE: dict[SignalName, float] = {
    "focus": 10, "loop": 1, "debt": 1, "drift": 0.2, "pressure": 0.1, "mistake": 1, "trust": 5,
}  # fmt: skip
"""How much a signal must change to be printed."""
_LEAST_VALUE: dict[SignalName, float] = {"loop": 2, "mistake": 2, "drift": 0.5, "pressure": 0.5}
"""Values below this are not printed."""
_MARKS = ("✓", "✗", "·"), ("+", "x", ".")
_TOOL = 12


def show_timeline(
    screen: Console, timeline: Timeline, everything: bool, prompts: Mapping[float, str] | None = None
) -> None:
    """Print a session's timeline; calls without a signal are only counted, unless `everything` is set. `prompts` are the texts of
    prompts by their time: an event has only their words."""
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
        _show_moment(screen, moment, signals, prompts or {})
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


def _show_moment(screen: Console, moment: ReplayMoment, signals: list[str], prompts: Mapping[float, str]) -> None:
    warned = [each for each in moment.advisories if each.signal == "mistake" and each.turn < moment.turn]
    for advisory in warned:  # sent before the call was made
        _show_advisory(screen, advisory)
    event = moment.event
    line = Text(f"{moment.turn or '':>5}  {time_of_day(event.at)}  ")
    for text, style in _describe_event(event, max(30, min(screen.width, 150) - 40), prompts.get(event.at or 0.0, "")):
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


def _describe_event(event: LiveEvent, room: int, prompt: str = "") -> Iterator[tuple[str, str]]:
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
        yield f"prompt: {one_line(clean(prompt) or ' '.join(event.words), room)}", "bold cyan"
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


# `preheat sessions replay`
@click.command(
    "replay",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions replay latest                          phases, signals and advisories
  preheat sessions replay 0f3c1a2b --all | less -R        every call
  preheat sessions replay 0f3c1a2b --json | jq .advisories""",
)
@click.argument("session", type=SessionName())
@click.option("--all", "everything", is_flag=True, help="Every call, also those without a signal.")
@json_option
def replay_command(session: str, everything: bool, as_json: bool) -> int:
    """Show a session as it would be watched live: phases, signals, advisories.

    SESSION is an id, the beginning of one, or `latest`. Each line is a call or a prompt with its turn, followed by the
    signals that changed, with `!` if one is over its threshold. Below it are a change of phase with its reason, and the advisory
    that the agent would have got.
    """
    found = open_archive().live.replay(session)
    if as_json:
        print_json(timeline_json(found.timeline))
        return 0
    screen = console()
    for line, style in heading_lines(open_archive().archive.transcript(session)):
        say(screen, line, style)
    say(screen)
    prompts = {
        event.at: event.text
        for event in found.session.events
        if isinstance(event, UserMessage) and event.origin == "human" and event.at is not None
    }
    show_timeline(screen, found.timeline, everything, prompts)
    hint(f"`preheat sessions explain {found.short}:TURN` shows the arithmetic of a turn.")
    return 0


# `preheat sessions explain`
_LABEL = 38


@click.command(
    "explain",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions explain latest                             after the last turn
  preheat sessions explain 0f3c1a2b:12                        after turn 12
  preheat sessions explain 0f3c1a2b:12 --json | jq '.readings[] | select(.fired)'""",
)
@click.argument("session", type=SessionName(), metavar="SESSION[:TURN]")
@json_option
def explain_command(session: str, as_json: bool) -> int:
    """Show how the value of every signal of a session is computed.

    SESSION is an id, the beginning of one, or `latest`; TURN a number that `preheat sessions replay` shows (default: the last).
    Each signal is shown with the numbers of its formula.
    """
    found, turn = open_archive().live.replay_turn(session)
    explained = found.explain(turn)
    if as_json:
        print_json(explained)
        return 0
    _show_explanation(console(), explained)
    return 0


def _show_explanation(screen: Console, moment: Explanation) -> None:
    event = moment.event
    call = f", after `{one_line(clean(event.summary or event.tool), 80)}`" if isinstance(event, CallEvent) else ""
    at = f", {time_of_day(event.at)}" if event.at is not None else ""
    say(screen, f"Turn {moment.turn} of {moment.turns}{at}{call}", "bold")
    for reading in moment.readings:
        say(screen)
        state = "over its threshold" if reading.fired else ""
        head = f"{reading.signal}  {reading.value:.4g}".rstrip()
        say(screen, f"{head}{'  ' + state if state else ''}", "bold yellow" if reading.fired else "bold")
        for name, value in reading.facts.items():
            say(screen, f"  {clean(name):<{_LABEL}}  {clean(value)}")
        if reading.fired and reading.text:
            say(screen, f"  {'advisory':<{_LABEL}}  {clean(reading.text)}", "yellow")
    for advisory in moment.advisories:
        say(screen)
        say(screen, f"sent: {advisory_text(advisory)}", "bold yellow")
