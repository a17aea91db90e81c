"""Conclusions, and lessons with marks of a person, in the archive."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from preheat.app.analysis.one_pass import analyse_archive
from preheat.archive import lessons as kept
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.model.lesson import Evidence, Example, Lesson, MarkKind, Scope, Support
from preheat.state import marks
from preheat.state.connect import writing as writing_state
from tests.archive.analysed_machine import drop_analyses, key, with_sessions

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.fixture
def archive(tmp_path: Any) -> Iterator[ArchiveConnection]:
    connection = connect(str(tmp_path))
    yield connection
    connection.close()


def mark(archive: ArchiveConnection, lesson: str, as_what: MarkKind | None, why: str, at: float) -> None:
    """Mark a lesson as a person does, in the state beside the archive."""
    with writing_state(archive.folder) as state:
        marks.set_mark(state, lesson, as_what, why, at)


def lesson(name: str, project: str = "shop", **fields: Any) -> Lesson:
    return Lesson(
        **{"id": name, "kind": "convention", "scope": Scope(project=project), "text": f"About {name}.", **fields}
    )


def test_a_lesson_is_loaded_as_it_was_stored(archive: ArchiveConnection) -> None:
    whole = lesson(
        "c1",
        use="make test",
        example=Example("Look", {"path": "a", "deep": [1, {"b": None}]}, "fine"),
        support=Support(3, 2, 1, 1),
        evidence=(Evidence("tester:1", 4, 1.5, True, "make"),),
        environment={"branch": "main"},
        expires_at=9.0,
        score=0.5,
    )
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"LearnConventions": [whole]})
    assert kept.load_lessons(archive) == [whole]
    assert kept.lessons_by_learner(archive) == {"LearnConventions": [whole]}


def test_lessons_of_some_projects_come_best_first(archive: ArchiveConnection) -> None:
    """Lessons that hold anywhere have an empty project; equal scores are ordered by id."""
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c2", score=0.1), lesson("c1", score=0.1)]})
        kept.store_lessons(archive, "till", {"A": [lesson("c3", "till", score=0.9)]})
        kept.store_lessons(archive, "", {"A": [lesson("c4", "", score=0.5)]})
    assert [each.id for each in kept.load_lessons(archive)] == ["c3", "c4", "c1", "c2"]
    assert [each.id for each in kept.load_lessons(archive, ("", "shop", "shop"))] == ["c4", "c1", "c2"]
    assert kept.load_lessons(archive, ("nowhere",)) == []


def test_new_lessons_of_a_project_replace_the_old(archive: ArchiveConnection) -> None:
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1")]})
        kept.store_lessons(archive, "till", {"A": [lesson("c2", "till")]})
        kept.store_lessons(archive, "shop", {"B": [lesson("c3")]})
    assert {each.id for each in kept.load_lessons(archive)} == {"c2", "c3"}


def test_a_failed_run_leaves_the_stored_lessons(archive: ArchiveConnection) -> None:
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1")]})
    unstorable: Any = [lesson("c2"), "no lesson"]
    with pytest.raises(AttributeError), archive.transaction():
        kept.store_lessons(archive, "shop", {"A": unstorable})
    assert [each.id for each in kept.load_lessons(archive)] == ["c1"]


def test_marks_survive_learning_again(archive: ArchiveConnection) -> None:
    mark(archive, "c1", "retired", "we moved on", 1.0)
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1")]})
    (found,) = kept.load_lessons(archive)
    assert (found.status, found.why) == ("retired", "we moved on")
    mark(archive, "c1", None, "", 2.0)
    assert kept.load_lessons(archive) == [lesson("c1")]


def test_a_pinned_lesson_is_active_and_never_expires(archive: ArchiveConnection) -> None:
    """The newest mark counts."""
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1", status="weak", why="seen once", expires_at=1.0)]})
    mark(archive, "c1", "retired", "", 1.0)
    mark(archive, "c1", "pinned", "", 2.0)
    (found,) = kept.load_lessons(archive)
    assert found.pinned
    assert found.is_usable(now=100.0)


def test_a_pin_does_not_release_a_quarantined_lesson(archive: ArchiveConnection) -> None:
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1", status="quarantined", why="an instruction")]})
    mark(archive, "c1", "pinned", "", 1.0)
    (found,) = kept.load_lessons(archive)
    assert found.status == "quarantined"
    assert not found.is_usable(now=0.0)


def test_conclusions_are_stored_by_project_and_learner(archive: ArchiveConnection) -> None:
    with archive.transaction():
        kept.store_conclusions(archive, "shop", "A", 1, "d1", [lesson("c1")])
        kept.store_conclusions(archive, "shop", "A", 2, "d2", [lesson("c2")])
        kept.store_conclusions(archive, "shop", "B", 1, "d3", [])
        kept.store_conclusions(archive, "till", "A", 1, "d4", [lesson("c3", "till")])
    assert kept.load_conclusion_versions(archive) == {
        ("shop", "A"): (2, "d2"),
        ("shop", "B"): (1, "d3"),
        ("till", "A"): (1, "d4"),
    }
    assert kept.load_conclusions(archive, "shop") == {"A": [lesson("c2")], "B": []}
    with archive.transaction():
        kept.drop_conclusions(archive, "shop", "A")
        kept.drop_project_lessons(archive, ["till"])
    assert kept.load_conclusion_versions(archive) == {("shop", "B"): (1, "d3")}


def test_lessons_in_an_unknown_format_are_left_out(archive: ArchiveConnection) -> None:
    """From a newer Preheat, or damaged."""
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1"), lesson("c2")]})
        strange = msgspec.msgpack.encode({**msgspec.to_builtins(lesson("c2")), "kind": "prophecy"})
        archive.execute("UPDATE lessons SET data = ? WHERE id = 'c2'", (strange,))
    assert [each.id for each in kept.load_lessons(archive)] == ["c1"]
    assert [each.id for each in kept.lessons_by_learner(archive)["A"]] == ["c1"]
    with archive.transaction():
        archive.execute("UPDATE lessons SET data = ? WHERE id = 'c1'", (b"\xc1",))
    assert kept.load_lessons(archive) == []


def test_a_field_of_a_later_version_is_ignored(archive: ArchiveConnection) -> None:
    later = msgspec.msgpack.encode({**msgspec.to_builtins(lesson("c1")), "colour": "green"})
    with archive.transaction():
        kept.store_lessons(archive, "shop", {"A": [lesson("c1")]})
        archive.execute("UPDATE lessons SET data = ?", (later,))
    assert kept.load_lessons(archive) == [lesson("c1")]


def test_sessions_are_measured_once_they_are_judged(tmp_path: Any) -> None:
    machine = with_sessions(tmp_path)
    drop_analyses(machine)
    connection = machine.connection()
    try:
        assert kept.load_measured_sessions(connection, [key(1)]) == []
        analyse_archive(machine.folder)
        found = kept.load_measured_sessions(connection, [key(5), "nobody:1"])
    finally:
        connection.close()
    assert [each.session for each in found] == [key(5)]


def test_projects_with_lessons_of_older_conclusions_are_found(archive: ArchiveConnection) -> None:
    """A run may be killed between its conclusions and its lessons."""
    with archive.transaction():
        kept.store_conclusions(archive, "shop", "A", 1, "d1", [])
        kept.store_conclusions(archive, "till", "A", 1, "d1", [])
    assert kept.find_outdated_projects(archive) == {"shop", "till"}
    with archive.transaction():
        for project, state in kept.conclusion_digests(archive).items():
            kept.store_weighed_digest(archive, project, state)
    assert kept.find_outdated_projects(archive) == set()
    assert kept.load_conclusion_versions(archive).keys() == {("shop", "A"), ("till", "A")}
    assert kept.load_conclusions(archive, "shop") == {"A": []}
    with archive.transaction():
        kept.store_conclusions(archive, "shop", "A", 1, "d2", [])
        kept.drop_conclusions(archive, "till", "A")
    assert kept.find_outdated_projects(archive) == {"shop", "till"}
    with archive.transaction():
        kept.store_weighed_digest(archive, "till", None)
    assert kept.find_outdated_projects(archive) == {"shop"}
