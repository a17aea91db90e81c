"""The command `preheat` itself: its subcommands by name, the screen it shows without one, and tab completion.

Knows its commands by name only, so that nothing is imported to list them.
"""

from typing import Any

import click
from click.shell_completion import get_completion_class

from preheat import __version__
from preheat.cli.command import CommandEntry, ExampleCommand, LazyGroup, json_option

COMMANDS = {
    "sync": CommandEntry("archive:sync_command", "Read what is new into the archive."),
    "read": CommandEntry("sessions:read_command", "Look into one file without the archive."),
    "sessions": CommandEntry("sessions:sessions_group", "List, show and search the sessions in the archive."),
    "profile": CommandEntry("profile:profile_command", "Say how reliable the agent was: in one session, or over many."),
    "mistakes": CommandEntry(
        "mistakes:mistakes_command", "Show the mistakes that sessions repeat, what they cost, and what fixes them."
    ),
    "cost": CommandEntry(
        "cost:cost_command", "Show what sessions cost: tokens and money by day, project, model, agent or session."
    ),
    "learn": CommandEntry(
        "lessons:learn_command", "Learn from the sessions in the archive: what works, what does not, what fixes it."
    ),
    "projects": CommandEntry("projects:projects_group", "Show which sessions belong to one project, and correct it."),
    "lessons": CommandEntry(
        "lessons:lessons_group", "List and show what was learned, with its evidence; pin and retire it."
    ),
    "where": CommandEntry("where:where_command", "Say which files a prompt will need, and why."),
    "warm": CommandEntry("warm:warm_group", "Keep what was learned as templates, and start new sessions warm with it."),
    "compress": CommandEntry(
        "compress:compress_command", "Turn a session into a shorter history that keeps what made it good."
    ),
    "replay": CommandEntry(
        "live:replay_command", "Show a session as it would be watched live: phases, signals, advisories."
    ),
    "why": CommandEntry("live:why_command", "Show how the value of every signal of a session is computed."),
    "scorecard": CommandEntry(
        "scorecard:scorecard_command", "Score a session: safety, efficiency, focus, UX, and their mean."
    ),
    "compare": CommandEntry("comparison:compare_command", "Compare two sessions, or two sets of sessions."),
    "compress-check": CommandEntry(
        "comparison:compress_check_command", "Say whether agents work as well after a compaction as before."
    ),
    "export": CommandEntry("sessions:export_command", "Write sessions as ATIF, JSONL, chat messages or raw bytes."),
    "dataset": CommandEntry(
        "dataset:dataset_group", "Publish what sessions show, without anything that identifies people or projects."
    ),
    "install": CommandEntry("install:install_command", "Have an agent call Preheat while it works."),
    "uninstall": CommandEntry("install:uninstall_command", "Remove Preheat from an agent's settings."),
    "status": CommandEntry("install:status_command", "Say which agents call Preheat, and whether it works."),
    "serve": CommandEntry(
        "daemon:serve_command", "Start, stop or show the daemon, the process that the agents' hooks talk to."
    ),
    "open": CommandEntry("pages:open_command", "Look at sessions, mistakes, lessons and effects in a browser."),
    "report": CommandEntry("pages:report_group", "Write what happened as a file to hand on."),
    "watch": CommandEntry(
        "live:watch_command", "Watch running sessions: phase, trust, focus, debt, and the last advisory."
    ),
    "experiment": CommandEntry("experiment:experiment_group", "Find out by random assignment whether Preheat helps."),
    "lab": CommandEntry(
        "lab:lab_group",
        "Compare arms on tasks of your own: does starting warm help, how much of it, and in which form?",
    ),
    "rate": CommandEntry("ledger:rate_command", "Rate a session as good or bad."),
    "ledger": CommandEntry(
        "ledger:ledger_command", "Show every finished experiment and its result, null results included."
    ),
    "output": CommandEntry("daemon:output_command", "Print the whole of an output that was shortened for an agent."),
    "tool": CommandEntry("tool:tool_command", "Run a tool as a model would, or list them: JSON in, JSON out."),
    "mcp": CommandEntry("mcp:mcp_command", "Serve what Preheat knows to any agent that speaks MCP."),
    "doctor": CommandEntry(
        "doctor:doctor_command", "Check the agents' folders and the archive, and say what is wrong."
    ),
    "tree": CommandEntry(
        "tree:tree_group", "Index working trees, so that a prompt's files can be found; list and delete that."
    ),
    "forget": CommandEntry("archive:forget_command", "Delete sessions from the archive for good."),
    "demo": CommandEntry("demo:demo_command", "See Preheat at work on sample sessions."),
    "completion": CommandEntry("root:completion_command", "Print the tab completion for your shell."),
}


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
  preheat                          what is on this machine, and what to do next
  preheat sync                     read everything new
  preheat sessions search migration error
  preheat sessions show latest
  preheat mistakes --project .     repeated mistakes here, and what fixes them
  preheat learn                    what works, what does not, what fixes it
  preheat warm start --task "fix the login test"

The archive is in PREHEAT_HOME, or in your system's folder for program data; only you can read it.
Nothing leaves this machine.
Exit codes: 0 all good; 1 done, but something could not be read; 2 not done, and the message says why.""",
)
@click.version_option(__version__, message="preheat %(version)s")
@json_option
@click.pass_context
def root(context: click.Context, as_json: bool) -> Any:
    """Starts every session of a coding agent with what earlier sessions found out.

    Preheat reads the transcripts that agents leave (and delete after a while), removes the secrets, stores them, judges every
    tool call, learns what works and what goes wrong in each project, and gives the right part of it to a new session.
    """
    if context.invoked_subcommand is None:
        from preheat.cli.doctor import show_overview  # noqa: PLC0415 - loads rich

        return show_overview(as_json)
    return None


# `preheat completion`
_INSTALL = {
    "bash": '# To keep it, add this line to ~/.bashrc:\n#   eval "$(preheat completion bash)"',
    "zsh": '# To keep it, add this line to ~/.zshrc, after compinit:\n#   eval "$(preheat completion zsh)"',
    "fish": "# To keep it:\n#   preheat completion fish > ~/.config/fish/completions/preheat.fish",
}


@click.command(
    "completion",
    cls=ExampleCommand,
    epilog="""\
  eval "$(preheat completion bash)"                   try it in this shell
  preheat completion fish > ~/.config/fish/completions/preheat.fish""",
)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@json_option
def completion_command(shell: str, as_json: bool) -> None:
    """Print the tab completion for your shell.

    Completes commands, options, agents' names and the ids of sessions.
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for `{shell}`")
    script = f"{_INSTALL[shell]}\n{completion(root, {}, 'preheat', '_PREHEAT_COMPLETE').source()}"
    if as_json:
        from preheat.cli.screen import print_json  # noqa: PLC0415 - every shell that starts runs this command, and not for JSON

        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)
