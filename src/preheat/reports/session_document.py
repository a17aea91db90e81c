"""One session as a document to read or to share: Markdown, or a page that opens in any browser without network or script.

Everything of the session is data: on the page it is escaped, in Markdown it stands in fences longer than any in it. Knows nothing
of where a session is stored, nor which secrets were taken out of it.
"""

import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from preheat.amounts import format_count
from preheat.model.listing import CallLine, Transcript
from preheat.model.outcome import FAILURES
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)
from preheat.reports.charts import Html, escape_text, join, tag
from preheat.reports.documents import clean_text, escape_markdown, make_page

_MOST_OUTPUT = 4000
"""Characters of an input or output that are shown."""
_LONGEST_TITLE = 120
_SPEAKERS = {"human": "Person", "injected": "Program", "preheat": "Preheat"}
_STYLE = "pre{white-space:pre-wrap;overflow-wrap:anywhere}summary{cursor:pointer}.failed{color:#c0392b}"


class DocumentPart(NamedTuple):
    """A message or a call, as it is shown."""

    title: str
    text: str
    kind: str
    """`message`, `call` or `break`."""
    input: str = ""
    output: str = ""


def render_markdown(transcript: Transcript, agent: str, place: Callable[[str], str] = str) -> str:
    """The session as Markdown. `agent` is the agent's name for people, `place` shortens paths."""
    facts = [f"- {escape_markdown(line)}" for line in _facts(transcript, agent, place)]
    lines = [f"# {escape_markdown(title_of_session(transcript))}", "", *facts, ""]
    for part in list_parts(transcript):
        if part.kind == "call":
            lines += [f"- {escape_markdown(part.title)}"]
            for name, text in (("input", part.input), ("output", part.output)):
                if text:
                    fence = _fence(text)
                    lines += ["", f"  <details><summary>{name}</summary>", "", fence, text, fence, "", "  </details>"]
            lines.append("")
        elif part.kind == "break":
            lines += ["---", "", f"*{escape_markdown(part.title)}*", ""]
        else:
            fence = _fence(part.text)
            lines += [f"## {escape_markdown(part.title)}", "", f"{fence}text", part.text, fence, ""]
    return "\n".join(lines).rstrip() + "\n"


def render_session_page(transcript: Transcript, agent: str, place: Callable[[str], str] = str) -> str:
    """The session as one page."""
    heading = title_of_session(transcript)
    body = tag(
        "main",
        tag("h1", heading),
        *(tag("p", line, class_="soft") for line in _facts(transcript, agent, place)),
        *map(_part_html, list_parts(transcript)),
    )
    return make_page(heading, body, _STYLE)


def _part_html(part: DocumentPart) -> Html:
    if part.kind == "call":
        inside = [tag("summary", part.title, class_="failed" if "failed" in part.title else "call")]
        inside += [tag("pre", _lines_html(text)) for text in (part.input, part.output) if text]
        return tag("details", *inside)
    if part.kind == "break":
        return tag("p", tag("i", part.title))
    return tag("section", tag("h2", part.title), tag("pre", _lines_html(part.text)))


def _lines_html(text: str) -> Html:
    return join((escape_text(line) for line in text.split("\n")), "\n")


def title_of_session(transcript: Transcript) -> str:
    """The title of a session, else its first prompt, on one line."""
    session = transcript.session
    prompts = (event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human")
    title = " ".join((session.title or next(filter(str.strip, prompts), "") or "A session").split())
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"


def _facts(transcript: Transcript, agent: str, place: Callable[[str], str]) -> Iterator[str]:
    session = transcript.session
    parts = [agent, session.model, place(session.project)]
    yield " · ".join(part for part in parts if part)
    failed = f" ({transcript.failed_calls:,} failed)" if transcript.failed_calls else ""
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.started_at)) if session.started_at else ""
    calls = f"{format_count(len(transcript.calls), 'call')}{failed}"
    yield " · ".join(part for part in (began, calls, session.id) if part)


def list_parts(transcript: Transcript) -> Iterator[DocumentPart]:
    """What is shown of a session, in its order: messages, calls, compactions. Thoughts and what was taken back are left out."""
    session = transcript.session
    pairs = pair_calls_with_results(session)
    known = {id(call): (result, line) for (call, result), line in zip(pairs, transcript.calls, strict=True)}
    for event in surviving_events(session):
        if isinstance(event, UserMessage) and event.text.strip():
            yield DocumentPart(f"{_SPEAKERS[event.origin]}{_at(event.at)}", _shorten(event.text), "message")
        elif isinstance(event, AssistantMessage) and event.text.strip():
            yield DocumentPart(f"Assistant{_at(event.at)}", clean_text(event.text), "message")
        elif isinstance(event, ToolCall):
            yield _call_part(event, *known[id(event)])
        elif isinstance(event, Compaction):
            yield DocumentPart("The conversation so far was replaced by a summary", "", "break")


def _call_part(call: ToolCall, result: ToolResult | None, line: CallLine) -> DocumentPart:
    if result is None:
        verdict = "no result"
    elif line.status in FAILURES:
        verdict = f"failed, exit {line.exit_code}" if line.exit_code else "failed"
    else:
        verdict = "passed" if line.status == "ok" else line.status
    summary = " ".join(line.summary.split())[:_LONGEST_TITLE]
    typed = (
        msgspec.json.format(msgspec.json.encode(call.input), indent=2).decode(errors="replace") if call.input else ""
    )
    return DocumentPart(
        f"{call.tool}: {summary} ({verdict})", "", "call", _shorten(typed), _shorten(result.text) if result else ""
    )


def _at(at: float | None) -> str:
    return time.strftime(", %H:%M", time.localtime(at)) if at is not None else ""


def _shorten(text: str) -> str:
    text = clean_text(text).strip("\n")
    if len(text) <= _MOST_OUTPUT:
        return text
    return f"{text[:_MOST_OUTPUT]}\n… {len(text) - _MOST_OUTPUT:,} characters more"


def _fence(text: str) -> str:
    """A fence that is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    return "`" * max(3, longest + 1)
