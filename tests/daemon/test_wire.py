"""The two ways in: what belongs to a request, what is refused, and that the other side never sees an error."""

import asyncio
import http.client
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.daemon.wire import HttpConnection, Reply, SocketConnection
from tests.waiting import HUNG, until

TOKEN = "the-token"


class Echo:
    """Answers with what it was told."""

    def __init__(self) -> None:
        self.busy = 0
        self.got: list[tuple[str, bytes]] = []
        self.large: list[str] = []

    def receive(self, agent: str, payload: bytes, reply: Reply, http: bool) -> None:
        self.got.append((agent, payload))
        if payload == b"later":
            asyncio.get_running_loop().call_later(0.05, reply, b'"late"')
        else:
            reply(payload)

    def note_too_large(self, agent: str) -> None:
        self.large.append(agent)

    def health(self) -> bytes:
        return b'{"health":1}'


class Serving:
    """Both servers in a thread."""

    def __init__(self, folder: str) -> None:
        self.echo = Echo()
        self.path = os.path.join(folder, "s")
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(HUNG)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)

        async def start() -> None:
            self._servers = [
                await self._loop.create_unix_server(lambda: SocketConnection(self.echo), self.path),
                await self._loop.create_server(lambda: HttpConnection(self.echo, TOKEN), "127.0.0.1", 0),
            ]
            self.port = self._servers[1].sockets[0].getsockname()[1]
            self._ready.set()

        self._loop.run_until_complete(start())
        self._loop.run_forever()
        for server in self._servers:
            server.close()
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(HUNG)

    def sent(self, *pieces: bytes, end: bool = False) -> bytes:
        """The answer on the Unix socket."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(HUNG)
            connection.connect(self.path)
            return _exchange(connection, pieces, end)

    def posted(self, *pieces: bytes, end: bool = False) -> bytes:
        """The answer to raw bytes by HTTP."""
        with socket.create_connection(("127.0.0.1", self.port), HUNG) as connection:
            return _exchange(connection, pieces, end)


def _exchange(connection: socket.socket, pieces: tuple[bytes, ...], end: bool) -> bytes:
    answer = b""
    try:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.002)
        if end:
            connection.shutdown(socket.SHUT_WR)
        while more := connection.recv(1 << 16):
            answer += more
    except ConnectionError:
        pass
    return answer


@contextmanager
def _served() -> Iterator[Serving]:
    with tempfile.TemporaryDirectory() as folder:
        found = Serving(folder)
        yield found
        found.stop()


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with _served() as found:
        yield found


def test_a_request_may_arrive_in_any_pieces(serving: Serving) -> None:
    whole = b"some_agent 11\nhello\nworld"
    assert serving.sent(whole) == b"preheat 1 11\nhello\nworld"
    for cut in range(1, len(whole)):
        assert serving.sent(whole[:cut], whole[cut:]) == b"preheat 1 11\nhello\nworld"
    assert serving.sent(whole, end=True) == b"preheat 1 11\nhello\nworld"
    assert serving.sent(b"some_agent 5 token\nlater") == b'preheat 1 6\n"late"'


def test_the_status_can_be_asked_for(serving: Serving) -> None:
    """A question mark in the place of the agent."""
    assert serving.sent(b"? 0\n") == b'preheat 1 12\n{"health":1}'


@pytest.mark.parametrize(
    "junk", [b"\n", b"x\n", b"agent -1\n", b"agent 1e9\n", b"agent 99999999999\n", b"a" * 5000, b"\xff \xff\n"]
)
def test_an_invalid_request_gets_an_empty_answer(serving: Serving, junk: bytes) -> None:
    assert serving.sent(junk) == b"preheat 1 0\n"


def test_an_incomplete_request_gets_no_answer(serving: Serving) -> None:
    before = len(serving.echo.got)
    assert serving.sent(b"agent 100\nhalf", end=True) == b""
    assert len(serving.echo.got) == before


def test_a_huge_payload_is_dropped(serving: Serving) -> None:
    assert serving.sent(b"agent 9000000\n", b"x" * 9_000_000) == b"preheat 1 0\n"
    assert serving.echo.large[-1] == "agent"


# HTTP.
def _post(serving: Serving, path: str, body: bytes, headers: dict[str, str], method: str = "POST") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=HUNG)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    found = (answer.status, answer.read())
    connection.close()
    return found


GOOD = {"Authorization": f"Bearer {TOKEN}"}


def test_a_post_is_answered(serving: Serving) -> None:
    """With the token: 200 and the answer, or 204 where there is none."""
    assert _post(serving, "/hook/claude_code", b'{"a":1}', GOOD) == (200, b'{"a":1}')
    assert serving.echo.got[-1] == ("claude_code", b'{"a":1}')
    assert _post(serving, "/hook/claude_code", b"", GOOD) == (204, b"")
    assert _post(serving, "/hook/claude_code", b"later", GOOD) == (200, b'"late"')


def test_one_connection_may_send_several_requests(serving: Serving) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=HUNG)
    for body in (b'{"a":1}', b"later", b'{"b":2}'):
        connection.request("POST", "/hook/x", body, GOOD)
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.read() in (body, b'"late"')
    connection.close()


def test_chunked_and_pipelined_requests_are_answered(serving: Serving) -> None:
    one = f"POST /hook/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
    chunked = one + b"Transfer-Encoding: chunked\r\n\r\n5\r\nlater\r\n0\r\n\r\n"
    last = one + b"Connection: close\r\nContent-Length: 3\r\n\r\nabc"
    answer = serving.posted(chunked + last)
    assert b'"late"' in answer
    assert answer.endswith(b"abc")


@pytest.mark.parametrize(
    ("path", "headers", "method"),
    [
        ("/hook/x", {}, "POST"),
        ("/hook/x", {"Authorization": "Bearer wrong"}, "POST"),
        ("/hook/x", {**GOOD, "Origin": "http://example.com"}, "POST"),
        ("/hook/x", GOOD, "GET"),
        ("/other", GOOD, "POST"),
        ("/hook/x", GOOD, "DELETE"),
    ],
)
def test_a_refused_post_gets_status_204(serving: Serving, path: str, headers: dict[str, str], method: str) -> None:
    before = len(serving.echo.got)
    assert _post(serving, path, b"{}", headers, method) == (204, b"")
    assert len(serving.echo.got) == before


def test_health_has_details_only_with_the_token(serving: Serving) -> None:
    assert json.loads(_post(serving, "/health", b"", {}, "GET")[1]) == {"preheat": True}
    assert json.loads(_post(serving, "/health", b"", GOOD, "GET")[1]) == {"health": 1}


def test_a_huge_post_is_received_and_dropped(serving: Serving) -> None:
    """204, as for everything that nobody looks at."""
    assert _post(serving, "/hook/huge", b"x" * 9_000_000, GOOD) == (204, b"")
    assert serving.echo.large[-1] == "huge"


@settings(max_examples=80, deadline=None)
@given(junk=st.binary(max_size=300) | st.text("GETPOS /hk.:\r\nHT1", max_size=200).map(str.encode))
def test_any_bytes_on_either_protocol_are_harmless(serving: Serving, junk: bytes) -> None:
    answer = serving.sent(junk, end=True)
    assert answer == b"" or answer.startswith(b"preheat 1 ")
    answer = serving.posted(junk, end=True)
    assert answer == b"" or answer.startswith((b"HTTP/1.1 204", b"HTTP/1.1 200"))
    assert serving.sent(b"a 2\n{}") == b"preheat 1 2\n{}"


def test_no_request_stays_counted_as_busy(serving: Serving) -> None:
    until(lambda: serving.echo.busy == 0, "no connection that is waited for")
