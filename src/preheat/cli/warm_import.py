"""`preheat warm import`: a template from a file. It waits for a review; nothing of it reaches a model before."""

import time

import click

from preheat.cli.options import Examples, json_option


@click.command(
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
def command(file: str, name: str | None, as_json: bool) -> int:
    """Take in a template from a file; it waits for a review."""
    from msgspec.structs import replace

    from preheat.cli.screen import hint, print_json
    from preheat.cli.template_checks import COMING
    from preheat.cli.template_names import store
    from preheat.cli.text import count
    from preheat.templates.findings import findings
    from preheat.templates.loading import read_file
    from preheat.templates.names import check_name
    from preheat.templates.sharing import from_bytes

    if name:
        check_name(name)
    opened = from_bytes(read_file(file), file)
    template = replace(opened.template, name=name or opened.template.name, parent=None)
    kept = store().keep(template, "imported", time.time(), f"from {file}")
    found = findings(template, COMING)
    facts = {"name": template.name, "digest": kept.digest, "new": kept.new, "verified": opened.verified}
    if as_json:
        print_json({**facts, "lessons": len(template.lessons), "findings": found})
        return 0
    if not kept.new:
        print(f"`{template.name}` is exactly this already.")
        return 0
    lessons = count(len(template.lessons), "lesson")
    checked = "its digest fits" if opened.verified else "it has no digest, so nothing says that it is whole"
    print(f"`{template.name}` was taken in: {lessons}, {checked}; {count(len(found), 'finding')}.")
    hint(
        f"Nothing of it is used yet; `preheat warm review {template.name}` shows every text and what speaks against it."
    )
    return 0
