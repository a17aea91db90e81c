"""A run's transcripts into the archive, and what they show: calls, mistakes, tokens, and the contexts that reached the model.

Knows nothing of arms. The sessions carry Preheat's mark, and so ordinary learning and measuring leave them out.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeGuard

import msgspec

from preheat.app import stages as pipeline
from preheat.archive.queries import keys_at
from preheat.errors import PreheatError
from preheat.model.session import AssistantMessage, Event, Other, Session, ToolCall, UserMessage

_CONTEXT = re.compile(r'<preheat-context id=\\?"([0-9a-f]{12})\\?">')


class Measures(NamedTuple):
    """What the sessions of one run show."""

    sessions: tuple[str, ...] = ()
    tokens: int = 0
    calls: int = 0
    misuse: int = 0
    errors: int = 0
    answers: int = 0
    turns: int = 0
    shown: tuple[str, ...] = ()
    """Ids of contexts that stand before the model."""
    problem: str = ""


def take_in(folder: str, agent: str, files: Sequence[str]) -> Measures:
    """Read what a run wrote into the archive, and measure it."""
    if not files:
        return Measures(problem="the agent left no transcript")
    try:
        report = pipeline.sync(folder, files=[(agent, path) for path in files])
        if report.failures:
            return Measures(problem=f"the transcript could not be read: {report.failures[0]}"[:400])
        connection = pipeline.opened(folder)
        try:
            keys = keys_at(connection, [os.path.realpath(path) for path in files] + list(files))
            sessions = [pipeline.load(connection, key) for key in keys]
        finally:
            connection.close()
    except PreheatError as error:
        return Measures(problem=f"the transcript could not be read: {error}"[:400])
    return measured(keys, sessions)


def measured(keys: Sequence[str], sessions: Sequence[Session]) -> Measures:
    """The sum over the sessions of a run: what an agent delegates belongs to it."""
    profiles = [pipeline.assess(session).profile for session in sessions]
    return Measures(
        sessions=tuple(keys),
        tokens=sum(profile.tokens for profile in profiles),
        calls=sum(profile.errors.total for profile in profiles),
        misuse=sum(profile.misuse.count for profile in profiles),
        errors=sum(profile.errors.count for profile in profiles),
        answers=sum(_is_answer(event) for session in sessions for event in session.events),
        turns=max((_turns(session) for session in sessions), default=0),
        shown=tuple(sorted({found for session in sessions for found in _shown(session.events)})),
        problem="" if sessions else "the transcript has no session in it",
    )


def _is_answer(event: Event) -> TypeGuard[ToolCall | AssistantMessage]:
    return isinstance(event, ToolCall) or (isinstance(event, AssistantMessage) and bool(event.text.strip()))


def _turns(session: Session) -> int:
    return len({event.response or event.line for event in session.events if _is_answer(event)})


def _shown(events: Iterable[Event]) -> Iterator[str]:
    """In prompts, and in what the program itself put before the model; what a tool printed is no delivery."""
    for event in events:
        if isinstance(event, UserMessage):
            yield from _CONTEXT.findall(event.text)
        elif isinstance(event, Other):
            yield from _CONTEXT.findall(msgspec.json.encode(event.raw).decode("utf-8", "replace"))
