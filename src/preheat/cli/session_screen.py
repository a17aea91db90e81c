"""Sessions on a terminal: lists, search results, a session's heading, and its transcript.

Knows nothing of files or of the archive.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from preheat.app.agents import title_of
from preheat.cli.screen import clean, console, has_unicode, print_table, say, to_json
from preheat.cli.text import count, date_time, day, duration, format_bytes, one_line, short_path, time_of_day, tokens
from preheat.model.commit import SessionCommits
from preheat.model.experiment_report import SessionArm
from preheat.model.listing import CallLine, SearchHit, SessionSummary, Transcript
from preheat.model.outcome import FAILURES, JUDGED
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)


# A session's heading
def heading_lines(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """The lines of the heading, each with its style."""
    session = transcript.session
    yield _title(session), "bold"
    program = f"{title_of(session.agent)} {session.version}".strip()
    where = short_path(session.project) + (f" ({clean(session.branch)})" if session.branch else "")
    yield "  " + " · ".join(part for part in (program, clean(session.model), where) if part), ""
    copied, failed = transcript.copied_calls, transcript.failed_calls
    prompts = sum(isinstance(event, UserMessage) and event.origin == "human" for event in session.events)
    compactions = sum(isinstance(event, Compaction) for event in session.events)
    used = sum_usage(session)
    parts = [
        _when(session),
        count(prompts, "prompt"),
        count(len(transcript.calls) - copied, "call") + (f" ({failed:,} failed)" if failed else ""),
        f"{copied:,} more copied from another session" if copied else "",
        count(compactions, "compaction") if compactions else "",
        _tokens(used if used.total else session.reported or used),
    ]
    yield "  " + " · ".join(part for part in parts if part), ""
    origin = f", {session.relation or 'child'} of {session.parent}" if session.parent else ""
    yield f"  id {clean(session.id)}{clean(origin)}", "dim"


def _describe_arm(arm: SessionArm) -> str:
    """The arm of a session and what it was given for it, in one line."""
    if arm.arm == "unassigned":
        return f"arm: none; {clean(arm.why)}" if arm.why else "arm: none"
    whose = f", the arm of {clean(arm.inherited_from)}, which it continues" if arm.inherited_from else ""
    if arm.context:
        start = f"started with the context {clean(arm.context)}"
    elif arm.lessons:
        start = f"started without the {count(arm.lessons, 'lesson')} that there were"
    else:
        start = "there was nothing to start it with"
    return f"arm: {arm.arm} of `{clean(arm.experiment)}`{whose}; {start}"


def _title(session: Session) -> str:
    """The session's title, else the first prompt."""
    if session.title:
        return one_line(clean(session.title), 100)
    for event in session.events:
        if isinstance(event, UserMessage) and event.origin == "human" and event.text.strip():
            return one_line(clean(event.text), 100)
    return "(no title)"


def _when(session: Session) -> str:
    if session.started_at is None:
        return ""
    lasted = (session.ended_at or session.started_at) - session.started_at
    return date_time(session.started_at) + (f", {duration(lasted)}" if lasted >= 1 else "")


def _tokens(used: Usage) -> str:
    if not used.total:
        return ""
    cached = f" ({tokens(used.cache_read)} cached)" if used.cache_read else ""
    return f"{tokens(used.input + used.cache_read + used.cache_write)} tokens in{cached}, {tokens(used.output)} out"


# Lists of sessions, and passages found by a search
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


def show_commits(screen: Console, found: SessionCommits) -> None:
    """Print the commits that a session made, and the pull requests that it opened."""
    if not found.commits and not found.requests:
        return
    say(screen)
    say(screen, "Committed in this session", "bold")
    for commit in found.commits:
        say(screen, f"  {commit.commit}  {one_line(clean(commit.subject), 80)}  ({clean(commit.branch)})")
    for request in found.requests:
        say(screen, f"  pull request {request.number}  {clean(request.url)}")


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


# The transcript
_TOOL_WIDTH = 12
_WHO = {"human": "You", "injected": "Program", "preheat": "Preheat"}


class Folding(msgspec.Struct, frozen=True):
    """How much to print. `cap`: characters of a call's input or output, None for all."""

    calls: bool = False
    reasoning: bool = False
    cap: int | None = 2000


def show_transcript(screen: Console, transcript: Transcript, folding: Folding, arm: SessionArm | None = None) -> None:
    """Print a session, and the arm into which it was assigned."""
    for line, style in heading_lines(transcript):
        say(screen, line, style)
    if arm is not None:
        say(screen, f"  {_describe_arm(arm)}", "dim")
    _Transcript(screen, transcript, folding).show()


