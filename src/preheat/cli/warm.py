"""`preheat warm`: templates, and sessions that start warm with them. Its commands by name; each has a module of its own."""

import click

from preheat.cli.lazy import LazyGroup

COMMANDS = {
    "start": "Print what a new session should know, for a task.",
    "load": "Have new sessions of a project start with a template.",
    "test": "Show the exact messages that a template gives for a task.",
    "extract": "Make a template from one session.",
    "build": "Make a template from many sessions.",
    "auto": "Make a template for each project from its best sessions.",
    "train": "Run a suite of tasks with a real agent, and keep what it learned.",
    "list": "List the templates.",
    "show": "Show what is in a template, and what it rests on.",
    "diff": "Show what changed from one version to another.",
    "history": "List the versions of a template.",
    "rollback": "Go back to an earlier version.",
    "delete": "Delete a template; `restore` brings it back.",
    "restore": "Bring a deleted template back.",
    "export": "Write a template as one file to share.",
    "import": "Take in a template from a file; it waits for a review.",
    "review": "Look through an imported template, and accept or reject it.",
    "schema": "Print the JSON schema of template files.",
    "analyze": "Say how reliable the agent was: in one session, or over many.",
    "compare": "Compare two sessions, or two sets of sessions.",
    "compress-check": "Say whether agents work as well after a compaction as before.",
}
"""With the first line of their help; a test holds it to that. The last three are the commands of the same kind beside `warm`."""
OLDER = {"create-template": "extract", "list-templates": "list"}
"""What the first implementations called them."""


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    modules="preheat.cli.warm_",
    older=OLDER,
    epilog="""\
  preheat warm build mine --project .          from the sessions of this project
  preheat warm test mine "fix the login test"  what a session would be told
  preheat warm start --task "fix the login test"
  preheat warm load mine                       new sessions here start with it
  preheat warm diff mine@-1 mine               what the last build changed""",
)
def command() -> None:
    """Keep what was learned as templates, and start new sessions warm with it.

    A template is a chosen set of lessons under a name. Its versions never change: each is called by the hash of what is
    in it. NAME stands for the present one, NAME@3fa2 for one by the beginning of its hash, NAME@-1 for the one before.
    """
