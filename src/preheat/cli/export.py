"""`preheat export`: writes sessions in forms that other programs read.

The forms themselves are in `preheat.exports`.
"""

import os
import sqlite3
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from preheat.cli.options import Examples, SessionName, archive, chosen, filter_options, json_option
from preheat.cli.text import count, printable, size
from preheat.errors import UserError
from preheat.files import AS_USUAL, stream_whole

if TYPE_CHECKING:
    from preheat.model.session import Session

_ENDINGS = {"atif": ".json", "jsonl": ".jsonl", "openai": ".chat.json", "raw": ".raw"}


@click.command(
    cls=Examples,
    epilog="""\
  preheat export latest                                 canonical events as JSON lines, to the screen
  preheat export 0f3c1a2b --format atif -o run.json     a trajectory for Harbor and its tools
  preheat export --all --project . --format atif -o trajectories/
  preheat export 0f3c1a2b --format openai -o chat.json  messages that a chat interface takes
  preheat export 0f3c1a2b --format raw -o copy.jsonl    the agent's own bytes (secrets taken out)""",
)
@click.argument("session", type=SessionName(), required=False)
@click.option(
    "--format", "form", type=click.Choice(list(_ENDINGS)), default="jsonl", show_default=True,
    help="ATIF v1.7, canonical events one a line, OpenAI chat messages, or the stored bytes.",
)  # fmt: skip
@click.option("-o", "--output", metavar="FILE|FOLDER", help="Write there instead of to the screen.")
@click.option(
    "--all", "everything", is_flag=True, help="Every session that the filters leave, into the folder given by -o."
)
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@filter_options
@json_option
def command(
    session: str | None, form: str, output: str | None, everything: bool, force: bool, as_json: bool, **options: Any
) -> int:
    """Write sessions as ATIF, JSONL, chat messages or raw bytes.

    One SESSION (an id, the beginning of one, or `latest`), or with --all a folder full of them.
    """
    wanted = chosen(options)
    if everything == (session is not None):
        raise click.UsageError("name one session, or give --all with a folder")
    with archive() as connection:
        if session is not None:
            return _one(connection, session, form, output, force, as_json)
        if not output:
            raise click.UsageError("--all needs a folder: -o FOLDER")
        return _all(connection, wanted, form, output, force, as_json)


def _one(connection: sqlite3.Connection, name: str, form: str, output: str | None, force: bool, as_json: bool) -> int:
    from preheat.archive.queries import find

    key = find(connection, name).key
    if output is None or output == "-":
        sys.stdout.flush()
        _write(connection, key, form, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return 0
    if os.path.isdir(output):
        output = os.path.join(output, file_name(key, form))
    save_whole(output, force, lambda stream: _write(connection, key, form, stream))
    _report([(key, output)], [], as_json)
    return 0


def _all(connection: sqlite3.Connection, wanted: Any, form: str, folder: str, force: bool, as_json: bool) -> int:
    from preheat.archive.queries import sessions
    from preheat.cli.progress import Bar

    found = sessions(connection, wanted)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UserError(f"`{folder}` is a file; give -o a folder")
    os.makedirs(folder, exist_ok=True)
    written: list[tuple[str, str]] = []
    left_out: list[str] = []
    bar = Bar("Exporting", len(found))
    try:
        for summary in found:
            path = os.path.join(folder, file_name(summary.key, form))
            try:
                save_whole(path, force, lambda stream, key=summary.key: _write(connection, key, form, stream))  # type: ignore[misc]
                written.append((summary.key, path))
            except UserError as error:
                left_out.append(str(error))
            bar.step(1, f"{len(written):,} written")
    finally:
        bar.close()
    _report(written, left_out, as_json, folder)
    return 1 if left_out else 0


def file_name(key: str, form: str) -> str:
    """A name for the file of a session that every file system takes; different sessions have different ones."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in key)
    if len(plain) > 150:
        from preheat.model.ids import number_of

        plain = f"{plain[:120]}-{number_of(key) & 0xFFFFFFFFFFFFFFFF:016x}"
    return f"{plain}{_ENDINGS[form]}"


def _write(connection: sqlite3.Connection, key: str, form: str, stream: BinaryIO) -> None:
    from preheat.app import stages as pipeline

    if form == "raw":
        pipeline.raw_bytes(connection, key, stream.write)
        return
    session = pipeline.load(connection, key)
    if form == "jsonl":
        from preheat.exports.jsonl import lines

        for line in lines(session):
            stream.write(line + b"\n")
        return
    from preheat.cli.screen import as_json

    made, needed = _document(session, form)
    if not made[needed]:
        raise UserError(f"`{key}` has no message, and this form needs one; `--format jsonl` takes it")
    stream.write(as_json(made, indent=2).encode() + b"\n")


def _document(session: "Session", form: str) -> tuple[dict[str, Any], str]:
    """The session in a form that is one document, and the name of what may not be empty in it."""
    if form == "openai":
        from preheat.exports.openai_chat import conversation

        return conversation(session), "messages"
    from preheat.exports.atif import trajectory

    return trajectory(session, lambda child: file_name(f"{session.agent}:{child}", form)), "steps"


def save_whole(path: str, force: bool, write: Callable[[BinaryIO], None]) -> None:
    """Whole or not at all: a file that is there is only replaced when the new one is complete."""
    if os.path.exists(path) and not force:
        raise UserError(f"`{path}` is there already; `--force` overwrites it")
    stream_whole(path, write, mode=AS_USUAL)


def _report(written: list[tuple[str, str]], left_out: list[str], as_json: bool, folder: str = "") -> None:
    files = [{"session": key, "path": path, "bytes": os.path.getsize(path)} for key, path in written]
    if as_json:
        from preheat.cli.screen import print_json

        print_json({"files": files, "left_out": left_out})
    elif folder:
        total = sum(os.path.getsize(path) for _, path in written)
        print(f"Wrote {count(len(written), 'session')} to `{printable(folder)}` ({size(total)}).")
    else:
        print(f"Wrote `{printable(written[0][1])}` ({size(os.path.getsize(written[0][1]))}).")
    from preheat.cli.summary import MOST_PROBLEMS

    for line in left_out[:MOST_PROBLEMS]:
        print(printable(line), file=sys.stderr)
    if len(left_out) > MOST_PROBLEMS:
        print(f"and {len(left_out) - MOST_PROBLEMS:,} more left out", file=sys.stderr)
