"""A session as a person reads it: what was said in full, calls and thoughts folded to a line each.

Knows nothing of files or of the archive.
"""

import msgspec
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from preheat.cli.heading import heading_lines
from preheat.cli.screen import clean, has_unicode, say, to_json
from preheat.cli.text import count, duration, format_bytes, one_line, time_of_day
from preheat.model.outcome import FAILURES, JUDGED
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Spawn,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)
from preheat.model.transcript import CallLine, Transcript

_TOOL_WIDTH = 12
_WHO = {"human": "You", "injected": "Program", "preheat": "Preheat"}


class Folding(msgspec.Struct, frozen=True):
    """How much to print. `cap`: characters of a call's input or output, None for all."""

    calls: bool = False
    reasoning: bool = False
    cap: int | None = 2000


def show_transcript(screen: Console, transcript: Transcript, folding: Folding) -> None:
    """Print a session."""
    for line, style in heading_lines(transcript):
        say(screen, line, style)
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
            self._text(self._capped(msgspec.json.format(to_json(event.input), indent=2)), "dim", "      < ")
            if result is not None:
                self._text(self._capped(result.text), "dim", "      > ")

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

    def _capped(self, text: str) -> str:
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
            self._text(self._capped(event.summary), "dim")
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
