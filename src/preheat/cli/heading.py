"""The head of a session: whose it is, where, when, how long, how much. For `read`, `show` and whatever names one.

Knows nothing of its events' texts.
"""

from collections.abc import Iterator

from preheat.app.agents import title_of
from preheat.cli.screen import clean
from preheat.cli.text import count, date_time, duration, one_line, short_path, tokens
from preheat.model.session import Compaction, Session, Usage, UserMessage, sum_usage
from preheat.model.transcript import Transcript


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
