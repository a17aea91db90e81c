"""`preheat read`: looks into one file with the reader that fits it. Touches no archive and changes nothing."""

import sys
from collections import Counter

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.options import AgentName
from preheat.cli.screen import console, print_json, say
from preheat.cli.summary import MOST_PROBLEMS, limit_lines
from preheat.cli.text import count

MOST_SESSIONS = 10


@click.command(
    "read",
    cls=ExampleCommand,
    epilog="""\
  preheat read 0f3c1a2b.jsonl                    its agent and what is in it
  preheat read rollout.jsonl --transcript        the conversation itself
  preheat read state.db --json | jq '.[].id'     everything, for programs

The file is shown as it is: secrets are removed only when a session is stored in the archive.""",
)
@click.argument("file", type=click.Path())
@click.option(
    "--agent",
    type=AgentName(),
    metavar="NAME",
    help="Read it as this agent's file.  [default: by its content]",
)
@click.option("--transcript", is_flag=True, help="Show the conversation like `preheat sessions show`.")
@click.option(
    "--full", is_flag=True, help="Leave nothing out: every session, every problem, every call and its output."
)
@json_option
def read_command(file: str, agent: str | None, transcript: bool, full: bool, as_json: bool) -> int:
    """Look into one file without the archive.

    Says which agent wrote it, what is in it, and which lines cannot be read (then the exit code is 1).
    """
    sessions = open_preheat().read_file(file, agent)
    problems = [str(problem) for session in sessions for problem in session.problems]
    if not sessions:
        problems.append(f"{file}: no session in it")
    if as_json:
        print_json(sessions)
    else:
        from preheat.cli.heading import heading_lines  # noqa: PLC0415 - shares its module with what loads rich
        from preheat.cli.transcript import Folding, show_transcript  # noqa: PLC0415 - rich takes longer than a completion

        screen = console()
        shown = sessions if full or len(sessions) <= MOST_SESSIONS else sessions[:MOST_SESSIONS]
        for session in shown:
            found = open_preheat().judge(session)
            if transcript:
                show_transcript(screen, found, Folding(calls=full, reasoning=full, cap=None if full else 2000))
            else:
                for line, style in heading_lines(found):
                    say(screen, line, style)
                kinds = Counter(type(event).__struct_config__.tag for event in session.events)
                events = ", ".join(f"{kind} {number:,}" for kind, number in kinds.most_common())
                say(screen, f"  events: {events or 'none'}")
            say(screen)
        if len(shown) < len(sessions):
            say(screen, f"and {count(len(sessions) - len(shown), 'more session')}; `--full` shows them all")
    lines = problems if full or len(problems) <= MOST_PROBLEMS else limit_lines(problems)[:-1]
    for line in lines:
        print(line, file=sys.stderr)
    if len(problems) > len(lines):
        print(f"and {len(problems) - len(lines):,} more; `--full` lists them", file=sys.stderr)
    return 1 if problems else 0
