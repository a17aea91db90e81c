"""The commands `preheat open` and `preheat report page`: the pages in a browser, and one of them as a file. Knows no page."""

import json
import sys
import webbrowser

import click

from preheat.amounts import format_bytes
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.settings import data_folder

IDLE_MINUTES = 30.0
FILE_PAGES = (
    "home", "sessions", "session", "compare", "mistakes", "mistake", "lessons", "effect", "projects", "settings", "health",
)  # fmt: skip
"""The pages that can be files. `live` is none: it would be old at once. A test compares them with `preheat.web`."""


@click.command(
    "open",
    cls=ExampleCommand,
    epilog="""\
  preheat open                   in your browser
  preheat open --no-browser      print the link, which works once, and serve
  preheat open --port 8990       always at this port; any free one otherwise

Only this machine can reach the pages, and only a browser that came by the link. Ctrl-C ends it; so does half an hour in
which nobody looks.""",
)
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Serve on this port.  [default: any]"
)
@click.option(
    "--idle", type=click.FloatRange(0.05), default=IDLE_MINUTES, show_default=True, metavar="MINUTES",
    help="End after so long without a request.",
)  # fmt: skip
@json_option
def open_command(no_browser: bool, port: int, idle: float, as_json: bool) -> int:
    """Look at sessions, mistakes, lessons and effects in a browser."""
    from preheat.web.server import serve_pages  # noqa: PLC0415 - starts another surface, whose libraries are heavy

    def show_link(link: str) -> None:
        if as_json:
            print(json.dumps({"url": link}), flush=True)
            return
        print(f"preheat: {link}", flush=True)
        print("preheat: this link works once; Ctrl-C ends the pages", file=sys.stderr, flush=True)
        if not no_browser and not webbrowser.open(link):
            print("preheat: no browser could be started; open the link yourself", file=sys.stderr, flush=True)

    return serve_pages(data_folder(), port, idle * 60, show_link)


@click.command(
    "page",
    cls=ExampleCommand,
    epilog="""\
  preheat report page home --html week.html --since 7d
  preheat report page session --html session.html --name 0f3c1a2b
  preheat report page mistakes --html mistakes.html --project shop

The file needs nothing else: no script, no network. Secrets, names in home folders and e-mail addresses are taken out; what people
and agents wrote is in it, so read it before you hand it on.""",
)
@click.argument("page", type=click.Choice(FILE_PAGES))
@click.option("--html", "path", required=True, metavar="FILE", help="The file to write.")
@click.option("--name", default="", metavar="SESSION", help="Of `session`: which one.")
@click.option("--with", "other", default="", metavar="SESSION", help="Of `compare`: the other session.")
@click.option("--id", "identity", default="", metavar="ID", help="Of `mistake`: which one.")
@click.option("--project", default="", metavar="TEXT", help="Only this project.")
@click.option("--agent", default="", metavar="NAME", help="Only this agent's sessions.")
@click.option("--model", default="", metavar="TEXT", help="Only models with this in their name.")
@click.option("--since", default="", metavar="DATE", help="Only sessions that ended after: 2026-01-31, 7d.")
@json_option
def page_command(
    page: str, path: str, name: str, other: str, identity: str, as_json: bool, **filters: str
) -> int:  # fmt: skip
    """Write a page as one file to hand on."""
    home = open_archive()
    if page in ("session", "compare"):
        name = home.archive.find(name or "latest").key
    from preheat.web.page_file import write_page  # noqa: PLC0415 - starts another surface, whose libraries are heavy

    parameters = {**filters, "name": name, "a": name, "b": other, "id": identity}
    size = write_page(home.folder, page, {key: value for key, value in parameters.items() if value}, path)
    if as_json:
        print(json.dumps({"path": path, "bytes": size}))
    else:
        print(f"preheat: {path}, {format_bytes(size)}", file=sys.stderr)
    return 0
