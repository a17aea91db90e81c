"""The site: which page belongs to which path, how a page becomes an answer, what is done on request. Knows no server.

A page is a function of the address that returns values (`pages/`); an action changes something and says how to undo it
(`actions.py`).
"""

import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from preheat.app import Preheat
from preheat.errors import NotFound, PreheatError, UserError
from preheat.web.guard import LARGEST_FORM, Access
from preheat.web.kept import PATIENCE, KeptValues
from preheat.web.query import Query
from preheat.web.render import SCRIPTS, STYLES, Page, make_environment, read_asset, read_styles, render_page

_KINDS = {"css": "text/css", "js": "text/javascript"}
_MOST_NOTICES = 50


class Done(NamedTuple):
    """What an action did, and the action that takes it back."""

    text: str
    undo: str = ""
    """The name of that action; empty: there is none."""
    fields: Mapping[str, str] = {}
    """The fields of its form."""
    at: str = ""
    """Where to go; empty: back."""


class Site:
    """Everything that pages and actions need of one archive."""

    def __init__(
        self,
        folder: str,
        access: Access | None = None,
        patience: float | None = PATIENCE,
        makes_files: bool = False,
    ) -> None:
        self.home = Preheat(folder)
        self.home.keep_connections()
        self.views = self.home.views
        self.live = self.home.live
        self.access = access
        self.kept = KeptValues(self.views.stamp, patience)
        self.started_at = time.time()
        self.makes_files = makes_files
        self._environment = make_environment(self.views.redact_for_sharing if makes_files else None)
        self._notices: OrderedDict[str, Done] = OrderedDict()

    def show(self, make: "MakePage", query: Query) -> tuple[str, int]:
        """A page as HTML, and its status. What goes wrong becomes a page that says what to do."""
        try:
            page = make(self, query)
        except NotFound as error:
            page = Page("problem.html", "Not found", {"message": str(error)}, 404)
        except PreheatError as error:
            page = Page("problem.html", "This cannot be shown", {"message": str(error)}, 400)
        except OSError as error:
            message = f"`{error.filename or self.home.folder}` cannot be used: {error.strerror or error}"
            page = Page("problem.html", "This cannot be shown", {"message": message}, 500)
        except sqlite3.Error as error:
            page = Page("problem.html", "This cannot be shown", {"message": str(self.home.translate_error(error))}, 500)
        return self.render(page, query), page.status

    def render(self, page: Page, query: Query) -> str:
        """A page as HTML."""
        surroundings: dict[str, Any] = {
            "choices": self._choices(),
            "form_token": self.access.form_token if self.access else "",
            "notice": self._notices.get(query.text("done")),
            "is_file": self.makes_files,
            "now": time.time(),
            "style_text": read_styles() if self.makes_files else "",
        }
        return render_page(self._environment, page, query, surroundings)

    def _choices(self) -> Any:
        if not self.home.has_archive():
            return None
        try:
            return self.kept.find_now(self.views.choices)
        except (PreheatError, sqlite3.Error):
            return None  # the page itself says what is wrong

    def keep_notice(self, done: Done) -> str:
        """Remember what was done until the next page has said it; its name in the address."""
        name = secrets.token_urlsafe(9)
        self._notices[name] = done
        while len(self._notices) > _MOST_NOTICES:
            self._notices.popitem(last=False)
        return name

    def close(self) -> None:
        self.kept.close()


MakePage = Callable[[Site, Query], Page]
Act = Callable[[Site, Mapping[str, str]], Done]


class SitePage(NamedTuple):
    """One path and the function that makes its page."""

    path: str
    make: MakePage


def make_app(
    site: Site, pages: tuple[SitePage, ...], actions: Mapping[str, Act], streams: tuple[Route, ...]
) -> Starlette:
    """The site as an application that a server runs."""
    routes = [Route(each.path, _page_endpoint(site, each.make), methods=["GET"]) for each in pages]
    routes += [Route(f"/{name}", _asset_endpoint(name), methods=["GET"]) for name in (*STYLES, *SCRIPTS)]
    routes += [Route("/do/{action}", _action_endpoint(site, actions), methods=["POST"]), *streams]
    app = Starlette(routes=routes, exception_handlers={404: _not_found(site)})
    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=4)
    return app


def query_of(request: Request) -> Query:
    return Query(request.url.path, dict(request.query_params))


def _page_endpoint(site: Site, make: MakePage) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        query = query_of(request)
        before = time.perf_counter()
        html, status, worked = await run_in_threadpool(_show_timed, site, make, query)
        taken = f"page;dur={(time.perf_counter() - before) * 1000:.1f}, processor;dur={worked * 1000:.1f}"
        return HTMLResponse(html, status, headers={"Server-Timing": taken})

    return answer


def _show_timed(site: Site, make: MakePage, query: Query) -> tuple[str, int, float]:
    """A page, its status, and the seconds that the processor worked on it: on a busy machine the clock says little."""
    before = time.thread_time()
    html, status = site.show(make, query)
    return html, status, time.thread_time() - before


def _asset_endpoint(name: str) -> Callable[[Request], Any]:
    content = read_asset(name)
    # The names of vendored files have their version in them.
    caching = "max-age=86400" if name.startswith("vendored/") else "no-cache"

    async def answer(_: Request) -> Response:
        return Response(content, media_type=_KINDS[name.rpartition(".")[2]], headers={"Cache-Control": caching})

    return answer


def _action_endpoint(site: Site, actions: Mapping[str, Act]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        act = actions.get(request.path_params["action"])
        length = request.headers.get("content-length", "")
        if act is None or site.access is None or not length.isdigit() or int(length) > LARGEST_FORM:
            return PlainTextResponse("There is no such action, or its form is too large.\n", 400)
        body = (await request.body()).decode("utf-8", "replace")
        form = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=40))
        if not site.access.is_own_form(form.pop("form_token", "")):
            return PlainTextResponse("Only this server's own pages may do that.\n", 403)
        query = Query(own_path(form.pop("back", "/")), {})
        try:
            done = await run_in_threadpool(act, site, form)
        except PreheatError as error:
            page = Page("problem.html", "That was not done", {"message": str(error)}, 400)
            return HTMLResponse(site.render(page, query), 400)
        except sqlite3.Error as error:
            why = site.home.translate_error(error)
            page = Page("problem.html", "That was not done", {"message": str(why)}, 400)
            return HTMLResponse(site.render(page, query), 400)
        site.kept.forget()
        target = own_path(done.at) if done.at else query.path
        joint = "&" if "?" in target else "?"
        return RedirectResponse(f"{target}{joint}done={site.keep_notice(done)}", 303)

    return answer


def own_path(path: str) -> str:
    """A path of this site; anything else becomes the first page."""
    clean = path.split("#")[0]
    if not clean.startswith("/") or clean.startswith(("//", "/\\")) or any(ord(letter) < 33 for letter in clean):
        return "/"
    before, _, parameters = clean.partition("?")
    kept = "&".join(each for each in parameters.split("&") if each and not each.startswith("done="))
    return f"{before}?{kept}" if kept else before


def _not_found(site: Site) -> Callable[[Request, Exception], Any]:
    async def answer(request: Request, _: Exception) -> Response:
        message = f"there is no page `{request.url.path[:80]}`; the list on the side has them all"
        page = Page("problem.html", "Not found", {"message": message}, 404)
        return HTMLResponse(await run_in_threadpool(site.render, page, Query("/", {})), 404)

    return answer


def refuse(problem: str) -> UserError:
    """An action that cannot be done, in words for the person."""
    return UserError(problem)
