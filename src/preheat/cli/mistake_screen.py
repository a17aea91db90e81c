"""Repeated mistakes on a terminal: a card each, or one mistake with all its occurrences. No line is wider than the window.

Knows nothing of how they were found. The texts come from tools, so control characters are removed before printing.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.screen import clean, console, has_unicode, hint, print_table, say
from preheat.cli.session_screen import project_name
from preheat.cli.text import count, date_time, day, duration, one_line, tokens
from preheat.model.mistake import Mistake, Mistakes, Occurrence, Wait
from preheat.model.outcome import Cause

SESSIONS_PER_CARD = 3
_WIDEST = 120
"""Longer lines are hard to read, however wide the window."""
_INDENT = "    "
_WAITS = 5
_NOT_MENDABLE = "What only agents can avoid: how they use their own tools, and looks at what is not there"
_WAITED = (
    "From an agent's question to your answer; most agents record refusals alone. The agent's settings can allow or forbid a"
    " command once and for all."
)
_NARROW = 80
_BAR = 12
_PATCH = "*** Begin Patch *** "
_PATCHED_FILE = re.compile(r"^(?:Update|Add|Delete) File: (\S+)\s.*$")
_KEPT_LENGTH = 300
"""A call's input is stored up to this length; longer inputs that begin alike need not be the same."""
_COLOURS: dict[Cause, str] = {"mistake": "yellow", "environment": "cyan", "finding": "magenta", "unknown": "dim"}
_UNITS = {"calls": "failed calls", "minutes": "time lost", "tokens": "tokens lost"}


class _Signs(NamedTuple):
    full: str
    empty: str
    fixed: str
    dot: str
    times: str


def _signs() -> _Signs:
    return _Signs("━", "─", "✓", " · ", "×") if has_unicode() else _Signs("#", ".", "+", ", ", "x")


def show_mistakes(found: Mistakes, shown: Sequence[Mistake], names: Mapping[str, str]) -> None:
    """Print a card for each mistake, what all cost together, and what to do next."""
    if not shown:
        _print_none(found)
        return
    screen = console()
    width = min(screen.width, _WIDEST)
    noun = f"{_repeated_word(found)}{_noun(found)}s"
    title = Text().append(noun[:1].upper() + noun[1:], "bold")
    ranked = f"what you can mend first, by {_UNITS[found.by]}"
    title.append(" " * max(2, width - len(title) - len(ranked)) + ranked, "dim")
    screen.print(title, no_wrap=True, overflow="ellipsis", crop=False)
    most = max(_cost(mistake, found) for mistake in found.mistakes)
    for number, mistake in enumerate(shown, 1):
        say(screen)
        if not mistake.mendable and (number == 1 or shown[number - 2].mendable):
            _explain(screen, _NOT_MENDABLE, width)
            say(screen)
        for line in _card(mistake, number, found, most, names, width):
            _line(screen, line, width)
    _show_waits(screen, found.waits, width)
    say(screen)
    print_table(screen, Text(_total(found), "bold"))
    more = f"{len(shown):,} of {len(found.mistakes):,} shown; --all lists them all. " if shown != found.mistakes else ""
    hint(f"{more}`preheat mistakes 1` shows every occurrence of the first.")


