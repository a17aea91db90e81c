"""`preheat warm review`: every text of an imported template, what speaks against it, and the answer of a person."""

import time
from itertools import groupby
from typing import TYPE_CHECKING

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.template_names import TemplateName

if TYPE_CHECKING:
    from preheat.model.template import Template
    from preheat.templates.findings import Finding


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm review theirs                 every text that could reach a model
  preheat warm review theirs --accept        use it; lessons with findings stay locked away
  preheat warm review theirs --accept-all    use all of it
  preheat warm review theirs --reject

A finding is a reason to look twice: hidden characters, letters that look like others, instructions, destructive commands,
addresses, what looks like a secret. The addendum counts as one: it would stand before everything else.""",
)
@click.argument("name", type=TemplateName(), metavar="NAME")
@click.option("--accept", "answer", flag_value="accept", help="Use it, but for what has findings.")
@click.option("--accept-all", "answer", flag_value="accept-all", help="Use it, findings and all.")
@click.option("--reject", "answer", flag_value="reject", help="Do not use it.")
@json_option
def command(name: str, answer: str | None, as_json: bool) -> int:
    """Look through an imported template, and accept or reject it."""
    from preheat.cli.screen import hint, print_json
    from preheat.cli.template_checks import COMING
    from preheat.cli.template_names import store
    from preheat.errors import UserError
    from preheat.templates.digest import short
    from preheat.templates.findings import findings
    from preheat.templates.sharing import reviewed

    kept = store()
    if kept.state(name).deleted or (digest := kept.state(name).waiting) is None:
        raise UserError(f"nothing of `{name}` waits for a review; `preheat warm list` shows what does")
    template = kept.read(digest)
    found = findings(template, COMING)
    result = digest
    if answer == "reject":
        kept.reject(name, time.time())
    elif answer:
        fit = reviewed(template, found, everything=answer == "accept-all")
        result = kept.keep(fit, "accepted", time.time(), _note(fit)).digest
    if as_json:
        print_json({"name": name, "digest": result, "answer": answer, "findings": found, "template": template})
    elif answer is None:
        _show(template, found)
        hint(f"`preheat warm review {name} --accept` uses it, `--reject` does not.")
    elif answer == "reject":
        print(f"`{name}` {short(digest)} was rejected.")
    else:
        print(f"`{name}` {short(result)} may be used: {_note(fit)}.")
    return 0


def _note(template: "Template") -> str:
    locked = sum(lesson.status == "quarantined" for lesson in template.lessons)
    return f"{len(template.lessons) - locked} lessons in use, {locked} quarantined"


def _show(template: "Template", found: "list[Finding]") -> None:
    from preheat.cli.screen import console, say
    from preheat.cli.text import count
    from preheat.templates.choice import reasons
    from preheat.templates.findings import texts

    screen = console()
    why: dict[tuple[str, str, str], list[str]] = {}
    for each in found:
        why.setdefault((each.lesson, each.field, each.text), []).append(each.why)
    for lesson, group in groupby(texts(template), key=lambda text: text.lesson):
        say(screen, lesson or "The template itself", "bold")
        for text in group:
            if not text.text:
                continue
            say(screen, f"  {text.field}: {shown(text.text)}")
            for reason in why.get((text.lesson, text.field, text.text), []):
                say(screen, f"    ! {shown(reason)}", "red")
        if not lesson and template.addendum:
            say(screen, "    ! an addendum stands before everything else; only `--accept-all` keeps it", "red")
    kinds: dict[str, int] = {}
    for each in found:
        kind = each.why.partition(":")[0].partition(" (")[0].partition(" in `")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    faulty = len({each.lesson for each in found if each.lesson})
    lessons = f"{count(len(template.lessons), 'lesson')}, {faulty:,} with findings"
    say(screen, f"{lessons}: {reasons(kinds)}" if kinds else f"{lessons}.")


def shown(text: str) -> str:
    """A text, whole, with everything that would not be seen written out."""
    return "".join(map(_visible, text))


def _visible(letter: str) -> str:
    from preheat.safe_text.reasons import hidden

    if letter == "\n":
        return "⏎"
    return f"<U+{ord(letter):04X}>" if hidden(letter) or not letter.isprintable() else letter
