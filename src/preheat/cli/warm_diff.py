"""`preheat warm diff`: what changed from one version of a template to another."""

import click

from preheat.cli.options import Examples, json_option
from preheat.cli.template_names import TemplateName


@click.command(
    cls=Examples,
    epilog="""\
  preheat warm diff mine                 what the last version changed
  preheat warm diff mine@3fa2 mine       since a version
  preheat warm diff mine theirs          two templates

Lessons are told apart by their ids: `+` came, `-` went, `~` changed.""",
)
@click.argument("first", type=TemplateName(), metavar="A")
@click.argument("second", type=TemplateName(), metavar="[B]", required=False)
@json_option
def command(first: str, second: str | None, as_json: bool) -> int:
    """Show what changed from one version to another.

    Without B, from the version before A to A.
    """
    from preheat.cli.screen import print_json
    from preheat.cli.template_names import store
    from preheat.errors import NotFound
    from preheat.templates.difference import difference

    kept = store()
    after = kept.find(second or first, waiting=True)
    if second is None:
        if after.template.parent is None:
            raise NotFound(f"`{after.name}` has no version before `{after.digest[:10]}`; name two to compare")
        before = kept.find(f"{after.name}@{after.template.parent}")
    else:
        before = kept.find(first, waiting=True)
    found = difference(before.template, after.template)
    if as_json:
        print_json({"from": before.digest, "to": after.digest, "difference": found})
        return 0
    from preheat.cli.template_cards import show_difference

    show_difference(before, after, found)
    return 0
