"""The protocols of the daemon: a Unix socket, and HTTP on the loopback interface. Knows nothing of events.

The other side always gets an answer, perhaps an empty one, and never an error.

Unix socket, one request a connection: `AGENT LENGTH\\n` and the payload; the reply is `preheat 1 LENGTH\\n` and the answer.
HTTP: `POST /hook/AGENT` with `Authorization: Bearer TOKEN`; the reply is 200 with the answer, or 204.
`GET /health` gives the status of the daemon. Without the token no body is read. Connections and the bytes that they hold are
limited (`preheat.connections`).
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from preheat.app.daemon import STATUS
from preheat.app.lazy import LazyModule
from preheat.connections import ConnectionLimit, is_own_peer
from preheat.daemon.journal import LARGEST

if TYPE_CHECKING:
    import h11
else:  # most agents use the socket, and a session may be waiting for us
    h11 = LazyModule("h11")

MOST = 50_000_000
"""Most bytes of a payload that are received; one over `LARGEST` is dropped."""
REQUEST_SECONDS = 10.0
"""Seconds for a request to arrive."""
_LONGEST_HEAD = 200
_LONGEST_HTTP_HEAD = 16_384
_LINGER_SECONDS = 1.0
"""Seconds, and bytes, that a refused client may still send: closed at once it would not see its answer."""
_LINGER_BYTES = 1_000_000
_MOST_UNREAD = 1_000_000
"""Bytes of answers that a client may leave unread."""
_HOSTS = (b"127.0.0.1", b"localhost", b"[::1]")
"""Names of this machine; a web page that reached us by DNS rebinding has another one."""

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

    def __init__(self, receiver: Receiver, limit: ConnectionLimit) -> None:
        self._receiver = receiver
        self._limit = limit
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for the type checker
        self._transport = transport
        self._limit.add(self)
        self._set_timer(REQUEST_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        self._set_busy(False)
        self._limit.remove(self)
        self._transport = None

    def drop(self) -> None:
        """Close it at once."""
        if self._transport is not None:
            self._transport.abort()

    def _set_busy(self, busy: bool) -> None:
        self._receiver.busy += busy - self._busy
        self._busy = busy

    def _set_timer(self, seconds: float) -> None:
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.drop)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self, data: bytes, close: bool) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)
            if close:
                self._transport.close()
            elif self._transport.get_write_buffer_size() > _MOST_UNREAD:
                self._transport.abort()


class SocketConnection(_Connection):
    """A connection on the Unix socket."""

    def __init__(self, receiver: Receiver, limit: ConnectionLimit) -> None:
        super().__init__(receiver, limit)
        self._pieces: list[bytes] = []
        self._received = 0
        self._agent = ""
        self._length = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._set_busy(True)
        if not is_own_peer(transport.get_extra_info("socket")):
            self.drop()

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
            if not self._limit.hold(self, len(data)):
                self.drop()  # without an answer: the client stores the event, and it is taken later
                return
            self._pieces.append(data)
        if self._received >= self._length:
            self._cancel_timer()
            self._limit.note_request(self)
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
        self._set_timer(REQUEST_SECONDS)  # to read it
        self._write(b"preheat 1 %d\n%b" % (len(answer), answer), True)


def _parse_heading(head: bytes) -> tuple[str, int]:
    words = head.decode("ascii", "replace").split(" ")
    if len(words) < 2 or len(head) >= _LONGEST_HEAD or not words[1].isdecimal() or len(words[1]) > 12:
        return "", -1
    return words[0], int(words[1])


class HttpConnection(_Connection):
    """A connection by HTTP. A bad request is answered with 204, because agents show any other status to the person."""

    def __init__(self, receiver: Receiver, limit: ConnectionLimit, token: str) -> None:
        super().__init__(receiver, limit)
        self._token = token.encode()
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HTTP_HEAD)
        self._request: h11.Request | None = None
        self._pieces: list[bytes] = []
        self._received = 0
        self._refused = False

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._received += len(data)
            if self._received > _LINGER_BYTES:
                self.drop()
            return
        self._http.receive_data(data)
        self._handle_events()

    def eof_received(self) -> bool:
        if self._refused:
            return False
        self._http.receive_data(b"")
        self._handle_events()
        return self._request is not None

    def _handle_events(self) -> None:
        try:
            while not self._refused:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    if self._http.they_are_waiting_for_100_continue:
                        self._send(h11.InformationalResponse(status_code=100, headers=[]))
                    if event is h11.PAUSED and self._transport is not None:
                        self._transport.pause_reading()  # what comes after this request waits in the kernel, not here
                    return
                if isinstance(event, h11.ConnectionClosed):
                    if self._transport is not None:
                        self._transport.close()
                    return
                self._take(event)
        except h11.RemoteProtocolError:
            self._refuse()

    def _take(self, event: object) -> None:
        if isinstance(event, h11.Request):
            if not self._is_for_us(event):
                self._refuse()
                return
            self._request, self._pieces, self._received = event, [], 0
            self._set_busy(True)
        elif isinstance(event, h11.Data):
            self._received += len(event.data)
            if self._received <= LARGEST:
                if not self._limit.hold(self, len(event.data)):
                    self._refuse()
                    return
                self._pieces.append(bytes(event.data))
            elif self._received > MOST:
                self._refuse()
        elif isinstance(event, h11.EndOfMessage):
            self._cancel_timer()
            self._limit.note_request(self)
            self._complete()

    def _is_for_us(self, request: h11.Request) -> bool:
        """Whether a request may go on, by its head: anybody may ask whether we are here, the rest needs the token."""
        if request.target == b"/health" and request.method == b"GET":
            return self._is_local(request) and not _has_body(request)
        return request.method == b"POST" and request.target.startswith(b"/hook/") and self._is_trusted(request)

    def _complete(self) -> None:
        request = self._request
        payload = b"".join(self._pieces)
        self._pieces = []
        if request is None:
            self._answer(b"")
        elif request.target == b"/health":
            self._answer(self._receiver.health() if self._is_trusted(request) else b'{"preheat":true}')
        else:
            agent = request.target[len(b"/hook/") :].partition(b"?")[0].decode("ascii", "replace")
            if self._received > LARGEST:
                self._receiver.note_too_large(agent)
                self._answer(b"")
            else:
                self._receiver.receive(agent, payload, self._answer, True)

    def _is_local(self, request: h11.Request) -> bool:
        """Whether a request names this machine and has no origin: requests of web pages have one."""
        hosts = [value for name, value in request.headers if name == b"host"]
        names = [host[: host.index(b"]") + 1] if b"]" in host else host.partition(b":")[0] for host in hosts]
        has_origin = any(name == b"origin" for name, _ in request.headers)
        return not has_origin and len(names) == 1 and names[0].lower() in _HOSTS

    def _is_trusted(self, request: h11.Request) -> bool:
        """Whether a request has the token, once, and is of this machine."""
        found = [value for name, value in request.headers if name == b"authorization"]
        wanted = b"Bearer " + self._token
        return len(found) == 1 and hmac.compare_digest(found[0], wanted) and self._is_local(request)

    def _answer(self, answer: bytes) -> None:
        self._request = None
        self._set_busy(False)
        self._limit.note_answer(self)
        if self._http.our_state is not h11.SEND_RESPONSE:
            return
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))] if answer else []
        response = h11.Response(status_code=200 if answer else 204, headers=headers)
        # In one write: two writes would delay the second.
        self._send(response, *([h11.Data(data=answer)] if answer else []), h11.EndOfMessage())
        states = self._http.states
        if states[h11.SERVER] is h11.MUST_CLOSE:
            self._set_timer(REQUEST_SECONDS)  # to read the answer
            self._write(b"", True)
        elif states[h11.CLIENT] is h11.DONE and states[h11.SERVER] is h11.DONE:
            self._http.start_next_cycle()
            self._set_timer(6 * REQUEST_SECONDS)
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()
            if self._http.trailing_data[0]:
                # Not from here: each of many requests sent at once would be handled inside the one before.
                asyncio.get_running_loop().call_soon(self._handle_events)

    def _refuse(self) -> None:
        """Answer, and take nothing more in; what was being sent may end."""
        self._refused, self._received, self._request, self._pieces = True, 0, None, []
        self._set_busy(False)
        self._limit.note_answer(self)
        self._set_timer(_LINGER_SECONDS)
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            if self._transport.can_write_eof():
                self._transport.write_eof()

    def _send(self, *events: h11.Event) -> None:
        self._write(b"".join(self._http.send(event) or b"" for event in events), False)


def _has_body(request: h11.Request) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") and value != b"0" for name, value in request.headers)
