"""The difference of two versions."""

from msgspec.structs import replace

from preheat.model.lesson import Support
from preheat.templates.difference import compare_templates

from .made import lesson, template


def test_added_removed_and_changed_are_told_apart_by_id() -> None:
    """With what changed: use, support, score."""
    stays, goes, comes = lesson(use="a"), lesson(use="b"), lesson(use="c")
    changed = lesson(use="d")
    later = replace(changed, use="d --fast", support=Support(20, 5), score=0.9)
    found = compare_templates(
        template("mine", stays, goes, changed), template("mine", stays, later, comes, tags=("x",))
    )
    assert (found.added, found.removed, found.same) == ((comes,), (goes,), 1)
    (only,) = found.changed
    assert [(each.field, each.before, each.after) for each in only.changes] == [
        ("use", "d", "d --fast"),
        ("support", Support(9, 3, 1, 1), Support(20, 5)),
        ("score", 0.6, 0.9),
    ]
    assert [each.field for each in found.template] == ["tags"]


def test_a_template_does_not_differ_from_itself() -> None:
    """When it was made is no difference."""
    found = compare_templates(template(), replace(template(), created_at=1.0, parent="x"))
    assert found.is_empty
    assert found.same == 3
