"""The command `preheat demo`: runs other commands on the sample sessions that come with Preheat, in a temporary folder.

Knows nothing of what these commands do.
"""

import os
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from shlex import quote

import click

from preheat.cli import main
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.screen import console, say
from preheat.errors import UserError

_STEPS = (
    ("Read the sample sessions of several agents into one archive.", ["sync", "SAMPLES"]),
    ("All agents' sessions look the same now: list them,", ["sessions", "list"]),
    ("search them,", ["sessions", "search", "test", "--limit", "5"]),
    ("see what went wrong, and what fixed it,", ["mistakes", "--min-sessions", "1", "--limit", "3"]),
    ("read one,", ["sessions", "show", "latest"]),
    ("see how reliable the agent was in one,", ["profile", "11111111"]),
    ("take one elsewhere.", ["export", "latest", "--format", "atif", "-o", "OUTPUT"]),
    ("Learn from them. So few sessions teach little, because several must agree.", ["learn"]),
    ("What one of them found out can be kept as a template,", ["warm", "extract", "11111111", "--name", "dates"]),
    ("and a new session starts with it.", ["warm", "start", "--template", "dates", "--task", "Accept week dates"]),
    ("Another sync reads only what is new.", ["sync", "SAMPLES"]),
)


@click.command(
    "demo",
    cls=ExampleCommand,
    epilog="""\
  preheat demo
  preheat demo --keep         keep the archive of the demonstration to try things out""",
)
@click.option("--keep", is_flag=True, help="Keep the archive of the demonstration.")
@json_option
def demo_command(keep: bool, as_json: bool) -> int:
    """See Preheat at work on sample sessions.

    Uses an archive in a temporary folder; yours is not touched.
    """
    folder = tempfile.mkdtemp(prefix="preheat-demo-")
    before = dict(os.environ)
    try:
        with as_file(files("preheat").joinpath("samples")) as samples:
            if not samples.is_dir():
                raise UserError("the sample sessions are missing from this installation; install Preheat again")
            os.environ["PREHEAT_HOME"] = folder
            code = _as_json(str(samples)) if as_json else _steps(str(samples), folder)
    finally:
        os.environ.clear()
        os.environ.update(before)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not as_json:
        _print_ending(folder, keep)
    return code


def _steps(samples: str, folder: str) -> int:
    screen = console()
    worst = 0
    for explanation, step in _STEPS:
        words = [{"SAMPLES": samples, "OUTPUT": os.path.join(folder, "session.json")}.get(word, word) for word in step]
        shown = [{"SAMPLES": "samples/", "OUTPUT": "session.json"}.get(word, word) for word in step]
        say(screen, explanation, "dim")
        say(screen, f"$ preheat {' '.join(quote(word) if ' ' in word else word for word in shown)}", "bold green")
        sys.stdout.flush()
        worst = max(worst, main(words))
        say(screen)
    return worst


def _as_json(samples: str) -> int:
    """JSON has only what was read: the report of the sync."""
    return main(["sync", samples, "--json"])


def _print_ending(folder: str, keep: bool) -> None:
    if keep:
        print(f"The archive of the demonstration is in {folder}; use it with\n  export PREHEAT_HOME={folder}")
    else:
        print("The archive of the demonstration was deleted (`preheat demo --keep` keeps it). Next, your own sessions:")
        print("  preheat sync")
