"""`preheat serve`: the process that the agents' hooks talk to; starts, stops and shows it. The work is in `preheat.daemon`."""

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.text import count, size, span
from preheat.errors import UserError
from preheat.settings import data_folder

if TYPE_CHECKING:
    from preheat.daemon.place import Holder

_PATIENCE = 8.0
_HANDING = 4.0


@click.command(
    cls=Examples,
    epilog="""\
  preheat serve                    start it now
  preheat serve --status           is it there, and how does it go
  preheat serve --stop
  preheat serve --foreground       stay here, for a service manager

Hooks start it when they need it, and it ends by itself when nothing happened for a while: there is nothing to set up.""",
)
@click.option("--foreground", is_flag=True, help="Be the daemon, instead of starting one.")
@click.option("--stop", is_flag=True, help="End the one that runs.")
@click.option("--status", is_flag=True, help="Say whether one runs, and how it goes.")
@click.option(
    "--exit-after", type=click.FloatRange(0.01), default=30.0, show_default=True, metavar="MINUTES",
    help="With --foreground: end after so long without an event.",
)  # fmt: skip
@json_option
def command(foreground: bool, stop: bool, status: bool, exit_after: float, as_json: bool) -> int:
    """Start the process that the agents' hooks talk to; also stop it, or show how it goes."""
    if sys.platform == "win32":
        raise UserError("the daemon needs Unix sockets, which this system does not have")
    if foreground + stop + status > 1:
        raise click.UsageError("--foreground, --stop and --status exclude each other")
    if status:
        return _status(as_json)
    if stop:
        return _stop()
    if foreground:
        from preheat.daemon.process import serve
        from preheat.daemon.server import Times

        try:
            return serve(data_folder(), Times(exit_after=exit_after * 60))
        except OSError as error:
            raise UserError(f"`{error.filename or data_folder()}` cannot be used: {error.strerror}") from error
    return _start()


def _start() -> int:
    from preheat import __version__
    from preheat.daemon import place
    from preheat.daemon.asking import until

    try:
        live = place.prepare()
        place.write_start(live)
    except OSError as error:
        raise UserError(f"`{error.filename or data_folder()}` cannot be used: {error.strerror}") from error
    found = place.holder()
    if found is not None and found.version == __version__:
        print(f"It runs already, as process {found.pid}.")
        return 0
    if found is not None:
        _replace(found)
    if place.holder() is None:
        subprocess.Popen(
            place.start_command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    found = until(True, seconds=_PATIENCE)
    if found is None:
        raise UserError(f"it did not start; `{os.path.join(live, 'daemon.log')}` may say why")
    print(f"It runs, as process {found.pid}.")
    return 0


def _replace(old: "Holder") -> None:
    """A daemon of another version makes room by itself when it sees that this one was started; if not, it is ended."""
    from preheat.daemon.asking import until
    from preheat.daemon.place import holder

    end = time.monotonic() + _HANDING
    while (now := holder()) == old and time.monotonic() < end:
        time.sleep(0.05)
    if now == old:
        os.kill(old.pid, signal.SIGTERM)
        until(False, seconds=_PATIENCE)


def _stop() -> int:
    from preheat.daemon.asking import until
    from preheat.daemon.place import holder

    found = holder()
    if found is None:
        print("None runs.")
        return 0
    os.kill(found.pid, signal.SIGTERM)
    if until(False, seconds=_PATIENCE) is not None:
        raise UserError(f"process {found.pid} does not end; `kill -9 {found.pid}` ends it, and nothing is lost by that")
    print("It has ended.")
    return 0


def _status(as_json: bool) -> int:
    from preheat.daemon.asking import NoAnswer
    from preheat.daemon.asking import status as ask
    from preheat.daemon.place import holder

    found = holder()
    try:
        told = ask() if found is not None else {}
    except NoAnswer as error:
        told = {"troubles": [f"process {found.pid if found else '?'} does not answer: {error}"]}
    if as_json:
        from preheat.cli.screen import print_json

        print_json({"running": found is not None, **told})
    elif found is None:
        print("None runs; the first hook starts it.")
    else:
        if "pid" in told:
            print(f"It runs, as process {told['pid']} of version {told['version']}, for {span(told['seconds'])}.")
            print(
                f"{count(told['events'], 'event')} of {count(told['sessions'], 'session')}, "
                f"{count(told['advisories'], 'advisory', 'advisories')}, {count(told['contexts'], 'context')} given; "
                f"{size(told['memory'])} of memory."
            )
        for trouble in told["troubles"]:
            print(f"! {trouble}")
    return 1 if told.get("troubles") else 0
