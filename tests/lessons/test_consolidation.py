"""ConsolidateEvents: one thing is said once, the newer evidence counts, every kind keeps within its bounds."""

import re
from typing import Any

import pytest
from hypothesis import given, settings

from preheat.lessons.consolidation import CAPS, consolidate, describe
from preheat.model.lesson import MOST_EVIDENCE, Evidence, Lesson, Scope, Support
from tests.lessons.any_lessons import lessons

NOT_FOUND = "command not found: PATH"


def lesson(name: str, kind: Any, **fields: Any) -> Lesson:
    return Lesson(id=name, kind=kind, text=name, **{"scope": Scope(project="shop"), **fields})


def by_id(found: list[Lesson]) -> dict[str, Lesson]:
    return {each.id: each for each in found}


def test_an_error_with_a_known_repair_becomes_weak() -> None:
    """The repair takes over cost and signatures; the error is weak and names it; other errors stay."""
    found = by_id(
        consolidate(
            [
                lesson(
                    "e1", "error", signatures=(NOT_FOUND, "x: command not found"), cost_tokens=900, cost_seconds=40.0
                ),
                lesson("e2", "error", signatures=("permission denied",), cost_tokens=10),
                lesson("r1", "repair", signatures=(NOT_FOUND,), cost_tokens=300, score=0.5),
                lesson("r2", "repair", signatures=(NOT_FOUND,), cost_tokens=100, score=0.2),
            ]
        )
    )
    assert (found["e1"].status, found["e1"].why) == ("weak", "covered by r1")
    assert (found["r1"].cost_tokens, found["r1"].cost_seconds) == (900, 40.0)
    assert found["r1"].signatures == (NOT_FOUND, "x: command not found")
    assert found["r2"].cost_tokens == 100
    assert found["e2"].status == "active"


@pytest.mark.parametrize("repair", [{"status": "weak"}, {"status": "quarantined"}, {"scope": Scope(project="other")}])
def test_a_weak_repair_does_not_weaken_its_error(repair: dict[str, object]) -> None:
    """An error stays if its repair is weak, quarantined or of another project."""
    found = consolidate(
        [lesson("e1", "error", signatures=(NOT_FOUND,)), lesson("r1", "repair", signatures=(NOT_FOUND,), **repair)]
    )
    assert by_id(found)["e1"].status == "active"


def test_a_dead_end_that_works_again_is_removed() -> None:
    """The newer evidence counts: of a success after it the dead end goes, of a failure after it the convention is put aside."""
    dead = lesson("d1", "dead_end", avoid="npm  test", last_seen=5.0)
    assert "d1" not in by_id(consolidate([dead, lesson("c1", "convention", use="npm test", last_seen=9.0)]))
    found = by_id(consolidate([dead, lesson("c1", "convention", use="npm test", last_seen=1.0)]))
    assert found["d1"].status == "active"
    assert (found["c1"].status, found["c1"].why) == ("weak", "failed since: see d1")


def test_only_an_equal_command_contradicts_a_dead_end() -> None:
    """Forms that leave something out may be about different cases: neither lesson changes."""
    dead = lesson("d1", "dead_end", avoid="go test ./broken", forms=("go test …",), last_seen=5.0)
    way = lesson("c1", "convention", use="go test ./...", forms=("go test …",), last_seen=9.0)
    assert {each.status for each in consolidate([dead, way])} == {"active"}
    complete = lesson("d2", "dead_end", avoid="cd web && make check", forms=("make check",), last_seen=5.0)
    assert "d2" not in by_id(consolidate([complete, lesson("c2", "convention", forms=("make check",), last_seen=9.0)]))


def test_a_dead_end_of_one_session_does_not_put_a_convention_aside() -> None:
    """A weak dead end does not contradict a working command."""
    dead = lesson("d1", "dead_end", avoid="npm test", last_seen=5.0, status="weak")
    found = by_id(consolidate([dead, lesson("c1", "convention", use="npm test", last_seen=1.0)]))
    assert found["c1"].status == "active"


@pytest.mark.parametrize(("kind", "topic"), sorted(CAPS))
def test_each_kind_of_lesson_is_limited(kind: str, topic: str) -> None:
    """The lowest scores are too many and become weak; a pinned one stays; another project has its own share."""
    most = CAPS[kind, topic]
    made = [lesson(f"x{n:03}", kind, topic=topic, score=n / 100) for n in range(most + 3)]
    made[0] = lesson("x000", kind, topic=topic, score=0.0, pinned=True)
    other = lesson("other", kind, topic=topic, scope=Scope(project="b"))
    found = by_id(consolidate([*made, other]))
    weak = [name for name, each in found.items() if each.status == "weak"]
    assert weak == ["x001", "x002", "x003"]
    assert "worth more" in found["x001"].why
    assert re.findall(r"\d+", describe(list(found.values()))) == [str(most + 1), "3"]


def test_evidence_is_limited() -> None:
    """Of too much evidence the newest stays; the support still counts all of it."""
    many = tuple(Evidence(f"s{n}", n, float(n)) for n in range(50))
    (found,) = consolidate([lesson("c1", "convention", evidence=many, support=Support(50, 50))])
    assert len(found.evidence) == MOST_EVIDENCE
    assert found.evidence[-1].session == "s49"
    assert found.support.calls_for == 50


@settings(max_examples=80)
@given(lessons())
def test_consolidating_twice_changes_nothing(given_lessons: list[Lesson]) -> None:
    """Whatever the lessons, in whichever order: the same result, again and again; nothing weak becomes active."""
    once = consolidate(given_lessons)
    assert consolidate(once) == once
    assert consolidate(given_lessons[::-1]) == once
    before = by_id(given_lessons)
    assert all(before[each.id].status == "active" for each in once if each.status == "active")
    gone = set(before) - {each.id for each in once}
    assert all(before[name].kind == "dead_end" and not before[name].pinned for name in gone)


@pytest.mark.parametrize("kind", ["dead_end", "convention"])
def test_an_error_that_another_lesson_covers_becomes_weak(kind: Any) -> None:
    """A dead end or a convention says more than an error alone."""
    found = by_id(
        consolidate([lesson("e1", "error", signatures=(NOT_FOUND,)), lesson("x1", kind, signatures=(NOT_FOUND,))])
    )
    assert (found["e1"].status, found["e1"].why, found["x1"].status) == ("weak", "covered by x1", "active")


def test_a_repair_that_a_convention_covers_becomes_weak() -> None:
    """Without a command of its own; one that shows what to use stays beside it."""
    convention = lesson("c1", "convention", signatures=(NOT_FOUND,))
    bare = lesson("r1", "repair", topic="shell", signatures=(NOT_FOUND,))
    shown = lesson("r2", "repair", topic="shell", signatures=(NOT_FOUND,), use="make test", avoid="make tests")
    found = by_id(consolidate([convention, bare, shown]))
    assert (found["r1"].why, found["r2"].status) == ("covered by c1", "active")
