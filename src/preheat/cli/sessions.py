"""The commands `preheat sessions`, `preheat sessions read` and `preheat sessions export`: list, show, search and write sessions.

Knows no agent's format, and nothing of how the archive is searched.
"""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import CommandEntry, ExampleCommand, LazyGroup, json_option
from preheat.cli.home import open_archive, open_archive_for_list, open_preheat
from preheat.cli.options import AgentName, SessionName, filter_options, make_filter
from preheat.cli.progress import Display
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.sync_report import MOST_PROBLEMS, limit_lines
from preheat.cli.text import count, format_bytes, printable, short_path
from preheat.model.listing import EXPORT_SUFFIXES, ExportForm, ExportResult

if TYPE_CHECKING:
    from preheat.model.listing import Transcript

_LIMIT = 20
_COMMANDS = {
    "for": CommandEntry("session_commits:for_command", "Say which session made a commit or a pull request."),
    "watch": CommandEntry(
        "watch:watch_command", "Watch running sessions: phase, trust, focus, debt, and the last advisory."
    ),
    "replay": CommandEntry(
        "live:replay_command", "Show a session as it would be watched live: phases, signals, advisories."
    ),
    "explain": CommandEntry("live:explain_command", "Show how the value of every signal of a session is computed."),
    "score": CommandEntry(
        "scorecard:scorecard_command", "Score a session: safety, efficiency, focus, UX, and their mean."
    ),
    "rate": CommandEntry("ledger:rate_command", "Rate a session as good or bad."),
    "compare": CommandEntry("comparison:compare_command", "Compare two sessions, or two sets of sessions."),
    "compress": CommandEntry(
        "compress:compress_command", "Turn a session into a shorter history that keeps what made it good."
    ),
    "delete": CommandEntry("archive:delete_command", "Delete sessions from the archive for good."),
}
"""Those in other modules; the rest are below."""


@click.group(
    "sessions",
    cls=LazyGroup,
    table=_COMMANDS,
    epilog="""\
  preheat sessions list --project . --since 7d
  preheat sessions show latest
  preheat sessions search '"foreign key" migration' --kind command""",
)
def sessions_group() -> None:
    """Read, search, watch and compare sessions; export and delete them."""


@sessions_group.command(
    "list",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions list                                the newest
  preheat sessions list --project . --since 2w         of this project, the last two weeks
  preheat sessions list --model opus --min-messages 100 --all
  preheat sessions list --json --all | jq '.[].key'""",
)
@filter_options
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many."
)
@click.option("--all", "everything", is_flag=True, help="All of them.")
@json_option
def list_command(limit: int, everything: bool, as_json: bool, **options: Any) -> int:
    """List sessions, the newest first."""
    sessions, filters = open_archive_for_list().archive, make_filter(options)
    found = sessions.sessions(filters, None if everything else limit)
    if as_json:
        print_json(found)
        return 0
    if not found:
        hint("No session matches. Use fewer filters, or run `preheat sync` first.")
        return 0
    from preheat.cli.session_screen import show_sessions  # noqa: PLC0415 - rich takes longer than a completion

    total, names = sessions.count(filters), sessions.short_names(each.key for each in found)
    show_sessions(found, names)
    more = f"{len(found):,} of {count(total, 'session')}; --all lists them all. " if total > len(found) else ""
    hint(f"{more}`preheat sessions show {names[found[0].key]}` shows one.")
    return 0


@sessions_group.command(
    "show",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions show latest
  preheat sessions show 0f3c1a2b --calls | less -R     with the inputs and outputs of calls
  preheat sessions show 0f3c1a2b --raw > copy.jsonl    the bytes as the agent wrote them (secrets removed)""",
)
@click.argument("session", type=SessionName())
@click.option("--calls", is_flag=True, help="Show the input and output of calls, cut when long.")
@click.option("--full", is_flag=True, help="Show everything, thoughts too, and cut nothing.")
@click.option("--raw", is_flag=True, help="Write the stored bytes of its file.")
@json_option
def show_command(session: str, calls: bool, full: bool, raw: bool, as_json: bool) -> int:
    """Show one session as a transcript.

    SESSION is an id, the beginning of one, or `latest`. A call is one line: whether it worked (as `preheat report profile`
    and `preheat sessions replay` judge it), the tool, its input, the size of its output, and how long it took.
    """
    home = open_archive()
    sessions = home.archive
    if raw:
        sessions.write_source(session, sys.stdout.buffer.write)
        return 0
    found = sessions.transcript(session)
    key = f"{found.session.agent}:{found.session.id}"
    arm = home.experiments.find_arm(key)
    if as_json:
        print_json({**transcript_json(found), "assignment": arm, "version_control": home.commits(key)})
        return 0
    from preheat.cli.session_screen import (  # noqa: PLC0415 - rich, too
        Folding,
        show_children,
        show_commits,
        show_transcript,
    )

    screen = console()
    show_transcript(screen, found, Folding(calls=calls or full, reasoning=full, cap=None if full else 2000), arm)
    show_children(screen, sessions.children(key))
    show_commits(screen, home.commits(key))
    say(screen)
    say(screen, f"Read from {short_path(sessions.source_path(key))}", "dim")
    return 0


