"""Follows the transcripts of running sessions: for failures that no hook reports, and for the size of the context.

A transcript is read from its beginning once, for what holds for all of it (whose it is, open calls, the size of the context),
then a bounded amount of what is new. Only for agents whose hooks and transcripts use the same call ids: otherwise reported
failures could not be recognised. The calls of a script have other ids in hooks; of these only those are taken whose tool itself
failed, because no hook comes after that. Knows no agent.
"""

from typing import NamedTuple

from preheat.app.live.hooks import Hooks, Parser
from preheat.app.live.running import RunningSession
from preheat.files import PlainFile, open_file
from preheat.model.live import LiveEvent
from preheat.model.outcome import FAILURES
from preheat.model.session import CONTEXT_WINDOW, AssistantMessage, Compaction, Other, Session, ToolCall, ToolResult

EVERY = 2.0
"""Seconds between two looks at one transcript; a failure waits as long for its hook."""
MOST_BYTES = 1_000_000
MOST_EARLIER_BYTES = 200_000_000
"""Of a longer transcript, only the first and the last of what is there already is read."""
MOST = 64
_MOST_CALLS = 200


class ContextSize(NamedTuple):
    """The size of the context, where the transcript records it."""

    tokens: int | None = None
    """Tokens before the model at its last response."""
    window: int | None = None


class TranscriptPart(NamedTuple):
    """The new part of a transcript."""

    pairs: list[tuple[ToolCall, ToolResult]]
    size: ContextSize


class _Tail:
    """One transcript."""

    def __init__(self, session: str, path: str, parser: Parser) -> None:
        self.path = path
        self._session = session
        self._parser = parser
        with open_file(path) as stream:
            self._earlier = stream.size
            """Bytes that were there before the first look."""
        self._offset, self._at_line_end = 0, True
        self._line = 1
        self._calls: dict[str, ToolCall] = {}
        self.due_at = 0.0
        self.size = ContextSize()
        self.joined = False
        """A hook used the same call id as the transcript."""
        self.held: list[tuple[ToolCall, ToolResult]] = []
        """Calls of the last look, reported at the next one if no hook does."""

    def read(self) -> TranscriptPart:
        if self._earlier:
            self._read_earlier()
        return self._parse(self._new_bytes())

    def _read_earlier(self) -> None:
        """Read what was there before: its calls are no news."""
        end, self._earlier = self._earlier, 0
        with open_file(self.path) as stream:
            while self._offset < end:
                stream.seek(self._offset)
                data = stream.read(min(MOST_BYTES, end - self._offset))
                data = data[: data.rfind(b"\n") + 1]
                if not data:
                    break
                self._offset += len(data)
                self.size = self._parse(data).size
                if end > MOST_EARLIER_BYTES and self._offset < end - MOST_BYTES:  # the beginning and the end will do
                    stream.seek(end - MOST_BYTES)
                    self._offset = end - MOST_BYTES + stream.read(MOST_BYTES).find(b"\n") + 1

    def _parse(self, data: bytes) -> TranscriptPart:
        if not data:
            return TranscriptPart([], self.size)
        self._parser.feed(data, self._line)
        self._line += data.count(b"\n")
        found = TranscriptPart([], self.size)
        for session in self._parser.take():
            if session.id in ("", self._session):
                found = self._pair_calls(session, found)
        return found

    def _new_bytes(self) -> bytes:
        """The whole lines since the last look."""
        with open_file(self.path) as stream:
            size = stream.size
            if size < self._offset:  # rewritten: nothing in it is new
                self._offset, self._at_line_end = _file_end(stream)
                return b""
            if size - self._offset > MOST_BYTES:
                self._offset, self._at_line_end = size - MOST_BYTES, False
            stream.seek(self._offset)
            data = stream.read(MOST_BYTES)
        if not self._at_line_end:
            cut = data.find(b"\n") + 1
            self._offset += cut if cut else len(data)
            self._at_line_end = bool(cut)
            data = data[cut:] if cut else b""
        data = data[: data.rfind(b"\n") + 1]
        self._offset += len(data)
        return data

    def _pair_calls(self, session: Session, found: TranscriptPart) -> TranscriptPart:
        size = found.size
        for event in session.events:
            if isinstance(event, ToolCall):
                self._calls[event.call_id] = event
                if len(self._calls) > _MOST_CALLS:
                    del self._calls[next(iter(self._calls))]
            elif isinstance(event, ToolResult):
                call = self._calls.pop(event.call_id, None)
                if call is not None:
                    found.pairs.append((call, event))
            elif isinstance(event, AssistantMessage) and event.usage is not None:
                used = event.usage
                size = size._replace(tokens=used.input + used.cache_read + used.cache_write or size.tokens)
            elif isinstance(event, Compaction):
                size = size._replace(tokens=None)
            elif isinstance(event, Other) and event.name == CONTEXT_WINDOW and type(event.raw) is int:
                size = size._replace(window=event.raw)
        return found._replace(size=size)


