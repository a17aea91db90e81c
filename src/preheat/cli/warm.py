"""The group `preheat warm`: templates, and sessions that start with them. Knows its commands by name only: `warm start` is to be
fast, and loads nothing of the others."""

import click

from preheat.cli.command import CommandEntry, LazyGroup

COMMANDS = {
    "start": CommandEntry("warm_start:start_command", "Print what a new session should know, for a task."),
    "load": CommandEntry("warm_templates:load_command", "Have new sessions of a project start with a template."),
    "test": CommandEntry("warm_start:test_command", "Show the exact messages that a template gives for a task."),
    "extract": CommandEntry("warm_build:extract_command", "Make a template from one session."),
    "build": CommandEntry("warm_build:build_command", "Make a template from many sessions."),
    "auto": CommandEntry("warm_build:auto_command", "Make a template for each project from its best sessions."),
    "train": CommandEntry(
        "warm_build:train_command", "Run a suite of tasks with a real agent, and keep what it learned."
    ),
    "list": CommandEntry("warm_templates:list_command", "List the templates."),
    "show": CommandEntry("warm_templates:show_command", "Show the lessons of a template, and their evidence."),
    "diff": CommandEntry("warm_templates:diff_command", "Show what changed from one version to another."),
    "history": CommandEntry("warm_templates:history_command", "List the versions of a template."),
    "rollback": CommandEntry("warm_templates:rollback_command", "Go back to an earlier version."),
    "delete": CommandEntry("warm_templates:delete_command", "Delete a template; `restore` brings it back."),
    "restore": CommandEntry("warm_templates:restore_command", "Bring a deleted template back."),
    "export": CommandEntry("warm_share:export_command", "Write a template as one file to share."),
    "import": CommandEntry("warm_share:import_command", "Import a template from a file; it waits for a review."),
    "review": CommandEntry("warm_share:review_command", "Review an imported template, and accept or reject it."),
    "schema": CommandEntry("warm_share:schema_command", "Print the JSON schema of template files."),
    "analyze": CommandEntry(
        "profile:profile_command",
        "Say how reliable the agent was: in one session, or over many.",
        same_as="preheat profile",
    ),
    "compare": CommandEntry(
        "comparison:compare_command", "Compare two sessions, or two sets of sessions.", same_as="preheat compare"
    ),
    "compress-check": CommandEntry(
        "comparison:compress_check_command",
        "Say whether agents work as well after a compaction as before.",
        same_as="preheat compress-check",
    ),
}
"""The last three are also commands of their own, beside `warm`."""
OLDER = {"create-template": "extract", "list-templates": "list"}
"""Names of the first implementations."""


@click.group(
    "warm",
    cls=LazyGroup,
    table=COMMANDS,
    older=OLDER,
    epilog="""\
  preheat warm build mine --project .          from the sessions of this project
  preheat warm test mine "fix the login test"  what a session would get
  preheat warm start --task "fix the login test"
  preheat warm load mine                       new sessions here start with it
  preheat warm diff mine@-1 mine               what the last build changed""",
)
def warm_group() -> None:
    """Keep what was learned as templates, and start new sessions warm with it.

    A template is a set of lessons with a name. Its versions never change; each has the hash of its content. NAME is the
    present version, NAME@3fa2 the one whose hash begins so, NAME@-1 the one before.
    """
