"""`preheat warm export`: a template as one file. What must not leave this machine, `preheat.templates.sharing` takes out."""

import sys

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.template_names import TemplateName


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm export mine --output mine.json
  preheat warm export mine > mine.json
  preheat warm export mine --with-evidence --output for-myself.json

Without --with-evidence the file names no session (only hashes, so that they can be counted) and quotes nobody. Lessons with
a path of this machine or with what looks like a secret stay here; the command says how many.""",
)
@click.argument("template", type=TemplateName(), metavar="NAME")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), metavar="FILE", help="Where to; standard output if not given."
)
@click.option("--with-evidence", is_flag=True, help="Keep the sessions' names and what was said and done in them.")
@json_option
def command(template: str, output: str | None, with_evidence: bool, as_json: bool) -> int:
    """Write a template as one file to share."""
    from preheat.cli.screen import hint, print_json
    from preheat.cli.template_checks import LEAVING
    from preheat.cli.template_names import store
    from preheat.cli.text import count, size
    from preheat.errors import UserError
    from preheat.templates.choice import reasons
    from preheat.templates.digest import canonical, digest_of
    from preheat.templates.files import write_whole
    from preheat.templates.sharing import shareable, to_bytes

    found = store().find(template)
    fit = shareable(found.template, LEAVING, with_evidence)
    if not fit.template.lessons:
        raise UserError(f"nothing of `{found.name}` may leave this machine: {reasons(fit.left_out) or 'it is empty'}")
    data = to_bytes(fit.template)
    if output:
        write_whole(output, data)
    else:
        sys.stdout.buffer.write(data)
    if output and as_json:
        facts = {
            "name": found.name,
            "digest": digest_of(canonical(fit.template)),
            "file": output,
            "left_out": fit.left_out,
        }
        print_json({**facts, "lessons": len(fit.template.lessons)})
    elif output:
        print(f"{count(len(fit.template.lessons), 'lesson')} written to `{output}` ({size(len(data))}).")
    if fit.left_out and not as_json:
        hint(f"Not in it: {reasons(fit.left_out)}.")
    return 0
