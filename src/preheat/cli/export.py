"""`preheat export`: writes sessions in forms that other programs read.

Writing them is the work of `preheat.app.sessions.exports`.
"""

import sys
from typing import Any

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName, filter_options, make_filter
from preheat.cli.progress import Display
from preheat.cli.screen import print_json
from preheat.cli.summary import MOST_PROBLEMS
from preheat.cli.text import count, format_bytes, printable
from preheat.model.export import EXPORT_SUFFIXES, ExportForm, ExportResult


@click.command(
    "export",
    cls=ExampleCommand,
    epilog="""\
  preheat export latest                                 canonical events as JSON lines, to the screen
  preheat export 0f3c1a2b --format atif -o run.json     a trajectory for Harbor and its tools
  preheat export --all --project . --format atif -o trajectories/
  preheat export 0f3c1a2b --format openai -o chat.json  messages that a chat interface takes
  preheat export 0f3c1a2b --format raw -o copy.jsonl    the agent's own bytes (secrets removed)""",
)
@click.argument("session", type=SessionName(), required=False)
@click.option(
    "--format", "form", type=click.Choice(list(EXPORT_SUFFIXES)), default="jsonl", show_default=True,
    help="ATIF v1.7, one canonical event per line, OpenAI chat messages, or the stored bytes.",
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
    """Write sessions as ATIF, JSONL, chat messages or raw bytes.

    One SESSION (an id, the beginning of one, or `latest`), or with --all a folder full of them.
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