class TranscriptTails:
    """The transcripts of recent sessions. `read_update` may run in another thread, once at a time for each."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._tails: dict[tuple[str, str], _Tail | None] = {}
        self._active: dict[tuple[str, str], RunningSession] = {}

    def note_activity(self, running: RunningSession) -> None:
        """Note that a session had an event: its transcript has grown, or will soon."""
        key = (running.agent, running.session)
        self._active[key] = running
        if key in self._tails and (tail := self._tails[key]) is not None and tail.path == running.transcript:
            return
        if key not in self._tails or (tail is not None and tail.path != running.transcript):
            self._tails.pop(key, None)
            self._tails[key] = self._open(running)
            while len(self._tails) > MOST:
                del self._tails[next(iter(self._tails))]

    def _open(self, running: RunningSession) -> _Tail | None:
        parser = self._hooks.parser(running.agent, running.transcript)
        try:
            return _Tail(running.session, running.transcript, parser) if parser is not None else None
        except OSError:  # gone again, or replaced by something that is no file
            return None

    def due_sessions(self, now: float) -> list[RunningSession]:
        """The sessions whose transcripts are to be read now."""
        found = []
        for key, running in list(self._active.items()):
            tail = self._tails.get(key)
            if tail is None:
                del self._active[key]
            elif now >= tail.due_at:
                tail.due_at = now + EVERY
                if not tail.held:
                    del self._active[key]
                found.append(running)
        return found

    def read_update(self, running: RunningSession) -> TranscriptPart:
        """The new part of a session's transcript; never raises for its contents."""
        tail = self._tails.get((running.agent, running.session))
        if tail is None:
            return TranscriptPart([], ContextSize())
        try:
            return tail.read()
        except OSError:
            return TranscriptPart([], tail.size)

    def unreported_failures(self, part: TranscriptPart, running: RunningSession) -> list[LiveEvent]:
        """The failures of the previous look that no hook reported since."""
        key = (running.agent, running.session)
        tail = self._tails.get(key)
        if tail is None:
            return []
        tail.size = part.size
        tail.joined = tail.joined or any(call.call_id in running.calls for call, _ in part.pairs)
        waiting, tail.held = tail.held, part.pairs
        if tail.held:
            self._active[key] = running
        found: list[LiveEvent] = []
        for call, result in waiting:
            if result.is_error if call.script else tail.joined and call.call_id not in running.calls:
                event = self._hooks.judge_call(running.agent, call, result, running.cwd)
                if event is not None and event.status in FAILURES:
                    found.append(event)
        return found

    def context_size(self, agent: str, session: str) -> ContextSize:
        """The size of the context, as far as the transcript tells."""
        tail = self._tails.get((agent, session))
        return tail.size if tail is not None else ContextSize()


def _file_end(stream: PlainFile) -> tuple[int, bool]:
    """The size of a file, and whether it ends with a line end."""
    if not stream.size:
        return 0, True
    stream.seek(stream.size - 1)
    return stream.size, stream.read(1) == b"\n"
