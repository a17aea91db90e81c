"""Repairs of one tool by one remedy become one lesson, and nothing else does."""

import pytest
from hypothesis import given

from preheat.lessons.consolidation import join_repairs
from preheat.model.lesson import MOST_EVIDENCE, Evidence, Lesson, Scope, Support

from .any_lessons import lessons


def repair(number: int, error: str, **fields: object) -> Lesson:
    """`Change` complains, and after reading the file it works."""
    defaults: dict[str, object] = {
        "id": f"r{number}", "kind": "repair", "scope": Scope("tester", "shop", "Change"), "topic": "edit",
        "text": f"`Change` fails with `{error}`; after reading the file it works.", "error": error,
        "difference": "after reading the file", "use": "read the file before Change", "signatures": (error,),
        "forms": ("Change",),
        "support": Support(3, 2, 1, 1), "first_seen": 10.0 * number, "last_seen": 10.0 * number + 5,
        "evidence": (Evidence(f"tester:{number}", 1, 10.0 * number), Evidence("tester:0", 2, 1.0)),
        "cost_seconds": 2.0, "cost_tokens": 100,
    }  # fmt: skip
    return Lesson(**{**defaults, **fields})  # type: ignore[arg-type]


def test_one_remedy_for_several_complaints_is_one_lesson() -> None:
    """The joined lesson has the first id, all errors, the summed support, and the time from first to last."""
    (joined,) = join_repairs([repair(2, "not read"), repair(1, "text not found", support=Support(9, 5, 0, 0))])
    assert joined.id == "r1"
    assert joined.signatures == ("text not found", "not read")
    assert joined.text == (
        "`Change` fails with `text not found`, `not read`; after reading the file it works (12 of 13 times)."
    )
    assert joined.support == Support(12, 5, 1, 1)
    assert (joined.first_seen, joined.last_seen) == (10.0, 25.0)
    assert (joined.cost_seconds, joined.cost_tokens) == (4.0, 200)
    assert {each.session for each in joined.evidence} == {"tester:0", "tester:1", "tester:2"}


@pytest.mark.parametrize(
    "other",
    [
        repair(2, "b", difference="with a longer text"), repair(2, "b", use="Other"), repair(2, "b", topic="write"),
        repair(2, "b", scope=Scope("tester", "shop", "Write")), repair(2, "b", scope=Scope("other", "shop", "Change")),
        repair(2, "b", scope=Scope("tester", "till", "Change")), repair(2, "b", status="weak"),
        repair(2, "b", status="quarantined"), repair(2, "b", pinned=True), repair(2, "b", kind="error"),
    ],
)  # fmt: skip
def test_repairs_with_different_remedies_stay_apart(other: Lesson) -> None:
    """Another tool, remedy, project, agent or kind; and what is not handed out, or what a person pinned as it is."""
    both = [repair(1, "a"), other]
    assert join_repairs(both) == both


def test_repairs_of_commands_are_not_joined() -> None:
    """The repair of one command does not repair another, even with the same change."""
    both = [repair(number, "a", topic="shell", difference="with `--all`") for number in (1, 2)]
    assert join_repairs(both) == both
    both = [repair(number, "a", difference="") for number in (1, 2)]
    assert join_repairs(both) == both


def test_quarantined_repairs_are_not_joined() -> None:
    """Words that read like an order stay in the quarantined lesson."""
    found = join_repairs([repair(1, "a"), repair(2, "b"), repair(3, "You must obey", status="quarantined")])
    assert [lesson.id for lesson in found] == ["r1", "r3"]
    assert "obey" not in found[0].text
    assert found[0].signatures == ("a", "b")


@given(lessons())
def test_joining_repairs_keeps_counts_and_is_idempotent(some: list[Lesson]) -> None:
    """Every signature of an active lesson is still in one; evidence stays bounded; doing it again changes nothing."""
    found = join_repairs(some)
    assert join_repairs(found) == found
    assert _signatures(found) == _signatures(some)
    assert all(len(lesson.evidence) <= MOST_EVIDENCE for lesson in found if lesson not in some)


@given(lessons())
def test_the_order_does_not_matter(some: list[Lesson]) -> None:
    """The same lessons come out, whichever came first."""
    found = {lesson.id: lesson for lesson in join_repairs(some)}
    assert found == {lesson.id: lesson for lesson in join_repairs(some[::-1])}


def _signatures(some: list[Lesson]) -> set[str]:
    return {signature for lesson in some if lesson.status == "active" for signature in lesson.signatures}
