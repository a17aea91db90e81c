"""The command `preheat sessions compress`: a session as a shorter history, and how much of it that keeps.

Knows no strategy: those are in the application.
"""

from typing import TYPE_CHECKING, Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive, open_preheat
from preheat.cli.options import SessionName
from preheat.cli.screen import console, hint, plain_table, print_json, print_table
from preheat.cli.screen import to_json as json_text
from preheat.cli.text import format_bytes, printable
from preheat.errors import UserError
from preheat.model.listing import COMPRESSION_STRATEGIES

if TYPE_CHECKING:
    from preheat.app.sessions.transcripts import Compressed


@click.command(
    "compress",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions compress latest --compare                    what each strategy would keep, in how many tokens
  preheat sessions compress latest -o history.json              messages that a chat interface takes
  preheat sessions compress 0f3c1a2b --strategy mask --keep 20  the last 20 results whole, the others as one line each
  preheat sessions compress 0f3c1a2b --json | jq .messages

Strategies: `markers` keeps what the agent had found out; `mask` replaces older results by a line each; `headtail` keeps the
beginning and the end; `none` is the history as it is. --keep counts calls (`markers`), results (`mask`) or messages at
each end (`headtail`). Tokens are estimated.""",
)
@click.argument("session", type=SessionName())
@click.option(
    "--strategy",
    type=click.Choice(COMPRESSION_STRATEGIES),
    default="markers",
    show_default=True,
    help="How to shorten it.",
)
@click.option("--keep", type=click.IntRange(0), metavar="N", help="How much of the end stays as it is.")
@click.option("--compare", is_flag=True, help="Show the figures of all strategies, and write nothing.")
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write the history there, as JSON messages.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def compress_command(
    session: str, strategy: str, keep: int | None, compare: bool, output: str | None, force: bool, as_json: bool
) -> int:
    """Turn a session into a shorter history that keeps what made it good.

    SESSION is an id, the beginning of one, or `latest`. No model is asked: the same session always gives the same history.
    """
    if compare and output:
        raise click.UsageError("--compare writes nothing; name one strategy to write its history")
    preheat = open_archive()
    if not preheat.archive.find(session).events:
        raise UserError(f"`{session}` has no message, so there is nothing to compress")
    found = preheat.compress_all(session, keep) if compare else [preheat.compress(session, strategy, keep)]
    written = _write(output, found[0], force) if output else None
    if as_json:
        _print(found, compare, written)
        return 0
    _show(found)
    if written is not None:
        print(f"\nWrote `{printable(written['path'])}` ({format_bytes(written['bytes'])}).")
    else:
        name = "--compare shows all strategies; " if not compare else "--strategy NAME "
        hint(f"{name}-o FILE writes the history.")
    return 0


def _write(path: str, found: "Compressed", force: bool) -> dict[str, Any]:
    if not found.messages:
        raise UserError("no part of this session is a message, so there is no history to write")
    document = json_text(found.messages, indent=2).encode() + b"\n"
    open_preheat().exports.save_document(path, document, force)
    return {"path": path, "bytes": len(document)}


def _print(found: "list[Compressed]", compare: bool, written: dict[str, Any] | None) -> None:
    if compare:
        print_json({"strategies": [compression_json(each) for each in found]})
        return
    more = {"written": written} if written is not None else {"messages": found[0].messages}
    print_json({**compression_json(found[0]), **more})


def compression_json(found: "Compressed") -> dict[str, Any]:
    """What a strategy keeps, and in how many tokens, as JSON."""
    return {
        "strategy": found.strategy,
        "keep": found.keep,
        "tokens_before": found.before,
        "tokens_after": found.after,
        "messages_before": found.messages_before,
        "messages_after": len(found.messages),
        "calls": len(found.calls),
        "markers": {sort: {"kept": each.kept, "total": each.total} for sort, each in found.markers.items()},
    }


def _show(found: "list[Compressed]") -> None:
    table = plain_table(padding=(0, 3, 0, 0))
    table.add_column("")
    for each in found:
        table.add_column(each.strategy, justify="right")
    before = found[0]
    table.add_row("tokens before", *(f"{each.before:,}" for each in found))
    table.add_row("tokens after", *(_after(each.after, each.before) for each in found))
    table.add_row(f"messages (of {before.messages_before:,})", *(f"{len(each.messages):,}" for each in found))
    table.add_row("calls", *(f"{len(each.calls):,}" for each in found))
    table.add_row("markers kept")
    for sort in before.markers:
        total = before.markers[sort].total
        cells = [f"{each.markers[sort].kept:,}" if total else "none" for each in found]
        table.add_row(f"  {sort}{f' (of {total:,})' if total else ''}", *cells)
    print_table(console(), table)


def _after(after: int, before: int) -> str:
    return f"{after:,} ({after / before:.0%})" if before else f"{after:,}"
