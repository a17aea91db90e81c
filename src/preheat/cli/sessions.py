"""`preheat sessions`: list, show and search what is in the archive.

The questions are answered by `preheat.app.sessions.archive`.
"""

import sys
from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.home import open_archive, open_archive_for_list
from preheat.cli.options import SessionName, filter_options, make_filter
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.text import count, short_path

if TYPE_CHECKING:
    from preheat.model.transcript import Transcript

_LIMIT = 20


@click.group(
    "sessions",
    cls=ExampleGroup,
    epilog="""\
  preheat sessions list --project . --since 7d
  preheat sessions show latest
  preheat sessions search '"foreign key" migration' --kind command""",
)
def sessions_group() -> None:
    """List, show and search the sessions in the archive."""


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
    from preheat.cli.listing import show_sessions  # noqa: PLC0415 - rich takes longer than a completion

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

    SESSION is an id, the beginning of one, or `latest`. A call is one line: whether it worked (as `preheat profile`
    and `preheat replay` judge it), the tool, its input, the size of its output, and how long it took.
    """
    sessions = open_archive().archive
    if raw:
        sessions.write_source(session, sys.stdout.buffer.write)
        return 0
    found = sessions.transcript(session)
    if as_json:
        print_json(transcript_json(found))
        return 0
    from preheat.cli.listing import show_children  # noqa: PLC0415 - rich takes longer than a completion
    from preheat.cli.transcript import Folding, show_transcript  # noqa: PLC0415 - rich, too

    key = f"{found.session.agent}:{found.session.id}"
    screen = console()
    show_transcript(screen, found, Folding(calls=calls or full, reasoning=full, cap=None if full else 2000))
    show_children(screen, sessions.children(key))
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
    from preheat.cli.listing import show_hits  # noqa: PLC0415 - rich takes longer than a completion

    names = sessions.short_names(hit.session.key for hit in hits)
    show_hits(hits, names, sessions.search_terms(text))
    if len(hits) == limit:
        hint(f"The best {limit}; `--limit` gives more.")
    return 0
