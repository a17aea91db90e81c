"""The protocols of the daemon: a Unix socket, and HTTP on the loopback interface. Knows nothing of events.

The other side always gets an answer, perhaps an empty one, and never an error.

Unix socket, one request a connection: `AGENT LENGTH\\n` and the payload; the reply is `preheat 1 LENGTH\\n` and the answer.
HTTP: `POST /hook/AGENT` with `Authorization: Bearer TOKEN`; the reply is 200 with the answer, or 204.
`GET /health` gives the status of the daemon.
"""

import asyncio
import hmac
from collections.abc import Callable
from typing import Protocol

import h11

from preheat.app.daemon import STATUS
from preheat.daemon.journal import LARGEST

MOST = 50_000_000
"""Most bytes of a payload that are received; one over `LARGEST` is dropped."""
REQUEST_SECONDS = 10.0
"""Seconds for a request to arrive."""
_LONGEST_HEAD = 200

Reply = Callable[[bytes], None]


class Receiver(Protocol):
    """Takes the requests; `reply` is called once, now or later."""

    busy: int
    """Requests that are not answered yet."""

    def receive(self, agent: str, payload: bytes, reply: Reply, http: bool) -> None: ...

    def note_too_large(self, agent: str) -> None: ...

    def health(self) -> bytes: ...


class _Connection(asyncio.Protocol):
    """A connection with a limit on the time that a request may take to arrive."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._transport: asyncio.Transport | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self._limit = asyncio.get_running_loop().call_later(REQUEST_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_limit()
        self._set_busy(False)
        self._transport = None

    def _set_busy(self, busy: bool) -> None:
        self._receiver.busy += busy - self._busy
        self._busy = busy

    def _cancel_limit(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _write(self, data: bytes, close: bool) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)
            if close:
                self._transport.close()


class SocketConnection(_Connection):
    """A connection on the Unix socket."""

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(receiver)
        self._pieces: list[bytes] = []
        self._received = 0
        self._agent = ""
        self._length = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._set_busy(True)

    def data_received(self, data: bytes) -> None:
        if self._length < 0:
            data = b"".join((*self._pieces, data))
            head, line_end, rest = data.partition(b"\n")
            if not line_end and len(data) < _LONGEST_HEAD:
                self._pieces = [data]
                return
            self._agent, self._length = _parse_heading(head)
            if self._length < 0 or self._length > MOST:
                self._answer(b"")
                return
            self._pieces = []
            data = rest
        self._received += len(data)
        if self._length <= LARGEST:
            self._pieces.append(data)
        if self._received >= self._length:
            self._cancel_limit()
            self._complete()

    def eof_received(self) -> bool:
        # A client that closes its side after a whole request still waits for the answer.
        return self._received >= self._length >= 0

    def _complete(self) -> None:
        if self._agent == STATUS:
            self._answer(self._receiver.health())
        elif self._length > LARGEST:
            self._receiver.note_too_large(self._agent)
            self._answer(b"")
        else:
            payload = b"".join(self._pieces)[: self._length]
            self._pieces = []
            self._receiver.receive(self._agent, payload, self._answer, False)

    def _answer(self, answer: bytes) -> None:
        self._cancel_limit()
        self._write(b"preheat 1 %d\n%b" % (len(answer), answer), True)


def _parse_heading(head: bytes) -> tuple[str, int]:
    words = head.decode("ascii", "replace").split(" ")
    if len(words) < 2 or len(head) >= _LONGEST_HEAD or not words[1].isdecimal() or len(words[1]) > 12:
        return "", -1
    return words[0], int(words[1])


class HttpConnection(_Connection):
    """A connection by HTTP. A bad request is answered with 204, because agents show any other status to the person."""

    def __init__(self, receiver: Receiver, token: str) -> None:
        super().__init__(receiver)
        self._token = token.encode()
        self._http = h11.Connection(h11.SERVER)
        self._request: h11.Request | None = None
        self._pieces: list[bytes] = []
        self._received = 0

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        self._handle_events()

    def eof_received(self) -> bool:
        self._http.receive_data(b"")
        self._handle_events()
        return self._request is not None

    def _handle_events(self) -> None:
        try:
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    if self._http.they_are_waiting_for_100_continue:
                        self._send(h11.InformationalResponse(status_code=100, headers=[]))
                    return
                if isinstance(event, h11.Request):
                    self._request, self._pieces, self._received = event, [], 0
                    self._set_busy(True)
                elif isinstance(event, h11.Data):
                    self._received += len(event.data)
                    if self._received <= LARGEST:
                        self._pieces.append(bytes(event.data))
                    elif self._received > MOST:
                        self._refuse()
                        return
                elif isinstance(event, h11.EndOfMessage):
                    self._cancel_limit()
                    self._complete()
                elif isinstance(event, h11.ConnectionClosed):
                    if self._transport is not None:
                        self._transport.close()
                    return
        except h11.RemoteProtocolError:
            self._refuse()

    def _complete(self) -> None:
        request = self._request
        payload = b"".join(self._pieces)
        self._pieces = []
        if request is None:
            self._answer(b"")
        elif request.target == b"/health" and request.method == b"GET":
            self._answer(self._receiver.health() if self._is_trusted(request) else b'{"preheat":true}')
        elif request.method != b"POST" or not request.target.startswith(b"/hook/") or not self._is_trusted(request):
            self._answer(b"")
        else:
            agent = request.target[len(b"/hook/") :].partition(b"?")[0].decode("ascii", "replace")
            if self._received > LARGEST:
                self._receiver.note_too_large(agent)
                self._answer(b"")
            else:
                self._receiver.receive(agent, payload, self._answer, True)

    def _is_trusted(self, request: h11.Request) -> bool:
        """Whether a request has the token and no origin: requests of web pages have one."""
        authorization = b""
        for name, value in request.headers:
            if name == b"origin":
                return False
            if name == b"authorization":
                authorization = value
        return hmac.compare_digest(authorization, b"Bearer " + self._token)

    def _answer(self, answer: bytes) -> None:
        self._request = None
        self._set_busy(False)
        if self._http.our_state is not h11.SEND_RESPONSE:
            return
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))] if answer else []
        response = h11.Response(status_code=200 if answer else 204, headers=headers)
        # In one write: two writes would delay the second.
        self._send(response, *([h11.Data(data=answer)] if answer else []), h11.EndOfMessage())
        states = self._http.states
        if states[h11.SERVER] is h11.MUST_CLOSE:
            self._write(b"", True)
        elif states[h11.CLIENT] is h11.DONE and states[h11.SERVER] is h11.DONE:
            self._http.start_next_cycle()
            self._limit = asyncio.get_running_loop().call_later(6 * REQUEST_SECONDS, self._abort)
            if self._http.trailing_data[0]:
                self._handle_events()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _refuse(self) -> None:
        self._cancel_limit()
        self._write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", True)

    def _send(self, *events: h11.Event) -> None:
        self._write(b"".join(self._http.send(event) or b"" for event in events), False)
