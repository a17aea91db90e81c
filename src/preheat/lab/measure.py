"""What the transcripts of a run show: calls, mistakes, tokens, and the contexts that reached the model. Pure; knows no arms."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeGuard

import msgspec

from preheat.model.profile import SessionProfile
from preheat.model.session import AssistantMessage, Event, Other, Session, ToolCall, UserMessage

_CONTEXT = re.compile(r'<preheat-context id=\\?"([0-9a-f]{12})\\?">')


class Measures(NamedTuple):
    """What the sessions of one run show."""

    sessions: tuple[str, ...] = ()
    tokens: int = 0
    calls: int = 0
    mistakes: int = 0
    errors: int = 0
    answers: int = 0
    turns: int = 0
    shown: tuple[str, ...] = ()
    """Ids of contexts that stand before the model."""
    problem: str = ""


def measure_run(found: Sequence[tuple[str, Session, SessionProfile]]) -> Measures:
    """The sum over the sessions of a run, each by its key in the archive: what an agent delegates belongs to it."""
    keys = [key for key, _, _ in found]
    sessions = [session for _, session, _ in found]
    profiles = [profile for _, _, profile in found]
    return Measures(
        sessions=tuple(keys),
        tokens=sum(profile.tokens for profile in profiles),
        calls=sum(profile.errors.total for profile in profiles),
        mistakes=sum(profile.mistakes.count for profile in profiles),
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
