"""The command `preheat admin mcp`: serves the tools to programs that speak the Model Context Protocol.

Knows nothing of the protocol: the server is in `preheat.mcp`.
"""

import json
import os
import sys

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.errors import UserError
from preheat.settings import data_folder

PORT = 8977
_NEEDS = "mcp>=2.3"


@click.command(
    "mcp",
    cls=ExampleCommand,
    epilog=f"""\
  preheat admin mcp                                  over standard input and output; a client starts it
  preheat admin mcp --http                           on http://127.0.0.1:{PORT}/mcp, with a token
  preheat admin mcp --http --port 0 --json           on any free port; prints where, for programs
  preheat admin mcp --project ~/work/shop            for this project, if the client names none

Most clients need only this configuration:
  {{"mcpServers": {{"preheat": {{"command": "preheat", "args": ["mcp"]}}}}}}
docs/guides/mcp.md has the rest. `preheat admin tool` gives the same answers without a server.""",
)
@click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="With --http: listen here.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, metavar="N",
    help="With --http: on this port; 0 takes a free one.",
)  # fmt: skip
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME",
    help="With --http: also answer to this name (repeatable).",
)  # fmt: skip
@click.option("--project", metavar="FOLDER", help="The project, if the client names none.  [default: this folder]")
@json_option
def mcp_command(http: bool, host: str, port: int, names: tuple[str, ...], project: str | None, as_json: bool) -> int:
    """Serve what Preheat knows to any agent that speaks MCP.

    Tools for a model to call, a prompt for a warm start, and templates as resources. Over HTTP it answers only this machine
    unless `--host` says otherwise, and only requests with the token that is printed at the start.
    """
    cwd = os.path.abspath(os.path.expanduser(project)) if project else _here()
    if project and not os.path.isdir(cwd):
        raise UserError(f"`{project}` is not a folder; give the folder of the project")
    source_of = click.get_current_context().get_parameter_source
    if not http and any(
        source_of(name) is click.core.ParameterSource.COMMANDLINE for name in ("host", "port", "names", "as_json")
    ):
        raise click.UsageError(
            "--host, --port, --allow-host and --json are for --http: without it standard output is the protocol"
        )
    try:
        if http:
            return _over_http(cwd, host, port, names, as_json)
        from preheat.mcp.stdio import serve_stdio  # noqa: PLC0415 - the SDK is heavy and optional
    except ImportError as error:
        raise UserError(_explain_missing(error)) from error
    if sys.stdin.isatty():
        print("preheat: waiting for an MCP client on standard input; Ctrl-C ends it", file=sys.stderr)
    return serve_stdio(data_folder(), cwd)


def _over_http(cwd: str, host: str, port: int, names: tuple[str, ...], as_json: bool) -> int:
    from preheat.mcp.http import is_loopback, serve_http  # noqa: PLC0415 - the SDK is heavy and optional

    token = open_preheat().daemon.address().token
    if not is_loopback(host):
        print(f"preheat: `{host}` can be reached from other machines; only the token protects it", file=sys.stderr)

    def print_address(url: str) -> None:
        if as_json:
            print(json.dumps({"url": url, "headers": {"Authorization": f"Bearer {token}"}}), flush=True)
            return
        print(f"preheat: serving MCP on {url}; Ctrl-C ends it", file=sys.stderr)
        print(f"preheat: clients must send the header `Authorization: Bearer {token}`", file=sys.stderr, flush=True)

    return serve_http(data_folder(), cwd, host, port, token, names, print_address)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")


def _explain_missing(error: ImportError) -> str:
    """Which package is missing, and how to install it into this environment."""
    install = f'`{sys.executable} -m pip install "{_NEEDS}"`'
    return f"`preheat admin mcp` needs the MCP SDK ({_NEEDS}), and `{error.name or 'mcp'}` is missing; {install} installs it"
