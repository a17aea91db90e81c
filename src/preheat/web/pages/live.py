"""What runs now: the page, and the stream of server-sent events that keeps it current."""

import asyncio
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from preheat.errors import PreheatError
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

_SECONDS = 1.0
"""Seconds between two looks at the running sessions."""
_ALIVE_SECONDS = 15
"""Seconds after which an unchanged stream says that it is there."""


def show_live(site: Site, query: Query) -> Page:
    """The page of running sessions."""
    return Page("live.html", "Live", {"sessions": site.live.sessions()})


def make_streams(site: Site) -> tuple[Route, ...]:
    """The stream of the page, which ends when the browser goes."""

    async def answer(request: Request) -> Response:
        return StreamingResponse(
            _follow(site, request), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
        )

    return (Route("/live/stream", answer, methods=["GET"]),)


async def _follow(site: Site, request: Request) -> AsyncIterator[str]:
    """The rows of the table as often as they change, each time whole."""
    if site.access is not None:
        site.access.begin_stream()
    last, quiet = "", 0
    try:
        while not await request.is_disconnected():
            now = await run_in_threadpool(_render_rows, site)
            if now != last:
                last, quiet = now, 0
                yield "".join(f"data: {line}\n" for line in now.split("\n")) + "\n"
            elif (quiet := quiet + 1) % _ALIVE_SECONDS == 0:
                yield ": still here\n\n"
            await asyncio.sleep(_SECONDS)
    finally:
        if site.access is not None:
            site.access.end_stream()


def _render_rows(site: Site) -> str:
    try:
        return site.render(Page("live_rows.html", "Live", {"sessions": site.live.sessions()}), Query("/live", {}))
    except PreheatError:
        return ""  # the next look may succeed; the page itself says what is wrong
