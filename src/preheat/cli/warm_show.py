"""`preheat warm show`: what is in a template, what it rests on and where it comes from."""

import time

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.template_names import TemplateName


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm show mine
  preheat warm show mine@-1            the version before
  preheat warm show mine --evidence    with the sessions and calls that each lesson rests on
  preheat warm show mine --json""",
)
@click.argument("template", type=TemplateName(), metavar="NAME")
@click.option("--evidence", is_flag=True, help="Show what each lesson rests on.")
@json_option
def command(template: str, evidence: bool, as_json: bool) -> int:
    """Show what is in a template, and what it rests on."""
    from preheat.cli.screen import console, print_json, say
    from preheat.cli.template_cards import show_head
    from preheat.cli.template_names import store, version_value
    from preheat.cli.template_tracking import together, tracked_by_version

    kept = store()
    found = kept.find(template, waiting=True)
    state = kept.state(found.name)
    track = together(tracked_by_version(), [found.digest])
    waiting = found.digest not in state.versions
    if as_json:
        print_json(version_value(found, tracked=track, waiting=waiting))
        return 0
    from preheat.cli.lesson_cards import show_list, show_one

    show_head(found, track, waiting)
    screen = console()
    say(screen)
    if not evidence:
        show_list(found.template.lessons, time.time())
        return 0
    for lesson in found.template.lessons:
        show_one(lesson, {}, time.time())
        say(screen)
    return 0
