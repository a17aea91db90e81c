"""The two ways in: what belongs to a request, what is refused, and that the other side never sees an error."""

import asyncio
import contextlib
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

from preheat.connections import ConnectionLimit
from preheat.daemon.wire import HttpConnection, Reply, SocketConnection
from tests.shared import call_as_user
from tests.waiting import HUNG, until

TOKEN = "the-token"
HELD = 20_000_000


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
        self.sockets, self.posts = ConnectionLimit(20, HELD), ConnectionLimit(20, HELD)
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
                await self._loop.create_unix_server(lambda: SocketConnection(self.echo, self.sockets), self.path),
                await self._loop.create_server(lambda: HttpConnection(self.echo, self.posts, TOKEN), "127.0.0.1", 0),
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
    one = f"POST /hook/x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n".encode()
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
        ("/hook/x", {**GOOD, "Host": "evil.example:80"}, "POST"),
        ("/hook/x", {**GOOD, "Host": "127.0.0.1.evil.example"}, "POST"),
        ("/hook/x?token=the-token", {}, "POST"),
        ("/hook/x", {**GOOD, "Upgrade": "websocket", "Connection": "Upgrade"}, "GET"),
        ("http://127.0.0.1/hook/x", GOOD, "POST"),
        ("/health", {"Host": "evil.example"}, "GET"),
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


# Limits.
HEAD = "POST /hook/x HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize(
    "body", ["Content-Length: 50000000", "Transfer-Encoding: chunked", "Expect: 100-continue\r\nContent-Length: 9"]
)
def test_without_the_token_the_answer_comes_before_the_body(serving: Serving, body: str) -> None:
    before = len(serving.echo.got)
    assert serving.posted(f"{HEAD}{body}\r\n\r\n".encode()).startswith(b"HTTP/1.1 204")
    assert len(serving.echo.got) == before


def test_without_the_token_a_body_is_not_kept_and_its_sender_is_cut_off(serving: Serving) -> None:
    with socket.create_connection(("127.0.0.1", serving.port), HUNG) as connection:
        connection.sendall(f"{HEAD}Content-Length: 50000000\r\n\r\n".encode())
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 50_000_000:
                sent += connection.send(b"x" * 65_536)
    assert sent < 50_000_000
    assert serving.posts._total == 0


def test_two_tokens_are_refused(serving: Serving) -> None:
    head = f"{HEAD}Authorization: Bearer no\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 2\r\n\r\n{{}}"
    assert serving.posted(head.encode()).startswith(b"HTTP/1.1 204")


@pytest.mark.parametrize("junk", [b"a" * 100_000, b"POST /" + b"a" * 100_000, f"{HEAD}X: ".encode() + b"y" * 100_000])
def test_an_endless_head_is_refused(serving: Serving, junk: bytes) -> None:
    assert serving.posted(junk).startswith((b"HTTP/1.1 204", b""))
    assert serving.sent(b"a 2\n{}") == b"preheat 1 2\n{}"


def test_who_only_connects_is_closed_for_those_who_ask(serving: Serving) -> None:
    """The oldest first; nobody who asks waits for anybody."""
    for family, place in ((socket.AF_UNIX, serving.path), (socket.AF_INET, ("127.0.0.1", serving.port))):
        idle = [socket.socket(family) for _ in range(60)]
        for each in idle:
            each.settimeout(HUNG)
            each.connect(place)
        assert serving.sent(b"a 2\n{}") == b"preheat 1 2\n{}"
        assert _post(serving, "/hook/x", b"{}", GOOD) == (200, b"{}")
        until(lambda: len(serving.sockets) <= 20 and len(serving.posts) <= 20, "no more connections than allowed")
        assert _is_closed(idle[0])
        idle[-1].sendall(b"a 2\n{}" if family == socket.AF_UNIX else f"{HEAD}\r\n".encode())
        assert idle[-1].recv(100).startswith((b"preheat 1 2", b"HTTP/1.1 204"))
        for each in idle:
            each.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_what_is_being_received_is_limited_for_all_together(serving: Serving) -> None:
    """Each of these is small enough; the client whose event was not taken sees no answer, and stores it."""
    senders = [socket.socket(socket.AF_UNIX) for _ in range(5)]
    for each in senders:
        each.settimeout(HUNG)
        each.connect(serving.path)
        with contextlib.suppress(ConnectionError):
            each.sendall(b"a 8000000\n" + b"x" * 7_000_000)
    until(
        lambda: sum(each in serving.sockets._bytes for each in serving.sockets._waiting) <= 2, "what is too much to go"
    )
    assert serving.sockets._total <= HELD
    for each in senders:
        each.close()
    until(lambda: serving.sockets._total == 0, "nothing to be held for those who left")


def test_requests_sent_without_waiting_are_not_piled_up(serving: Serving) -> None:
    """While one is being answered, the rest waits on the sender's side."""
    head = f"{HEAD}Authorization: Bearer {TOKEN}\r\nContent-Length: "
    with socket.create_connection(("127.0.0.1", serving.port), HUNG) as connection:
        connection.sendall(f"{head}5\r\n\r\nlater".encode() * 20 + f"{head}3\r\nConnection: close\r\n\r\nabc".encode())
        answer = b""
        while more := connection.recv(1 << 16):
            answer += more
    assert answer.count(b'"late"') == 20
    assert answer.endswith(b"abc")


@pytest.mark.skipif(
    not hasattr(socket, "SO_PEERCRED") or os.geteuid() != 0, reason="needs Linux, and root to be somebody else"
)
def test_another_user_gets_no_answer_on_the_unix_socket(serving: Serving) -> None:
    os.chmod(os.path.dirname(serving.path), 0o777)
    os.chmod(serving.path, 0o777)

    def ask() -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(serving.path)
            connection.sendall(b"? 0\n")
            return connection.recv(99).decode()

    assert "health" in ask()
    assert "health" not in call_as_user(54_321, ask)


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
