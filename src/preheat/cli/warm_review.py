"""`preheat warm review`: every text of an imported template, what speaks against it, and the answer of a person."""

from itertools import groupby

import click

from preheat.amounts import format_reasons
from preheat.app.templates.sharing import Answer, Review, spell_out
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.template_names import TemplateName
from preheat.cli.text import count
from preheat.model.template import shorten_digest


@click.command(
    "review",
    cls=ExampleCommand,
    epilog="""\
  preheat warm review theirs                 every text that could reach a model
  preheat warm review theirs --accept        use it, but quarantine lessons with findings
  preheat warm review theirs --accept-all    use all of it
  preheat warm review theirs --reject

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
        hint(f"`preheat warm review {name} --accept` uses it, `--reject` does not.")
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
