"""Serves the pages on this machine until nobody looks any more. Knows no page."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from preheat.errors import UserError
from preheat.web.actions import ACTIONS
from preheat.web.guard import Access, Guard
from preheat.web.pages import PAGES
from preheat.web.pages.live import make_streams
from preheat.web.site import Site, make_app

IDLE_MINUTES = 30.0


def serve_pages(folder: str, port: int, idle: float, ready: Callable[[str], None]) -> int:
    """Serve the pages of a folder on a port (0: any free one) until interrupted, or nobody has asked for anything for `idle`
    seconds. `ready` is called with the link that lets a browser in. Returns the exit code."""
    listening = _listen(port)
    access = Access(int(listening.getsockname()[1]))
    site = Site(folder, access)
    server = _Server(
        uvicorn.Config(
            Guard(make_app(site, PAGES, ACTIONS, make_streams(site)), access),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=30,
            limit_concurrency=100,
        )
    )

    async def run() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, server.end)
        watching = asyncio.create_task(_end_when_idle(server, access, idle))
        ready(access.make_link())
        await server.serve(sockets=[listening])
        watching.cancel()

    try:
        asyncio.run(run())
    finally:
        site.close()
        listening.close()
    return 0


class _Server(uvicorn.Server):
    """A server that ends quietly: Ctrl-C is how a person ends it, not an interruption."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the original would raise the signal again when everything is closed

    def end(self) -> None:
        self.should_exit = True


async def _end_when_idle(server: _Server, access: Access, seconds: float) -> None:
    while not access.is_idle(seconds):
        await asyncio.sleep(min(5.0, seconds))
    server.should_exit = True


def _listen(port: int) -> socket.socket:
    """A listening socket, opened first, so that the port is known and free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(100)
    except OSError as error:
        listening.close()
        raise UserError(
            f"port {port} cannot be used: {error.strerror or error}; leave `--port` out for a free one"
        ) from error
    return listening
