"""Sessions for tests of profiles, written as short as they can be. Knows nothing of any agent."""

from typing import Any

from preheat.model.outcome import Cause, Outcome, Status
from preheat.model.profile import CallRecord, SessionProfile
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Session,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    UserMessage,
)
from preheat.profiles import profile_session, trace


class Story:
    """A session as it goes on; every call gets its verdict with it."""

    def __init__(self, **heading: Any) -> None:
        self._heading: dict[str, Any] = {"agent": "some", "id": "one", **heading}
        self.events: list[Event] = []
        self.outcomes: list[Outcome] = []
        self.now = 1000.0

    def says(self, text: str) -> "Story":
        return self._add(UserMessage(line=self._line, at=self.now, text=text))

    def answers(self, text: str, response: str = "", usage: Usage | None = None) -> "Story":
        return self._add(AssistantMessage(line=self._line, at=self.now, text=text, response=response, usage=usage))

    def compacts(self) -> "Story":
        return self._add(Compaction(line=self._line, at=self.now, tokens_before=500))

    def calls(
        self,
        tool: str,
        kind: ToolKind,
        status: Status = "ok",
        cause: Cause | None = None,
        result: str = "done",
        response: str = "",
        signature: str = "",
        exit_code: int | None = None,
        **arguments: Any,
    ) -> "Story":
        """A call and its result, two seconds each."""
        name = f"call {len(self.outcomes)}"
        self._add(
            ToolCall(
                line=self._line, at=self.now, call_id=name, tool=tool, kind=kind, input=arguments, response=response
            )
        )
        self._add(ToolResult(line=self._line, at=self.now, call_id=name, text=result))
        if status in ("failed", "partial"):
            cause = cause or "mistake"
        self.outcomes.append(Outcome(name, status, "flag", exit_code, signature, cause))
        return self

    def runs(self, command: str, status: Status = "ok", **more: Any) -> "Story":
        return self.calls("Shell", "shell", status, command=command, **more)

    def reads(self, path: str, status: Status = "ok", **more: Any) -> "Story":
        return self.calls("Read", "read", status, file_path=path, **more)

    def edits(self, path: str, status: Status = "ok", **more: Any) -> "Story":
        return self.calls("Edit", "edit", status, file_path=path, **more)

    # What came of it.
    @property
    def session(self) -> Session:
        return Session(**self._heading, events=tuple(self.events))

    @property
    def records(self) -> tuple[CallRecord, ...]:
        return trace(self.session, tuple(self.outcomes))

    @property
    def profile(self) -> SessionProfile:
        return profile_session(self.session, tuple(self.outcomes), self.records)

    @property
    def _line(self) -> int:
        return len(self.events) + 1

    def _add(self, event: Event) -> "Story":
        self.events.append(event)
        self.now += 2.0
        return self
