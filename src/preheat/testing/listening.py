"""A stand-in for the daemon: listens on its socket, records what it is sent, and answers as a test chooses. Knows no agent.

with Listening(folder, "hermes", lambda event: HookAnswer(context="Said.")) as listening:
    run_the_program()
assert [event.name for event in listening.events] == ["prompt", ...]
"""

import os
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, TypeAlias

from preheat.model.live import HookAnswer, HookEvent
from preheat.testing.hooked import require_hooks


class RawAnswer(NamedTuple):
    """Bytes that are sent as they are, after a delay."""

    data: bytes
    seconds: float = 0.0


Answer: TypeAlias = HookAnswer | RawAnswer
ChooseAnswer: TypeAlias = Callable[[HookEvent], Answer]


class ListeningDaemon:
    """The stand-in; use it as a context manager."""

    def __init__(self, folder: str, agent: str, answering: ChooseAnswer = lambda event: HookAnswer()) -> None:
        self._hooks = require_hooks(agent)
        self._answering = answering
        self.payloads: list[bytes] = []
        """The bytes that it was sent, in order."""
        live = os.path.join(folder, "live")
        os.makedirs(live, exist_ok=True)
        self._path = os.path.join(live, "socket")
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ending = threading.Event()

    @property
    def events(self) -> list[HookEvent]:
        """The events that it was sent, in order."""
        found = [self._hooks.read(payload, None) for payload in self.payloads]
        return [event for event in found if event is not None]

    def __enter__(self) -> "ListeningDaemon":
        self._server.bind(self._path)
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._server.close()
        os.unlink(self._path)

    def end(self) -> None:
        """End every delay."""
        self._ending.set()

    def _serve(self) -> None:
        while not self._ending.is_set():
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._answer(connection)
            except OSError:
                return  # the client has hung up

    def _answer(self, connection: socket.socket) -> None:
        head, _, payload = connection.recv(1 << 16).partition(b"\n")
        length = int(head.split()[1])
        while len(payload) < length:
            payload += connection.recv(1 << 16)
        self.payloads.append(payload)
        event = self._hooks.read(payload, None)
        answer = self._answering(event) if event is not None else HookAnswer()
        if isinstance(answer, RawAnswer):
            self._ending.wait(answer.seconds)
            connection.sendall(answer.data)
        elif event is not None:
            answer_bytes = self._hooks.write(event, answer) or b""
            connection.sendall(b"preheat 1 %d\n%b" % (len(answer_bytes), answer_bytes))
