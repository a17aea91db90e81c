"""`preheat sync`: its options. What it does and says is in `syncing.py`, which a plain sync reaches without click."""

import click

from preheat.app.agents import agent_names
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.options import AgentName
from preheat.cli.syncing import sync_archive


@click.command(
    "sync",
    cls=ExampleCommand,
    epilog="""\
  preheat sync                          everything new, of all agents
  preheat sync --agent NAME             of one agent only (`preheat doctor` lists them)
  preheat sync backup/projects          all sessions below a folder, of any agent
  preheat sync run.traj.json --json     one file; the report as JSON

Only what has changed is read. A sync can be stopped at any time: the next one continues from there.
Every line that cannot be read is named on the error stream; the rest is still read, and the exit code is 1.""",
)
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE|FOLDER]...")
@click.option(
    "--agent", "agents", type=AgentName(), multiple=True, metavar="NAME", help="Only this agent (repeatable)."
)
@click.option("--quiet", "-q", is_flag=True, help="Print only problems.")
@json_option
def sync_command(files: tuple[str, ...], agents: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Read what is new into the archive.

    Without FILE, looks where each agent keeps its sessions. Secrets are removed before anything is stored.
    """
    return sync_archive(tuple(agent for agent in agent_names() if agent in agents), files, quiet, as_json)
