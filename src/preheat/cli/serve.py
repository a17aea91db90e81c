"""`preheat serve`: the process that the agents' hooks talk to; starts, stops and shows it. The work is in `preheat.daemon`."""

import sys
from typing import Any

import click

from preheat.app import open as open_home
from preheat.cli.options import Examples, json_option
from preheat.cli.text import count, size, span
from preheat.errors import UserError
from preheat.settings import data_folder


@click.command(
    "serve",
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
def serve_command(foreground: bool, stop: bool, status: bool, exit_after: float, as_json: bool) -> int:
    """Start the process that the agents' hooks talk to; also stop it, or show how it goes."""
    if sys.platform == "win32":
        raise UserError("the daemon needs Unix sockets, which this system does not have")
    if foreground + stop + status > 1:
        raise click.UsageError("--foreground, --stop and --status exclude each other")
    if status:
        return _show(open_home().daemon.status(), as_json)
    if stop:
        print("It has ended." if open_home().daemon.stop() else "None runs.")
        return 0
    if foreground:
        from preheat.daemon.process import serve  # noqa: PLC0415 - starts another surface

        try:
            return serve(data_folder(), exit_after * 60)
        except OSError as error:
            raise UserError(f"`{error.filename or data_folder()}` cannot be used: {error.strerror}") from error
    started = open_home().daemon.start()
    print(f"It runs{' already' if started.before else ''}, as process {started.holder.pid}.")
    return 0


def _show(told: dict[str, Any], as_json: bool) -> int:
    troubles = told.get("troubles", ())
    if as_json:
        from preheat.cli.screen import print_json  # noqa: PLC0415 - rich, which would stay in a daemon's memory

        print_json(told)
    elif not told["running"]:
        print("None runs; the first hook starts it.")
    else:
        if "pid" in told:
            print(f"It runs, as process {told['pid']} of version {told['version']}, for {span(told['seconds'])}.")
            print(
                f"{count(told['events'], 'event')} of {count(told['sessions'], 'session')}, "
                f"{count(told['advisories'], 'advisory', 'advisories')}, {count(told['contexts'], 'context')} given; "
                f"{size(told['memory'])} of memory."
            )
        for trouble in troubles:
            print(f"! {trouble}")
    return 1 if troubles else 0
