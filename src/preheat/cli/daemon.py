"""`preheat admin serve` and `preheat admin output`: the process that the hooks talk to, and the outputs it shortened.

Knows nothing of hook events. Loads no rich, because it stays in the daemon's memory.
"""

import sys
from typing import Any

import click

from preheat.app import open as open_home
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.foreground import EXIT_AFTER, be_daemon
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, print_json
from preheat.cli.text import count, duration, format_bytes
from preheat.errors import UserError


# `preheat admin serve`
@click.command(
    "serve",
    cls=ExampleCommand,
    epilog="""\
  preheat admin serve                    start it now
  preheat admin serve --status           is it running, and what has it done
  preheat admin serve --stop
  preheat admin serve --foreground       stay here, for a service manager

Hooks start it when they need it, and it ends by itself when nothing has happened for a while: there is nothing to set up.""",
)
@click.option("--foreground", is_flag=True, help="Be the daemon, instead of starting one.")
@click.option("--stop", is_flag=True, help="Stop the running one.")
@click.option("--status", is_flag=True, help="Say whether one runs, and what it has done.")
@click.option(
    "--exit-after", type=click.FloatRange(0.01), default=EXIT_AFTER, show_default=True, metavar="MINUTES",
    help="With --foreground: end after this time without an event.",
)  # fmt: skip
@json_option
def serve_command(foreground: bool, stop: bool, status: bool, exit_after: float, as_json: bool) -> int:
    """Start, stop or show the daemon, the process that the agents' hooks talk to."""
    if sys.platform == "win32":
        raise UserError("the daemon needs Unix sockets, which this system does not have")
    if foreground + stop + status > 1:
        raise click.UsageError("--foreground, --stop and --status exclude each other")
    if status:
        return _show(open_home().daemon.status(), as_json)
    if stop:
        print("The daemon has stopped." if open_home().daemon.stop() else "No daemon runs.")
        return 0
    if foreground:
        return be_daemon(exit_after)
    started = open_home().daemon.start()
    print(f"The daemon runs{' already' if started.was_running else ''}, as process {started.holder.pid}.")
    return 0


def _show(state: dict[str, Any], as_json: bool) -> int:
    troubles = state.get("troubles", ())
    if as_json:
        print_json(state)
    elif not state["running"]:
        print("No daemon runs; the first hook starts one.")
    else:
        if "pid" in state:
            print(
                f"The daemon runs, as process {state['pid']} of version {state['version']}, for {duration(state['seconds'])}."
            )
            print(
                f"{count(state['events'], 'event')} of {count(state['sessions'], 'session')}, "
                f"{count(state['advisories'], 'advisory', 'advisories')}, {count(state['contexts'], 'context')} given; "
                f"{format_bytes(state['memory'])} of memory."
            )
        for trouble in troubles:
            print(f"! {trouble}")
    return 1 if troubles else 0


# `preheat admin output`
@click.command(
    "output",
    cls=ExampleCommand,
    epilog="""\
  preheat admin output 3f9a1c0b7d2e                    all of it
  preheat admin output 3f9a1c0b7d2e | grep -n error""",
)
@click.argument("name", metavar="ID")
@json_option
def output_command(name: str, as_json: bool) -> int:
    """Print the whole of an output that was shortened for an agent.

    ID is named in the shortened output. Secrets were removed before it was stored.
    """
    data = open_preheat().read_output(name)
    if as_json:
        print_json({"id": name, "text": data.decode("utf-8", "replace")})
        return 0
    sys.stdout.flush()
    if sys.stdout.isatty():
        sys.stdout.write(clean(data.decode("utf-8", "replace")))
    elif hasattr(sys.stdout, "buffer"):
        sys.stdout.buffer.write(data)
    else:
        sys.stdout.write(data.decode("utf-8", "replace"))
    if not data.endswith(b"\n"):
        sys.stdout.write("\n")
    return 0
