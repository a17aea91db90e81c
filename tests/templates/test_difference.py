"""The difference of two versions."""

from msgspec.structs import replace

from preheat.model.lesson import Support
from preheat.templates.difference import compare_templates

from .made import lesson, template


def test_added_removed_and_changed_lessons_are_found_by_id() -> None:
    """A changed one with its changed fields."""
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


def test_time_and_parent_are_no_difference() -> None:
    found = compare_templates(template(), replace(template(), created_at=1.0, parent="x"))
    assert found.is_empty
    assert found.same == 3