class _Transcript:
    def __init__(self, screen: Console, transcript: Transcript, folding: Folding) -> None:
        self._screen = screen
        self._session = session = transcript.session
        self._folding = folding
        self._results = {id(call): result for call, result in pair_calls_with_results(session)}
        self._lines = {
            id(call): line for (call, _), line in zip(pair_calls_with_results(session), transcript.calls, strict=True)
        }
        self._kept = {id(event) for event in surviving_events(session)}
        self._marks = {"ok": "✓", "failed": "✗", "": "·"} if has_unicode() else {"ok": "+", "failed": "x", "": "."}
        self._speaker = ""
        self._folded = False
        """Whether the last line was a call or a thought: a blank line comes before the next message."""
        self._others = 0

    def show(self) -> None:
        for event in self._session.events:
            self._event(event, "" if id(event) in self._kept else "dim")
        if self._others:
            say(self._screen)
            say(self._screen, f"{count(self._others, 'other record')} not shown; `--json` has them.", "dim")

    def _event(self, event: Event, style: str) -> None:
        if isinstance(event, UserMessage):
            self._user(event, style)
        elif isinstance(event, AssistantMessage):
            if event.text.strip():
                self._who("Assistant", event, style)
                if self._folded:
                    say(self._screen)
                self._text(event.text, style)
                self._folded = False
        elif isinstance(event, ToolCall):
            self._who("Assistant", event, style)
            self._call(event, style)
        elif isinstance(event, Reasoning):
            self._who("Assistant", event, style)
            self._reasoning(event)
        elif isinstance(event, Compaction):
            self._compaction(event)
        elif isinstance(event, Rewind):
            self._rule("rewound: the part above marked as taken back is no longer part of the conversation")
        elif isinstance(event, Spawn):
            say(self._screen, f"  -> subagent: preheat sessions show {clean(event.session)}", "cyan")
        elif isinstance(event, Other):
            self._others += 1

    # Messages.
    def _who(self, name: str, event: Event, style: str) -> None:
        back = " (taken back)" if style else ""
        if self._speaker != name + back:
            self._speaker, self._folded = name + back, False
            say(self._screen)
            say(
                self._screen,
                f"{time_of_day(event.at)}  {name}{back}",
                style or ("bold cyan" if name == "You" else "bold"),
            )

    def _user(self, event: UserMessage, style: str) -> None:
        if event.origin != "human" and not self._folding.calls:
            self._who(_WHO[event.origin], event, style)
            say(self._screen, f"  {one_line(clean(event.text), 70)}  ({_length(event.text)})", "dim")
            return
        self._speaker = ""  # every prompt has its own head
        self._who(_WHO[event.origin], event, style)
        self._text(event.text, style)
        if event.images:
            say(self._screen, f"  [{count(event.images, 'image')}]", "dim")

    def _text(self, text: str, style: str = "", indent: str = "  ") -> None:
        for line in clean(text).strip("\n").split("\n"):
            say(self._screen, f"{indent}{line}".rstrip(), style)

    def _reasoning(self, event: Reasoning) -> None:
        self._folded = True
        if self._folding.reasoning and event.text:
            self._text(event.text, "dim italic", "  | ")
        else:
            say(
                self._screen,
                f"  (thought: {_length(event.text)})" if event.text else "  (thought: encrypted)",
                "dim",
            )

    # Calls.
    def _call(self, event: ToolCall, style: str) -> None:
        self._folded = True
        result, known = self._results.get(id(event)), self._lines[id(event)]
        mark, colour, facts = self._verdict(event, result, known)
        room = max(20, min(self._screen.width, 140) - _TOOL_WIDTH - len(facts) - 8)
        line = Text("  ")
        line.append(mark, colour)
        line.append(f" {clean(event.tool):<{_TOOL_WIDTH}} {self._summary(known.summary, room):<{room}}")
        line.append(f"  {facts}", "red" if colour == "red" else "dim")
        line.rstrip()
        line.stylize(style)
        self._screen.print(line, soft_wrap=True)
        if self._folding.calls:
            self._text(self._cap_text(msgspec.json.format(to_json(event.input), indent=2)), "dim", "      < ")
            if result is not None:
                self._text(self._cap_text(result.text), "dim", "      > ")

    def _summary(self, text: str, room: int) -> str:
        """The call's most telling argument; paths in the project are relative to it."""
        project = self._session.project.rstrip("/\\")
        if len(project) > 1:
            text = text.replace(f"{project}/", "").replace(f"{project}\\", "")
        return one_line(clean(text), room)

    def _verdict(self, event: ToolCall, result: ToolResult | None, known: CallLine) -> tuple[str, str, str]:
        """Mark, colour and facts of a call, by its outcome."""
        if result is None:
            return self._marks[""], "yellow", "no result"
        took = result.seconds
        if took is None and result.at is not None and event.at is not None and result.at >= event.at:
            took = result.at - event.at
        failed, worked = known.status in FAILURES, known.status in JUDGED
        outcome = f"exit {known.exit_code}" if failed and known.exit_code else known.status
        shown = "" if known.status in ("ok", "unknown") else outcome
        facts = [shown, format_bytes(len(result.text)), duration(took) if took is not None else ""]
        kind = "failed" if failed else "ok" if worked else ""
        return (
            self._marks[kind],
            {"failed": "red", "ok": "green"}.get(kind, ""),
            ", ".join(filter(None, facts)),
        )

    def _cap_text(self, text: str) -> str:
        cap = self._folding.cap
        if cap is None or len(text) <= cap:
            return text
        return f"{text[:cap]}\n… {len(text) - cap:,} characters more; `--full` shows them"

    # Breaks.
    def _compaction(self, event: Compaction) -> None:
        facts = [event.trigger, f"{event.tokens_before:,} tokens before" if event.tokens_before else ""]
        details = ", ".join(fact for fact in facts if fact)
        self._rule(f"compacted ({details})" if details else "compacted")
        if event.summary and self._folding.calls:
            self._text(self._cap_text(event.summary), "dim")
        elif event.summary:
            say(self._screen, f"  (summary: {_length(event.summary)})", "dim")

    def _rule(self, title: str) -> None:
        self._speaker = ""
        say(self._screen)
        width = min(self._screen.width, 100)
        self._screen.print(
            Rule(Text(clean(title)), style="dim", align="left", characters="─" if has_unicode() else "-"),
            width=width,
        )


def _length(text: str) -> str:
    return count(len(text), "character")
