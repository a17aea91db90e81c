"""The commands `preheat open` and `preheat report`: the pages in a browser, and one of them as a file. Knows no page."""

import json
import sys
import webbrowser

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.errors import UserError
from preheat.settings import data_folder

IDLE_MINUTES = 30.0


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


def require_file(path: str) -> str:
    """The path of a file to write. Raises UserError."""
    if not path.strip():
        raise UserError("name the file to write: `preheat report --html sessions.html`")
    return path
