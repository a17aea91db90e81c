"""Serves MCP over HTTP, on this machine unless asked otherwise. Knows nothing of the answers.

A request must have the token and one of our host names: a web page that reached us by DNS rebinding has neither. Nothing of a
request without the token is read but its head, and connections are limited (`preheat.connections`).
"""

import asyncio
import ipaddress
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from preheat.connections import ConnectionLimit
from preheat.errors import UserError
from preheat.mcp.server import exit_process, log_to_stderr, make_server

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_CONNECTIONS = 200
LARGEST_BODY = 4_000_000
REQUEST_SECONDS = 10.0
"""Seconds for the head of a request to arrive."""


def serve_http(
    folder: str, cwd: str, host: str, port: int, token: str, names: Iterable[str], ready: Callable[[str], None]
) -> int:
    """Serve on an address until interrupted; `ready` is called with the URL, `names` are further host names."""
    log_to_stderr()
    listening = _listen(host, port)
    port_taken = int(listening.getsockname()[1])
    known = _names(host, names)
    app = make_server(folder, cwd).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[address for name in known for address in (f"{name}:{port_taken}", name)],
            allowed_origins=[f"http://{name}:{port_taken}" for name in known],
        ),
    )
    config = uvicorn.Config(
        TokenCheck(app, token),
        http=limit_connections(ConnectionLimit(MOST_CONNECTIONS, 0)),
        ws="none",
        backlog=100,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    # The server handles signals only while it runs. One that comes earlier ends the process directly, because an exception
    # could be swallowed by the code that is running.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: exit_process(0))
    ready(f"http://{known[0]}:{port_taken}{PATH}")
    uvicorn.Server(config).run(sockets=[listening])
    exit_process(0)
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket on the address, opened first, so that the port is known and free."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, number)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # early clients wait
    except OSError as error:
        raise UserError(
            f"`{host}` port {port} cannot be used: {error.strerror or error}; `--port 0` takes a free one"
        ) from error
    return listening


def _names(host: str, more: Iterable[str]) -> list[str]:
    """The host names that a client may use, the best first."""
    bracketed = f"[{host}]" if ":" in host else host
    own = ["127.0.0.1", "localhost", "[::1]"]
    if _is_every_address(host):
        return list(dict.fromkeys([socket.gethostname(), *own, *more]))
    return list(dict.fromkeys([bracketed, *(own if is_loopback(host) else ()), *more]))


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


class TokenCheck:
    """Refuses requests without the header `Authorization: Bearer TOKEN`."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app: Callable[[Scope, Receive, Send], Awaitable[Any]] = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        tokens = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(tokens) != 1 or not secrets.compare_digest(tokens[0], self._wanted):
            refusal = PlainTextResponse(
                "the token is missing or wrong; `preheat admin mcp --http` prints the header that carries it\n",
                status_code=401,
                headers={"www-authenticate": "Bearer", "connection": "close"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, _limit_body(receive), send)


def _limit_body(receive: Receive) -> Receive:
    """Takes no more of a body than `LARGEST_BODY`; a longer one ends as if its sender had gone."""
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        return message if received <= LARGEST_BODY else {"type": "http.disconnect"}

    return receive_some


def limit_connections(limit: ConnectionLimit) -> type[H11Protocol]:
    """The protocol with a limit on connections, and on the time until a connection has sent the head of a request."""

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._timer = self.loop.call_later(REQUEST_SECONDS, transport.abort)
            limit.add(self)

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            limit.remove(self)
            super().connection_lost(exc)

        def drop(self) -> None:
            self.transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._timer.cancel()
                limit.note_request(self)

        def on_response_complete(self) -> None:
            limit.note_answer(self)
            super().on_response_complete()

    return LimitedProtocol
