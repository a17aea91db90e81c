"""The group `preheat templates`: sets of lessons with a name. Knows its commands by name only."""

import click

from preheat.cli.command import CommandEntry, LazyGroup

COMMANDS = {
    "load": CommandEntry("template_library:load_command", "Have new sessions of a project start with a template."),
    "test": CommandEntry("start:test_command", "Show the exact messages that a template gives for a task."),
    "extract": CommandEntry("template_build:extract_command", "Make a template from one session."),
    "build": CommandEntry("template_build:build_command", "Make a template from many sessions."),
    "auto": CommandEntry("template_build:auto_command", "Make a template for each project from its best sessions."),
    "train": CommandEntry(
        "template_build:train_command", "Run a suite of tasks with a real agent, and keep what it learned."
    ),
    "list": CommandEntry("template_library:list_command", "List the templates."),
    "show": CommandEntry("template_library:show_command", "Show the lessons of a template, and their evidence."),
    "diff": CommandEntry("template_library:diff_command", "Show what changed from one version to another."),
    "history": CommandEntry("template_library:history_command", "List the versions of a template."),
    "rollback": CommandEntry("template_library:rollback_command", "Go back to an earlier version."),
    "delete": CommandEntry("template_library:delete_command", "Delete a template; `restore` brings it back."),
    "restore": CommandEntry("template_library:restore_command", "Bring a deleted template back."),
    "export": CommandEntry("template_share:export_command", "Write a template as one file to share."),
    "import": CommandEntry("template_share:import_command", "Import a template from a file; it waits for a review."),
    "review": CommandEntry("template_share:review_command", "Review an imported template, and accept or reject it."),
    "schema": CommandEntry("template_share:schema_command", "Print the JSON schema of template files."),
}


@click.group(
    "templates",
    cls=LazyGroup,
    table=COMMANDS,
    epilog="""\
  preheat templates build mine --project .          from the sessions of this project
  preheat templates test mine "fix the login test"  what a session would get
  preheat start --task "fix the login test"
  preheat templates load mine                       new sessions here start with it
  preheat templates diff mine@-1 mine               what the last build changed""",
)
def templates_group() -> None:
    """Keep what was learned as templates; build, share and load them.

    A template is a set of lessons with a name. Its versions never change; each has the hash of its content. NAME is the
    present version, NAME@3fa2 the one whose hash begins so, NAME@-1 the one before.
    """
