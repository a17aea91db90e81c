"""Serves MCP over HTTP, on this machine unless somebody wants otherwise. Knows nothing of what is answered.

Whoever asks must bring the token and call us by one of our names: a page in a browser that was led here by a false address
does neither.
"""

import ipaddress
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from preheat.errors import UserError
from preheat.mcp.process import leave, log_to_stderr
from preheat.mcp.server import server

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_http(
    folder: str, cwd: str, host: str, port: int, token: str, names: Iterable[str], ready: Callable[[str], None]
) -> int:
    """Serve on an address until interrupted; `ready` is told the URL, `names` are others that we go by."""
    log_to_stderr()
    listening = _bound(host, port)
    taken = int(listening.getsockname()[1])
    known = _names(host, names)
    app = server(folder, cwd).streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[address for name in known for address in (f"{name}:{taken}", name)],
            allowed_origins=[f"http://{name}:{taken}" for name in known],
        ),
    )
    config = uvicorn.Config(WithToken(app, token), log_config=None, access_log=False, timeout_graceful_shutdown=1)
    # The server takes signals only while it runs. One that comes before ends us as well, wherever it meets us: an exception
    # there may be swallowed by whoever is at work, and then nothing ends.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: leave(0))
    ready(f"http://{known[0]}:{taken}{PATH}")
    uvicorn.Server(config).run(sockets=[listening])
    leave(0)
    return 0


def _bound(host: str, port: int) -> socket.socket:
    """A socket on the address; taken before anything is said, so that the port is known and free."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, number)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # whoever comes before we are ready waits
    except OSError as error:
        raise UserError(
            f"`{host}` port {port} cannot be used: {error.strerror or error}; `--port 0` takes a free one"
        ) from error
    return listening


def _names(host: str, more: Iterable[str]) -> list[str]:
    """What a client may call us, the best name first."""
    bracketed = f"[{host}]" if ":" in host else host
    own = ["127.0.0.1", "localhost", "[::1]"]
    if _everywhere(host):
        return list(dict.fromkeys([socket.gethostname(), *own, *more]))
    return list(dict.fromkeys([bracketed, *(own if is_loopback(host) else ()), *more]))


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK


def _everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


class WithToken:
    """Lets only those in who bring the token: `Authorization: Bearer TOKEN`."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app: Callable[[Scope, Receive, Send], Awaitable[Any]] = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name == b"authorization"]
            if not any(secrets.compare_digest(value, self._wanted) for value in given):
                refusal = PlainTextResponse(
                    "the token is missing or wrong; `preheat mcp --http` prints the header that carries it\n",
                    status_code=401,
                    headers={"www-authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
