"""Looks into the transcripts of running sessions: for failures that no hook tells of, and for how full the context is.

Knows no agent. Begins where a transcript ends when it is first heard of, reads what is new and no more than a bounded lot of
it. Only where hooks name their calls as the transcript does: elsewhere nobody could tell what a hook has told already.
"""

import os
from typing import NamedTuple

from preheat.app.live.hooks import Hooks, Parser
from preheat.app.live.running import Running
from preheat.model.live import LiveEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import CONTEXT_WINDOW, AssistantMessage, Compaction, Other, Session, ToolCall, ToolResult

EVERY = 2.0
"""Seconds between two looks at one transcript, and at least between a result and its telling: the hook may come later."""
MOST_BYTES = 1_000_000
MOST = 64
_WAITING = 200


class Full(NamedTuple):
    """How full the context is, where the transcript tells."""

    tokens: int | None = None
    """Before the model at its last response."""
    window: int | None = None


class Look(NamedTuple):
    """What was new in a transcript."""

    pairs: list[tuple[ToolCall, ToolResult]]
    full: Full


class _Tail:
    """One transcript."""

    def __init__(self, session: str, path: str, parser: Parser) -> None:
        self.path = path
        self._session = session
        self._parser = parser
        self._offset, self._whole = _end(path)
        self._line = 1
        self._calls: dict[str, ToolCall] = {}
        self.due_at = 0.0
        self.full = Full()
        self.joined = False
        """A hook named a call as the transcript does."""
        self.held: list[tuple[ToolCall, ToolResult]] = []
        """Seen once already, and told at the next look if no hook did."""

    def read(self) -> Look:
        data = self._new_bytes()
        if not data:
            return Look([], self.full)
        self._parser.feed(data, self._line)
        self._line += data.count(b"\n")
        found = Look([], self.full)
        for session in self._parser.take():
            if session.id in ("", self._session):
                found = self._joined(session, found)
        return found

    def _new_bytes(self) -> bytes:
        """Whole lines that came since the last look."""
        size = os.path.getsize(self.path)
        if size < self._offset:  # written anew: what it has now was there before
            self._offset, self._whole = _end(self.path)
            return b""
        if size - self._offset > MOST_BYTES:
            self._offset, self._whole = size - MOST_BYTES, False
        with open(self.path, "rb") as stream:
            stream.seek(self._offset)
            data = stream.read(MOST_BYTES)
        if not self._whole:
            cut = data.find(b"\n") + 1
            self._offset += cut if cut else len(data)
            self._whole = bool(cut)
            data = data[cut:] if cut else b""
        data = data[: data.rfind(b"\n") + 1]
        self._offset += len(data)
        return data

    def _joined(self, session: Session, found: Look) -> Look:
        full = found.full
        for event in session.events:
            if isinstance(event, ToolCall):
                self._calls[event.call_id] = event
                if len(self._calls) > _WAITING:
                    del self._calls[next(iter(self._calls))]
            elif isinstance(event, ToolResult):
                call = self._calls.pop(event.call_id, None)
                if call is not None:
                    found.pairs.append((call, event))
            elif isinstance(event, AssistantMessage) and event.usage is not None:
                used = event.usage
                full = full._replace(tokens=used.input + used.cache_read + used.cache_write or full.tokens)
            elif isinstance(event, Compaction):
                full = full._replace(tokens=None)
            elif isinstance(event, Other) and event.name == CONTEXT_WINDOW and type(event.raw) is int:
                full = full._replace(window=event.raw)
        return found._replace(full=full)


class Tails:
    """The transcripts of the sessions that were heard of last. `look` may run in another thread, one at a time for each."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._tails: dict[tuple[str, str], _Tail | None] = {}
        self._heard: dict[tuple[str, str], Running] = {}

    def heard_of(self, running: Running) -> None:
        """Something happened there: its transcript has grown, or will soon."""
        key = (running.agent, running.session)
        self._heard[key] = running
        if key in self._tails and (tail := self._tails[key]) is not None and tail.path == running.transcript:
            return
        if key not in self._tails or (tail is not None and tail.path != running.transcript):
            self._tails.pop(key, None)
            self._tails[key] = self._opened(running)
            while len(self._tails) > MOST:
                del self._tails[next(iter(self._tails))]

    def _opened(self, running: Running) -> _Tail | None:
        parser = self._hooks.parser(running.agent, running.transcript)
        return _Tail(running.session, running.transcript, parser) if parser is not None else None

    def due(self, now: float) -> list[Running]:
        """The sessions to look at now."""
        found = []
        for key, running in list(self._heard.items()):
            tail = self._tails.get(key)
            if tail is None:
                del self._heard[key]
            elif now >= tail.due_at:
                tail.due_at = now + EVERY
                if not tail.held:
                    del self._heard[key]
                found.append(running)
        return found

    def look(self, running: Running) -> Look:
        """What is new there. Never raises for what is in it."""
        tail = self._tails.get((running.agent, running.session))
        if tail is None:
            return Look([], Full())
        try:
            return tail.read()
        except OSError:
            return Look([], tail.full)

    def told(self, look: Look, running: Running) -> list[LiveEvent]:
        """The failures that no hook has told of, once they had the time to."""
        key = (running.agent, running.session)
        tail = self._tails.get(key)
        if tail is None:
            return []
        tail.full = look.full
        tail.joined = tail.joined or any(call.call_id in running.calls for call, _ in look.pairs)
        ripe, tail.held = tail.held, look.pairs
        if tail.held:
            self._heard[key] = running
        if not tail.joined:
            return []
        found: list[LiveEvent] = []
        for call, result in ripe:
            if call.call_id not in running.calls:
                event = self._hooks.called(running.agent, call, result, running.cwd)
                if event is not None and event.status in FAILURES:
                    found.append(event)
        return found

    def full(self, agent: str, session: str) -> Full:
        """How full the context is, as far as the transcript tells."""
        tail = self._tails.get((agent, session))
        return tail.full if tail is not None else Full()


def _end(path: str) -> tuple[int, bool]:
    """Where it ends now, and whether that is the end of a line."""
    size = os.path.getsize(path)
    if not size:
        return 0, True
    with open(path, "rb") as stream:
        stream.seek(size - 1)
        return size, stream.read(1) == b"\n"
