"""The commands that share templates: `preheat templates export`, `import`, `review` and `schema`.

What is suspicious in a text is decided in the application.
"""

import sys
from itertools import groupby

import click

from preheat.amounts import format_reasons
from preheat.app.templates.sharing import LARGEST, Answer, Review, spell_out
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.template_names import TemplateName
from preheat.cli.text import count, format_bytes
from preheat.model.template import shorten_digest


# `preheat templates export`
@click.command(
    "export",
    cls=ExampleCommand,
    epilog="""\
  preheat templates export mine --output mine.json
  preheat templates export mine > mine.json
  preheat templates export mine --with-evidence --output for-myself.json

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


# `preheat templates import`
@click.command(
    "import",
    cls=ExampleCommand,
    epilog="""\
  preheat templates import theirs.json
  preheat templates import theirs.json --name from-a-friend
  preheat templates review theirs             then review it

Reads files that any version of `preheat templates export` wrote, and templates of the first implementations. An existing template
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
    hint(
        f"Nothing of it is used yet; `preheat templates review {template.name}` shows every text, and what is suspicious."
    )
    return 0


# `preheat templates review`
@click.command(
    "review",
    cls=ExampleCommand,
    epilog="""\
  preheat templates review theirs                 every text that could reach a model
  preheat templates review theirs --accept        use it, but quarantine lessons with findings
  preheat templates review theirs --accept-all    use all of it
  preheat templates review theirs --reject

A finding is something suspicious: hidden characters, letters that look like others, instructions, destructive commands,
addresses, what looks like a secret. The addendum counts as one, because it would come before everything else.""",
)
@click.argument("name", type=TemplateName(), metavar="NAME")
@click.option("--accept", "answer", flag_value="accept", help="Use it, except lessons with findings.")
@click.option("--accept-all", "answer", flag_value="accept-all", help="Use it, also lessons with findings.")
@click.option("--reject", "answer", flag_value="reject", help="Do not use it.")
@json_option
def review_command(name: str, answer: Answer | None, as_json: bool) -> int:
    """Review an imported template, and accept or reject it."""
    library = open_preheat().library
    found = library.answer_review(name, answer) if answer else library.review(name)
    if as_json:
        facts = {"name": name, "digest": found.digest, "answer": answer}
        print_json({**facts, "findings": found.findings, "template": found.template})
    elif answer is None:
        _show_review(found)
        hint(f"`preheat templates review {name} --accept` uses it, `--reject` does not.")
    elif answer == "reject":
        print(f"`{name}` {shorten_digest(found.digest)} was rejected.")
    else:
        locked = len(found.template.lessons) - found.in_use
        print(
            f"`{name}` {shorten_digest(found.digest)} may be used: {found.in_use} lessons in use, {locked} quarantined."
        )
    return 0


def _show_review(found: Review) -> None:
    screen, template = console(), found.template
    for lesson, group in groupby(found.texts, key=lambda text: text.lesson):
        say(screen, lesson or "The template itself", "bold")
        for text in group:
            if not text.text:
                continue
            say(screen, f"  {text.field}: {spell_out(text.text)}")
            for reason in text.reasons:
                say(screen, f"    ! {spell_out(reason)}", "red")
        if not lesson and template.addendum:
            say(screen, "    ! an addendum comes before everything else; only `--accept-all` keeps it", "red")
    kinds: dict[str, int] = {}
    for each in found.findings:
        kind = each.why.partition(":")[0].partition(" (")[0].partition(" in `")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    faulty = len({each.lesson for each in found.findings if each.lesson})
    lessons = f"{count(len(template.lessons), 'lesson')}, {faulty:,} with findings"
    say(screen, f"{lessons}: {format_reasons(kinds)}" if kinds else f"{lessons}.")


# `preheat templates schema`
@click.command(
    "schema",
    cls=ExampleCommand,
    epilog="""\
  preheat templates schema > template.schema.json""",
)
@json_option
def schema_command(as_json: bool) -> int:
    """Print the JSON schema of template files."""
    print_json(open_preheat().library.schema())
    return 0
