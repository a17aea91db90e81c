"""Who may see the pages: whoever came by a one-time link, from this machine, by our own address. Knows no page.

Other programs and other users of the machine can reach the port, and any web page can send requests to it. So every request needs
the cookie that a link has set, must name us as its host (a page that reached us by DNS rebinding does not), and one that changes
something must come from one of our own pages: by its origin, and by a token in its form.
"""

import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from http.cookies import CookieError, SimpleCookie

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTRANCE = "/enter"
LARGEST_FORM = 200_000
MOST_LINKS = 20
LINK_SECONDS = 15 * 60.0
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a form of ours would have no origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_EXPIRED = (
    '<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href="data:,">'
    "<title>Preheat: this link does not open the pages</title>"
    "<h1>This link does not open the pages</h1><p>A link works once, for fifteen minutes. Run <code>preheat open</code> "
    "for a new one; a browser that is in can make one for another browser at the bottom of every page.</p></html>"
)
_ENTERED = (
    '<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href="data:,"><meta http-equiv=refresh content="0;url=/">'
    "<title>Preheat</title>"
    '<p><a href="/">To the pages</a></p></html>'
)


class Access:
    """The links that are open, the cookie that they set, and when somebody was last here."""

    def __init__(self, port: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.port = port
        self._clock = clock
        self._cookie = secrets.token_urlsafe(32)
        self._links: dict[str, float] = {}
        self._streams = 0
        self.used_at = clock()
        """When the last request came."""

    @property
    def cookie_name(self) -> str:
        """Cookies do not know ports: each server has its own name for it."""
        return f"preheat-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def make_link(self) -> str:
        """A new link that lets one browser in, once."""
        token = secrets.token_urlsafe(32)
        self._links[token] = self._clock() + LINK_SECONDS
        for old in list(self._links)[:-MOST_LINKS]:
            del self._links[old]
        return f"http://127.0.0.1:{self.port}{ENTRANCE}?token={token}"

    def use_link(self, token: str) -> bool:
        """Whether a link may let somebody in; it cannot be used again."""
        found = [each for each in self._links if hmac.compare_digest(each.encode(), token.encode())]
        ends = self._links.pop(found[0]) if found else 0.0
        return ends > self._clock()

    def has_cookie(self, header: str) -> bool:
        """Whether a header `Cookie` has ours."""
        try:
            found = SimpleCookie(header).get(self.cookie_name)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._cookie.encode())

    def set_cookie(self, response: Response) -> None:
        response.set_cookie(self.cookie_name, self._cookie, httponly=True, samesite="strict", path="/")

    @property
    def form_token(self) -> str:
        """What every form that changes something carries."""
        return blake2b(self._cookie.encode(), key=b"form", digest_size=16).hexdigest()

    def is_own_form(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.form_token.encode())

    # Idleness.
    def note_use(self) -> None:
        self.used_at = self._clock()

    def begin_stream(self) -> None:
        self._streams += 1

    def end_stream(self) -> None:
        self._streams -= 1
        self.note_use()

    def is_idle(self, seconds: float) -> bool:
        """Whether nobody asked for anything for so long, and no page watches."""
        return not self._streams and self._clock() - self.used_at > seconds


class Guard:
    """Refuses requests that are not ours, lets browsers in, and sets the headers of every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app: Callable[[Scope, Receive, Send], Awaitable[None]] = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._access.note_use()
        refused = self._refuse(Request(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                names = {name for name, _ in message["headers"]}
                own += [] if b"cache-control" in names else [(b"cache-control", b"no-store")]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        await (refused or self._app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        """The answer to a request that goes no further; None for one that may."""
        headers = request.headers
        if headers.get("host", "") not in self._access.hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("Not a name of this server.\n", 421)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Not allowed.\n", 405)
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and request.method == "POST":
            return PlainTextResponse("Only this server's own pages may do that.\n", 403)
        if request.url.path == ENTRANCE:
            return self._enter(request)
        if not self._access.has_cookie(headers.get("cookie", "")):
            return HTMLResponse(_EXPIRED, 403)
        if request.method == "POST" and headers.get("origin", "") not in [
            f"http://{host}" for host in self._access.hosts
        ]:
            return PlainTextResponse("Only this server's own pages may do that.\n", 403)
        return None

    def _enter(self, request: Request) -> Response:
        if request.method != "GET" or not self._access.use_link(request.query_params.get("token", "")):
            return HTMLResponse(_EXPIRED, 403)
        # Not a redirect: a strict cookie is not sent with one that another program's link began.
        response = HTMLResponse(_ENTERED)
        self._access.set_cookie(response)
        return response
