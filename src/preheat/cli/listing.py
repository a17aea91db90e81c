"""Lists of sessions and of passages found, as tables and snippets."""

import re
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.screen import clean, console, print_table, say
from preheat.cli.text import count, date_time, day, one_line, short_path
from preheat.model.listing import SearchHit, SessionSummary

_NARROW, _WIDE = 100, 120
_SNIPPET = 160
_BEFORE = 50


def show_sessions(found: Sequence[SessionSummary], names: Mapping[str, str]) -> None:
    """Print sessions as a table; a narrow window has fewer columns."""
    screen = console()
    narrow, wide = screen.width < _NARROW, screen.width >= _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", expand=True)
    table.add_column("id", style="cyan", no_wrap=True, min_width=max(map(len, names.values())))
    table.add_column("started", no_wrap=True, min_width=10 if narrow else 16)
    table.add_column("agent", no_wrap=True, overflow="ellipsis", max_width=14)
    table.add_column("project", no_wrap=True, overflow="ellipsis", max_width=12 if narrow else 20)
    if wide:
        table.add_column("model", no_wrap=True, overflow="ellipsis", max_width=20)
    for name in ("messages", "calls") if narrow else ("messages", "calls", "failed"):
        table.add_column("msgs" if narrow and name == "messages" else name, justify="right", no_wrap=True, min_width=5)
    table.add_column("about", no_wrap=True, overflow="ellipsis", ratio=1, min_width=8)
    for each in found:
        started = day(each.started_at) if narrow else date_time(each.started_at)
        cells = [names[each.key], started, title_of(each.agent), project_name(each.project)]
        cells += [clean(each.model)] if wide else []
        cells += [f"{each.messages:,}", f"{each.calls:,}"]
        cells += [] if narrow else [f"{each.errors:,}" if each.errors else ""]
        table.add_row(*(Text(cell) for cell in (*cells, describe_session(each))))
    print_table(screen, table)


def project_name(project: str) -> str:
    """The last two folders of a project's path."""
    parts = clean(project).replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else short_path(project)


def describe_session(summary: SessionSummary) -> str:
    """A session's title or first prompt, and its relation to a parent session."""
    text = one_line(clean(summary.title or summary.opening), 200)
    return f"({summary.relation}) {text}".rstrip() if summary.relation else text


def show_children(screen: Console, below: Sequence[SessionSummary]) -> None:
    """Print the sessions that were started from one."""
    if not below:
        return
    say(screen)
    say(screen, "Started from this session", "bold")
    for child in below:
        facts = f"{child.relation or 'child'}, {count(child.calls, 'call')}"
        say(
            screen,
            f"  {child.session}  {facts}  {one_line(clean(child.title or child.opening), 60)}".rstrip(),
        )


def show_hits(hits: Sequence[SearchHit], names: Mapping[str, str], terms: Sequence[str]) -> None:
    """Print passages below their sessions, with the search terms marked."""
    screen = console()
    # Only at the beginning of a word, as in the index; endings may differ.
    words = "|".join(re.escape(term) for term in sorted(terms, key=len, reverse=True))
    pattern = re.compile(rf"(?<![^\W_])(?:{words})", re.IGNORECASE)
    by_session: dict[str, list[SearchHit]] = {}
    for hit in hits:
        by_session.setdefault(hit.session.key, []).append(hit)
    for key, passages in by_session.items():
        session = passages[0].session
        head = Text()
        head.append(names[key], "cyan")
        head.append(f"  {date_time(session.started_at)}  {title_of(session.agent)}  {project_name(session.project)}")
        head.append(f"  {one_line(describe_session(session), 60)}", "dim")
        screen.print(head, soft_wrap=True)
        for hit in passages:
            line = Text(f"  {hit.line:>6} {hit.kind:<9} ", "dim")
            line.append_text(snippet(hit.text, pattern, marks=screen.color_system is None))
            screen.print(line, soft_wrap=True)


def snippet(text: str, pattern: re.Pattern[str], marks: bool) -> Text:
    """The words around the first term, on one line; without colours the terms are put between stars."""
    flat = " ".join(clean(text).split())
    found = pattern.search(flat)
    start = max(0, found.start() - _BEFORE) if found else 0
    part = flat[start : start + _SNIPPET]
    shown = Text("…" if start else "", "")
    at = 0
    for term in pattern.finditer(part):
        shown.append(part[at : term.start()])
        shown.append(f"**{term[0]}**" if marks else term[0], "bold yellow")
        at = term.end()
    shown.append(part[at:])
    if start + _SNIPPET < len(flat):
        shown.append("…")
    return shown
