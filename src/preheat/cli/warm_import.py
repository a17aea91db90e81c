"""`preheat warm import`: a template from a file. It waits for a review; nothing of it reaches a model before."""

import sys

import click

from preheat.app.templates.sharing import LARGEST
from preheat.cli.home import home
from preheat.cli.options import Examples, json_option
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count


@click.command(
    "import",
    cls=Examples,
    epilog="""\
  preheat warm import theirs.json
  preheat warm import theirs.json --name from-anna
  preheat warm review theirs             then look through it

Takes files that `preheat warm export` wrote, whatever their version, and templates of the first implementations. A template of
that name that is in use stays in use until the review.""",
)
@click.argument("file", type=click.Path(allow_dash=True), metavar="FILE")
@click.option("--name", metavar="NAME", help="What to call it here, if not as it is called in the file.")
@json_option
def import_command(file: str, name: str | None, as_json: bool) -> int:
    """Take in a template from a file; it waits for a review."""
    library = home().library
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
        print(f"`{template.name}` is exactly this already.")
        return 0
    lessons = count(len(template.lessons), "lesson")
    checked = "its digest fits" if found.verified else "it has no digest, so nothing says that it is whole"
    print(f"`{template.name}` was taken in: {lessons}, {checked}; {count(len(found.findings), 'finding')}.")
    hint(
        f"Nothing of it is used yet; `preheat warm review {template.name}` shows every text and what speaks against it."
    )
    return 0
