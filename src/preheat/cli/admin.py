"""The group `preheat admin`: what looks after Preheat itself. Knows its commands by name only."""

import click

from preheat.cli.command import CommandEntry, LazyGroup

_COMMANDS = {
    "doctor": CommandEntry(
        "doctor:doctor_command", "Check the agents' folders and the archive, and say what is wrong."
    ),
    "serve": CommandEntry(
        "daemon:serve_command", "Start, stop or show the daemon, the process that the agents' hooks talk to."
    ),
    "mcp": CommandEntry("mcp:mcp_command", "Serve what Preheat knows to any agent that speaks MCP."),
    "tool": CommandEntry("tool:tool_command", "Run a tool as a model would, or list them: JSON in, JSON out."),
    "output": CommandEntry("daemon:output_command", "Print the whole of an output that was shortened for an agent."),
    "tree": CommandEntry(
        "tree:tree_group", "Index working trees, so that a prompt's files can be found; list and delete that."
    ),
    "dataset": CommandEntry(
        "dataset:dataset_group", "Publish what sessions show, without anything that identifies people or projects."
    ),
    "completion": CommandEntry("completion:completion_command", "Print the tab completion for your shell."),
}


@click.group(
    "admin",
    cls=LazyGroup,
    table=_COMMANDS,
    epilog="""\
  preheat admin doctor                 is everything where it should be?
  preheat admin serve --stop
  preheat admin tree list""",
)
def admin_group() -> None:
    """Look after Preheat itself: its health, daemon, tools and files."""
