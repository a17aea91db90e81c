"""`preheat warm import`: a template from a file. It waits for a review; nothing of it reaches a model before."""

import sys

import click

from preheat.app.templates.sharing import LARGEST
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count


@click.command(
    "import",
    cls=ExampleCommand,
    epilog="""\
  preheat warm import theirs.json
  preheat warm import theirs.json --name from-a-friend
  preheat warm review theirs             then review it

Reads files that any version of `preheat warm export` wrote, and templates of the first implementations. An existing template
of that name stays in use until the review.""",
)
@click.argument("file", type=click.Path(allow_dash=True), metavar="FILE")
@click.option("--name", metavar="NAME", help="Its name here.  [default: its name in the file]")
@json_option
def import_command(file: str, name: str | None, as_json: bool) -> int:
    """Import a template from a file; it waits for a review."""
    library = open_preheat().library
    if file == "-":
        found = library.import_bytes(sys.stdin.buffer.read(LARGEST + 1), file, name or "")
    else:
        found = library.import_file(file, name or "")
    template, kept = found.template, found.kept
    if as_json:
        facts = {"name": template.name, "digest": kept.digest, "new": kept.new, "verified": found.verified}
        print_json({**facts, "lessons": len(template.lessons), "findings": found.findings})
        return 0
    if not kept.new:
        print(f"`{template.name}` is already the same as this file.")
        return 0
    lessons = count(len(template.lessons), "lesson")
    checked = "its digest is right" if found.verified else "it has no digest, so changes to it cannot be noticed"
    print(f"`{template.name}` was imported: {lessons}, {checked}; {count(len(found.findings), 'finding')}.")
    hint(f"Nothing of it is used yet; `preheat warm review {template.name}` shows every text, and what is suspicious.")
    return 0
