"""`preheat warm show`: what is in a template, what it rests on and where it comes from."""

import time

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.screen import console, print_json, say
from preheat.cli.template_cards import show_template_head
from preheat.cli.template_names import TemplateName


@click.command(
    "show",
    cls=ExampleCommand,
    epilog="""\
  preheat warm show mine
  preheat warm show mine@-1            the version before
  preheat warm show mine --evidence    with the sessions and calls behind each lesson
  preheat warm show mine --json""",
)
@click.argument("template", type=TemplateName(), metavar="NAME")
@click.option("--evidence", is_flag=True, help="Show the evidence of each lesson.")
@json_option
def show_command(template: str, evidence: bool, as_json: bool) -> int:
    """Show the lessons of a template, and their evidence."""
    found = open_preheat().library.show(template)
    version = found.version
    if as_json:
        facts = {"name": version.name, "digest": version.digest, "template": version.template}
        print_json({**facts, "tracked": found.tracked, "waiting": found.waiting})
        return 0
    from preheat.cli.lesson_cards import show_lesson, show_lessons  # noqa: PLC0415 - rich takes longer than a completion

    show_template_head(found)
    screen = console()
    say(screen)
    if not evidence:
        show_lessons(version.template.lessons, time.time())
        return 0
    for lesson in version.template.lessons:
        show_lesson(lesson, {}, time.time())
        say(screen)
    return 0