def transcript_json(transcript: "Transcript") -> dict[str, Any]:
    """A session for JSON: its own fields, and the outcome of each call."""
    session = transcript.session
    fields = {name: getattr(session, name) for name in session.__struct_fields__}
    return {**fields, "outcomes": transcript.calls}


@sessions_group.command(
    "search",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions search migration failed             both words, in any order
  preheat sessions search '"no such table"'            these words together
  preheat sessions search 'migrat*' --project . --since 30d
  preheat sessions search pytest --kind command        only in commands that were run""",
)
@click.argument("words", nargs=-1, required=True)
@filter_options
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(["human", "assistant", "command"]),
    multiple=True,
    help="Only in messages of people or of the assistant, or in commands (repeatable).",
)
@click.option(
    "--limit", type=click.IntRange(1), default=_LIMIT, show_default=True, metavar="N", help="At most this many."
)
@json_option
def search_command(words: tuple[str, ...], kinds: tuple[str, ...], limit: int, as_json: bool, **options: Any) -> int:
    """Search messages of people and agents, and the commands that were run.

    All WORDS must be in the same message; the best matches come first.
    """
    text, sessions = " ".join(words), open_archive().archive
    hits = sessions.search(text, make_filter(options), kinds, limit)
    if as_json:
        print_json(hits)
        return 0
    if not hits:
        beginning = text.split()[0].strip('"*')
        hint(f"Nothing found for `{text}`. Fewer words, or a beginning such as `{beginning}*`, find more.")
        return 0
    from preheat.cli.session_screen import show_hits  # noqa: PLC0415 - rich takes longer than a completion

    names = sessions.short_names(hit.session.key for hit in hits)
    show_hits(hits, names, sessions.search_terms(text))
    if len(hits) == limit:
        hint(f"The best {limit}; `--limit` gives more.")
    return 0


# `preheat sessions read`
MOST_SESSIONS = 10


@sessions_group.command(
    "read",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions read 0f3c1a2b.jsonl                    its agent and what is in it
  preheat sessions read rollout.jsonl --transcript        the conversation itself
  preheat sessions read state.db --json | jq '.[].id'     everything, for programs

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
        from preheat.cli.session_screen import (  # noqa: PLC0415 - rich takes longer than a completion
            Folding,
            heading_lines,
            show_transcript,
        )

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


# `preheat sessions export`
@sessions_group.command(
    "export",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions export latest                                 canonical events as JSON lines, to the screen
  preheat sessions export latest --format html -o session.html   a page to read or to share
  preheat sessions export 0f3c1a2b --format atif -o run.json     a trajectory for Harbor and its tools
  preheat sessions export --all --project . --format atif -o trajectories/
  preheat sessions export 0f3c1a2b --format openai -o chat.json  messages that a chat interface takes
  preheat sessions export 0f3c1a2b --format raw -o copy.jsonl    the agent's own bytes (secrets removed)""",
)
@click.argument("session", type=SessionName(), required=False)
@click.option(
    "--format", "form", type=click.Choice(list(EXPORT_SUFFIXES)), default="jsonl", show_default=True,
    help="ATIF v1.7, one canonical event per line, OpenAI chat messages, the stored bytes, or a document to read or share.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Write there instead of to the screen.")
@click.option(
    "--all", "everything", is_flag=True, help="Every session that matches the filters, into the folder given by -o."
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@filter_options
@json_option
def export_command(
    session: str | None,
    form: ExportForm,
    output: str | None,
    everything: bool,
    force: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Write sessions as Markdown, HTML, ATIF, JSONL, chat messages or raw bytes.

    One SESSION (an id, the beginning of one, or `latest`), or with --all a folder full of them. Documents (Markdown, HTML) are
    searched once more for secrets, by today's rules, and say `~` for your home folder: read them before you share them.
    """
    filters = make_filter(options)
    if everything == (session is not None):
        raise click.UsageError("name one session, or give --all with a folder")
    if session is None and not output:
        raise click.UsageError("--all needs a folder: -o FOLDER")
    exports = open_archive().exports
    if session is None:
        with Display() as progress:
            done = exports.save_all(filters, form, str(output), force, progress)
        _report(done, as_json, str(output))
        return 1 if done.left_out else 0
    if output is None or output == "-":
        sys.stdout.flush()
        exports.write(session, form, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        _report(ExportResult([exports.save(session, form, output, force)], []), as_json)
    return 0


def _report(done: ExportResult, as_json: bool, folder: str = "") -> None:
    if as_json:
        print_json({"files": [file._asdict() for file in done.files], "left_out": done.left_out})
    elif folder:
        total = sum(file.bytes for file in done.files)
        print(f"Wrote {count(len(done.files), 'session')} to `{printable(folder)}` ({format_bytes(total)}).")
    else:
        print(f"Wrote `{printable(done.files[0].path)}` ({format_bytes(done.files[0].bytes)}).")
    for line in done.left_out[:MOST_PROBLEMS]:
        print(printable(line), file=sys.stderr)
    if len(done.left_out) > MOST_PROBLEMS:
        print(f"and {len(done.left_out) - MOST_PROBLEMS:,} more left out", file=sys.stderr)
