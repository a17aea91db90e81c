"""`preheat warm export`: a template as one file. What must not leave this machine, `preheat.templates.sharing` takes out."""

import sys

import click

from preheat.amounts import format_reasons
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.template_names import TemplateName
from preheat.cli.text import count, format_bytes


@click.command(
    "export",
    cls=ExampleCommand,
    epilog="""\
  preheat warm export mine --output mine.json
  preheat warm export mine > mine.json
  preheat warm export mine --with-evidence --output for-myself.json

Without --with-evidence the file has no session ids (only hashes, so that they can be counted) and no quotations. Lessons with
a path of this machine or what looks like a secret are left out; the command says how many.""",
)
@click.argument("template", type=TemplateName(), metavar="NAME")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write to this file.  [default: standard output]",
)
@click.option("--with-evidence", is_flag=True, help="Keep the session ids, and quotations from messages and calls.")
@json_option
def export_command(template: str, output: str | None, with_evidence: bool, as_json: bool) -> int:
    """Write a template as one file to share."""
    found = open_preheat().library.export(template, with_evidence, output or "")
    if not output:
        sys.stdout.buffer.write(found.data)
    if output and as_json:
        facts = {"name": found.name, "digest": found.digest, "file": output, "left_out": found.left_out}
        print_json({**facts, "lessons": found.lessons})
    elif output:
        print(f"{count(found.lessons, 'lesson')} written to `{output}` ({format_bytes(len(found.data))}).")
    if found.left_out and not as_json:
        hint(f"Left out: {format_reasons(found.left_out)}.")
    return 0
