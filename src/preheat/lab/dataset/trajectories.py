"""A session as it may be published: all events in order, times relative to the start, texts removed, masked or anonymised.

Knows no file format. Records beside the conversation are left out.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from preheat.commands import command_text
from preheat.lab.dataset.anonymise import Anonymiser, mask
from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.model.session import (
    CONTEXT_WINDOW,
    LATE_ENDING,
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
    UserMessage,
)

Texts: TypeAlias = Literal["none", "masked", "anonymised"]
TEXTS: tuple[Texts, ...] = ("none", "masked", "anonymised")
"""What is left of what people, models and tools said: nothing, the lengths of words, or the words without names."""

START_OF_SESSIONS = 946_684_800.0
"""The published start of every session: only durations are published."""
TRIGGERS = ("auto", "manual")
"""Of compactions; another one may be anything."""


class PublishRules(NamedTuple):
    """The functions and settings by which a session is published."""

    texts: Texts
    pseudonyms: Pseudonyms
    anonymiser: Anonymiser
    project: Callable[[str], str]
    tool: Callable[[str], str]
    model: Callable[[str], str]
    version: Callable[[str, str], str]
    form: Callable[[str], str]
    """The form of a shell command, where it may be told."""
    exported: frozenset[str]
    """Keys of the sessions in the dataset."""


def publish_session(session: Session, rules: PublishRules) -> Session:
    """The session without anything that identifies somebody."""
    publisher = _SessionPublisher(session, rules)
    events = tuple(event for each in session.events if (event := publisher.event(each)) is not None)
    parent = f"{session.agent}:{session.parent}" if session.parent else ""
    return Session(
        agent=session.agent,
        id=rules.pseudonyms.pseudonym("session", f"{session.agent}:{session.id}"),
        version=rules.version(session.agent, session.version),
        model=rules.model(session.model),
        project=rules.project(session.project),
        parent=rules.pseudonyms.pseudonym("session", parent) if parent in rules.exported else None,
        relation=session.relation,
        started_at=publisher.moment(session.started_at),
        ended_at=publisher.moment(session.ended_at),
        starter=session.starter,
        reported=session.reported,
        events=events,
    )


class _SessionPublisher:
    """Publishes the events of one session."""

    def __init__(self, session: Session, rules: PublishRules) -> None:
        self._agent = session.agent
        self._rules = rules
        times = [at for at in (session.started_at, *(event.at for event in session.events)) if at is not None]
        self._start = min(times, default=0.0)
        self._calls: dict[str, str] = {}
        self._responses: dict[str, str] = {}

    def moment(self, at: float | None) -> float | None:
        return None if at is None else round(START_OF_SESSIONS + at - self._start, 3)

    def event(self, event: Event) -> Event | None:
        """The published event; None if it is left out."""
        at = self.moment(event.at)
        if isinstance(event, UserMessage):
            return replace(event, at=at, text=self._published_text(event.text))
        if isinstance(event, AssistantMessage):
            return replace(
                event, at=at, text=self._published_text(event.text), response=self._response(event.response),
                model=self._rules.model(event.model),
            )  # fmt: skip
        if isinstance(event, Reasoning):
            return replace(event, at=at, text=self._published_text(event.text), response=self._response(event.response))
        if isinstance(event, ToolCall):
            return self._call(event, at)
        if isinstance(event, ToolResult):
            return ToolResult(
                line=event.line, at=at, call_id=self._call_id(event.call_id), text=self._published_text(event.text),
                is_error=event.is_error, exit_code=event.exit_code, seconds=event.seconds,
            )  # fmt: skip
        if isinstance(event, Compaction):
            trigger = event.trigger if event.trigger in TRIGGERS else ""
            return replace(event, at=at, trigger=trigger, summary=self._published_text(event.summary))
        if isinstance(event, Spawn):
            child = self._rules.pseudonyms.pseudonym("session", f"{self._agent}:{event.session}")
            return replace(event, at=at, session=child, call_id=self._call_id(event.call_id))
        if isinstance(event, Rewind):
            return replace(event, at=at)
        return self._other(event, at)

    def _call(self, event: ToolCall, at: float | None) -> ToolCall:
        return ToolCall(
            line=event.line, at=at, call_id=self._call_id(event.call_id), tool=self._rules.tool(event.tool) or "other",
            kind=event.kind, input=self._arguments(event), response=self._response(event.response),
            script=self._rules.tool(event.script) if event.script else "",
        )  # fmt: skip

    def _arguments(self, event: ToolCall) -> dict[str, Any]:
        if self._rules.texts == "anonymised":
            found: dict[str, Any] = self._rules.anonymiser.anonymise_value(event.input)
            return found
        form = self._rules.form(command_text(event.input)) if event.kind == "shell" else ""
        published_arguments = {"form": form} if form else {}
        if self._rules.texts == "masked":
            published_arguments["text"] = "\n".join(map(mask, _texts_in(event.input)))
        return published_arguments

    def _other(self, event: Other, at: float | None) -> Other | None:
        raw = event.raw
        if event.name == CONTEXT_WINDOW and isinstance(raw, int):
            return Other(line=event.line, at=at, name=event.name, raw=raw)
        if event.name == LATE_ENDING and isinstance(raw, dict):
            code = raw.get("exit_code")
            published_raw = {
                name: self._call_id(str(raw.get(name) or "")) for name in ("call_id", "told_by") if name in raw
            }
            return Other(
                line=event.line, at=at, name=event.name,
                raw={**published_raw, "exit_code": code} if isinstance(code, int) else published_raw,
            )  # fmt: skip
        return None

    def _published_text(self, text: str) -> str:
        if self._rules.texts == "anonymised":
            return self._rules.anonymiser.anonymise_text(text)
        return mask(text) if self._rules.texts == "masked" else ""

    def _call_id(self, call: str) -> str:
        return self._calls.setdefault(call, f"call-{len(self._calls) + 1}") if call else ""

    def _response(self, response: str) -> str:
        return self._responses.setdefault(response, f"response-{len(self._responses) + 1}") if response else ""


def _texts_in(value: Any) -> list[str]:
    """Every text in a value, without the names of members."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts_in(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts_in(each)]
    return []
