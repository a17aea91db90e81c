"""The guide says field by field what is pushed, and each role what it may."""

import os

from preheat.app.views.settings_list import Settings
from scripts import make_team_fields


def test_the_guide_lists_every_field_that_is_pushed() -> None:
    """Run `python scripts/make_team_fields.py` after changing what is pushed."""
    with open(make_team_fields.PAGE, encoding="utf-8") as stream:
        text = stream.read()
    assert make_team_fields.page(text) == text
    assert text.count("| yes | yes | no |") > 30


def test_the_page_of_settings_has_those_of_a_team(tmp_path: object) -> None:
    page = os.path.join(os.path.dirname(make_team_fields.PAGE), "..", "reference", "settings.md")
    with open(page, encoding="utf-8") as stream:
        section = stream.read().partition("<!-- team:")[2].partition("<!-- /team -->")[0]
    found = [each for each in Settings(str(tmp_path)).describe_all().settings if each.heading == "team"]
    assert [f"| `{each.name}` | {each.default} | {each.about} |" for each in found] == [
        line for line in section.splitlines() if line.startswith("| `")
    ]
