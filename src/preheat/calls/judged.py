"""A session as the learners see it: every call with its result and the verdict on it. Knows no archive and no learner."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from preheat.model.outcome import FAILURES
from preheat.model.profile import CallRecord
from preheat.model.session import Event, Session, ToolCall, ToolResult, UserMessage, surviving_events
from preheat.safe_text.paths import make_paths_relative

LEARNABLE_STARTERS = frozenset(["human", "headless", "unknown"])
"""Starters of sessions that are learned from: sessions that another tool or Preheat itself ran teach nothing."""


class JudgedCall(NamedTuple):
    """One call, what came back and what came of it."""

    call: ToolCall
    result: ToolResult | None
    record: CallRecord

    @property
    def failed(self) -> bool:
        return self.record.status in FAILURES

    @property
    def worked(self) -> bool:
        return self.record.status in ("ok", "empty")

    @property
    def ran(self) -> bool:
        """The call itself was right: a test command that finds failing tests works too."""
        return self.worked or (self.failed and self.record.cause == "finding")


class JudgedSession(msgspec.Struct, frozen=True):
    """One session. `calls` leaves out bookkeeping and what was copied from another session."""

    key: str
    root: str
    """The project's folder on the machine where the session ran, which `relative` takes off; empty where it has none."""
    session: Session
    calls: tuple[JudgedCall, ...]
    cache: dict[str, Any] = msgspec.field(default_factory=dict)
    """Results that several learners need, by name."""

    def relative(self, text: str) -> str:
        """A text with the paths of that machine made relative to the project."""
        return make_paths_relative(text, self.root, self.session.project)

    def calls_by_seq(self) -> dict[int, JudgedCall]:
        return {each.record.seq: each for each in self.calls}

    def events(self) -> list[Event]:
        """The events of the conversation, in order, without what was taken back."""
        if "events" not in self.cache:
            self.cache["events"] = surviving_events(self.session)
        events: list[Event] = self.cache["events"]
        return events

    def human_messages(self) -> Iterator[UserMessage]:
        """The messages that people wrote."""
        for event in self.events():
            if isinstance(event, UserMessage) and event.origin == "human":
                yield event
