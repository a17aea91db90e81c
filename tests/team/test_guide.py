"""The guide says field by field what is pushed, and each role what it may."""

from scripts import make_team_fields


def test_the_guide_lists_every_field_that_is_pushed() -> None:
    """Run `python scripts/make_team_fields.py` after changing what is pushed."""
    with open(make_team_fields.PAGE, encoding="utf-8") as stream:
        text = stream.read()
    assert make_team_fields.page(text) == text
    assert text.count("| yes | yes | no |") > 30