def _show_waits(screen: Console, waits: Sequence[Wait], width: int) -> None:
    """Print what waited for a person: each form of call once."""
    if not waits:
        return
    say(screen)
    say(screen, "What waited for you", "bold")
    _explain(screen, _WAITED, width, _INDENT)
    for each in waits[:_WAITS]:
        waited = f", {duration(each.seconds)}" if each.seconds >= 1 else ""
        line = Text(_INDENT).append(one_line(clean(each.command), width // 2), "cyan")
        _line(screen, line.append(f"  {count(each.calls, 'call')} in {count(each.sessions, 'session')}{waited}"), width)


def _explain(screen: Console, sentence: str, width: int, indent: str = "") -> None:
    for line in textwrap.wrap(sentence, width - len(indent)):
        say(screen, f"{indent}{line}", "dim")


def _print_none(found: Mistakes) -> None:
    if not found.failures:
        hint(f"No failed call by {_join_causes(found.causes)} in these sessions: nothing to repair.")
    else:
        hint(
            f"No mistake came back in {count(found.min_sessions, 'session')} or more: {count(found.failures, 'failed call')}"
            f" by {_join_causes(found.causes)}, each of its own kind. `--min-sessions 1` lists them."
        )


def _repeated_word(found: Mistakes) -> str:
    return "repeated " if found.min_sessions > 1 else ""


def _noun(found: Mistakes) -> str:
    return "finding" if found.causes == ("finding",) else "mistake"


def _join_causes(causes: Sequence[Cause]) -> str:
    return " or ".join(causes)


def _cost(mistake: Mistake, found: Mistakes) -> float:
    return {"calls": float(mistake.calls), "minutes": mistake.seconds, "tokens": float(mistake.tokens)}[found.by]


def _card(
    mistake: Mistake, number: int, found: Mistakes, most: float, names: Mapping[str, str], width: int
) -> list[Text]:
    signs, narrow = _signs(), width < _NARROW
    bar = _BAR // 2 if narrow else _BAR
    full = max(1, round(bar * _cost(mistake, found) / most)) if most else 0
    cost = Text(_INDENT)
    cost.append(signs.full * full, "red")
    cost.append(signs.empty * (bar - full), "dim")
    cost.append("  " + signs.dot.join(_costs(mistake)))
    where = Text(_INDENT)
    where.append(f"{mistake.id}{signs.dot}" if narrow else "", "dim")
    where.append(mistake.cause, _COLOURS[mistake.cause])
    where.append(signs.dot + signs.dot.join(_where(mistake)), "dim")
    return [
        *_title(mistake, number, width), cost, where, *_repair(mistake, signs, width),
        _session_line(mistake, names, signs),
    ]  # fmt: skip


def _title(mistake: Mistake, number: int, width: int) -> list[Text]:
    """The title with the id behind it; in a narrow window the title alone, on as many lines as it needs: it says what to mend."""
    head, text = Text().append(f"{number:>2}  ", "bold cyan"), clean(mistake.title)
    if width < _NARROW:
        first, *more = textwrap.wrap(text, width - len(_INDENT)) or [""]
        return [head.append(first, "bold"), *(Text(_INDENT).append(line, "bold") for line in more)]
    room = width - len(head) - len(mistake.id) - 2
    head.append(one_line(text, room).ljust(room), "bold")
    return [head.append(f"  {mistake.id}", "dim")]


def _costs(mistake: Mistake) -> list[str]:
    found = [f"{count(mistake.calls, 'call')} in {count(len(mistake.sessions), 'session')}"]
    if mistake.seconds >= 1:
        found.append(duration(mistake.seconds))
    if mistake.tokens:
        found.append(f"{tokens(mistake.tokens)} tokens")
    return found


def _where(mistake: Mistake) -> list[str]:
    seen = f"last {day(mistake.last_seen)}" if mistake.last_seen is not None else ""
    agents = _few([title_of(agent) for agent in mistake.agents])
    projects = _few([project_name(project) for project in mistake.projects])
    return [part for part in (clean(mistake.family), seen, agents, projects) if part]


def _few(names: Sequence[str], most: int = 2) -> str:
    names = list(dict.fromkeys(names))
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _repair(mistake: Mistake, signs: _Signs, width: int) -> list[Text]:
    """The usual repair with an example, or a line that says there is none."""
    line = Text(_INDENT)
    repair = mistake.repair
    if repair is None:
        return [line.append(mistake.recovery, "dim")]
    line.append(f"{signs.fixed} ", "green")
    line.append(clean(repair.form), "bold green")
    fits = len(line) + 2 + len(mistake.recovery) <= width
    lines = [line] if fits else [line, Text(f"{_INDENT}  ")]
    lines[-1].append(f"  {mistake.recovery}" if fits else mistake.recovery, "green")
    if not repair.failed or not repair.worked:
        return lines
    half = (width - len(_INDENT) - 2 - 4) // 2
    example = Text().append(f"{_INDENT}  {_differing_part(repair.failed, repair.worked, half)} → ", "dim")
    example.append(_differing_part(repair.worked, repair.failed, half))
    return [*lines, example]


def _differing_part(text: str, other: str, width: int) -> str:
    """As much of a call as fits in `width`: the part where it begins to differ from `other`, not just its beginning."""
    flat, against = _plain(text), _plain(other)
    if len(flat) <= width:
        return flat
    shorter = min(len(flat), len(against))
    same = next((place for place in range(shorter) if flat[place] != against[place]), shorter)
    start = max(0, min(same - width // 3, len(flat) - width + 1))
    return one_line(flat, width) if start == 0 else "…" + one_line(flat[start:].lstrip(), width - 1)


def _plain(text: str) -> str:
    """A call's input on one line, without the words that begin every patch."""
    return one_line(clean(text), 400).removeprefix(_PATCH)


def _session_line(mistake: Mistake, names: Mapping[str, str], signs: _Signs) -> Text:
    line = Text().append(f"{_INDENT}seen in ", "dim")
    per_session = _per_session(mistake)
    for place, key in enumerate(mistake.sessions[:SESSIONS_PER_CARD]):
        line.append(", " if place else "", "dim")
        line.append(clean(names[key]), "cyan")
        line.append(f" {signs.times}{per_session[key]}" if per_session[key] > 1 else "", "dim")
    rest = len(mistake.sessions) - SESSIONS_PER_CARD
    line.append(f" and {rest:,} more" if rest > 0 else "", "dim")
    return line


def _per_session(mistake: Mistake) -> dict[str, int]:
    counts = dict.fromkeys(mistake.sessions, 0)
    for occurrence in mistake.occurrences:
        counts[occurrence.session] += 1
    return counts


def _total(found: Mistakes) -> str:
    parts = [count(found.calls, "failed call")]
    if found.seconds >= 1:
        parts.append(duration(found.seconds))
    if found.tokens:
        parts.append(f"{tokens(found.tokens)} tokens")
    listed = " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)
    mistakes = count(len(found.mistakes), f"{_repeated_word(found)}{_noun(found)}")
    return f"{mistakes} cost {listed} in {count(found.sessions, 'session')}."


def _line(screen: Console, line: Text, width: int) -> None:
    line.truncate(width, overflow="ellipsis")
    line.rstrip()
    screen.print(line, soft_wrap=True)


# One mistake with its occurrences
def show_mistake(mistake: Mistake, names: Mapping[str, str]) -> None:
    """Print one mistake with all its occurrences."""
    screen = console()
    width = min(screen.width, _WIDEST)
    signs = _signs()
    for part in textwrap.wrap(clean(mistake.title), width) or [""]:
        say(screen, part, "bold")
    cause = Text("  ")
    cause.append(mistake.cause, _COLOURS[mistake.cause])
    cause.append(signs.dot + signs.dot.join(_where(mistake)), "dim")
    for line in (Text("  " + signs.dot.join(_costs(mistake))), cause, *_repair(mistake, signs, width)):
        _line(screen, line, width)
    if mistake.variants:
        say(screen)
        say(screen, "  Also seen as", "dim")
        for variant in mistake.variants:
            _line(screen, Text(f"    {one_line(clean(variant), width - 4)}", "dim"), width)
    say(screen)
    _table(screen, mistake, names, signs)
    first = mistake.occurrences[0]
    hint(f"`preheat sessions show {names[first.session]} --calls` shows the first of them in its session.")


def _table(screen: Console, mistake: Mistake, names: Mapping[str, str], signs: _Signs) -> None:
    half = (screen.width - max(map(len, names.values())) - (31 if screen.width >= 100 else 25)) // 2
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    table.add_column("session", style="cyan", no_wrap=True)
    table.add_column("when" if screen.width >= 100 else "day", no_wrap=True)
    table.add_column("call", no_wrap=True, justify="right")
    table.add_column("what failed", no_wrap=True, overflow="ellipsis", ratio=1, min_width=12)
    table.add_column("what worked", no_wrap=True, overflow="ellipsis", ratio=1, min_width=12)
    when = date_time if screen.width >= 100 else day
    one_tool = len(mistake.tools) == 1
    for each in (_shorten_paths(each, mistake.projects) for each in mistake.occurrences):
        worked = Text("")
        if each.recovered_in is not None or each.repair:
            worked = Text().append(f"{signs.fixed} ", "green").append(_describe_repair(each, mistake.family, half - 2))
        table.add_row(
            Text(names[each.session]),
            Text(when(each.at)),
            Text(f"{each.seq + 1:,}"),
            Text(_shorten(_plain(each.summary) if one_tool else f"{clean(each.tool)} {_plain(each.summary)}", half)),
            worked,
        )
    print_table(screen, table)


def _shorten_paths(occurrence: Occurrence, projects: Sequence[str]) -> Occurrence:
    """An occurrence with the paths of its calls as seen from the project, because they begin alike in all lines, and of a patch
    only its file."""
    summary, repair = occurrence.summary, occurrence.repair
    for project in sorted(projects, key=len, reverse=True):
        summary, repair = (text.replace(f"{project.rstrip('/')}/", "") for text in (summary, repair))
    summary, repair = (_PATCHED_FILE.sub(r"\1", _plain(text)) for text in (summary, repair))
    return msgspec.structs.replace(occurrence, summary=summary, repair=repair)


def _describe_repair(occurrence: Occurrence, family: str, width: int) -> str:
    if occurrence.repair != occurrence.summary:
        return _shorten(_plain(occurrence.repair), width)
    whole = family == "shell" and len(occurrence.summary) < _KEPT_LENGTH  # other tools have one argument stored
    return "the same call again" if whole else "the call, changed"


def _shorten(text: str, width: int) -> str:
    """As much as fits in `width`: the end of a path, the beginning of anything else."""
    if len(text) <= width or " " in text:
        return text
    return "…" + text[1 - width :] if width > 1 else text
