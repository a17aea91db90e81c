"""`preheat output`: the whole of an output that was shortened. Keeping it is `preheat.app.live.outputs`' work."""

import sys

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import clean, print_json


@click.command(
    "output",
    cls=ExampleCommand,
    epilog="""\
  preheat output 3f9a1c0b7d2e                    all of it
  preheat output 3f9a1c0b7d2e | grep -n error""",
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
