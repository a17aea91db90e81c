"""Learning from the archive uses only what is new, gives the same in any steps, and survives kills and forgetting."""

from typing import Any

import pytest

from preheat.app.learning import learn, learn_from
from preheat.app.projects import require_project
from preheat.app.sessions.archive import forget_sessions
from preheat.archive import lessons as kept
from preheat.archive.raw import forget
from preheat.lessons.learners import LEARNERS
from preheat.model.lesson import Lesson
from preheat.model.progress import Progress
from preheat.state import marks
from preheat.state.connect import writing as writing_state
from preheat.testing.builders import ClaudeTranscript
from tests.ingest.machine import Machine

pytestmark = pytest.mark.usefixtures("each_database")

DAY = 86400.0
NEEDLE = "zebrafish"


def worked(number: int, project: str = "/home/dev/shop") -> ClaudeTranscript:
    """A session in which the bare test command fails and the project's own works."""
    transcript = ClaudeTranscript(
        session=f"{number:08x}-1111-4000-8000-000000000000", project=project, started=1_767_600_000.0 + number * DAY
    )
    transcript = transcript.prompt(f"Make checkout step {number} work").answer("I run the tests.")
    transcript = transcript.run("pytest tests", "bash: pytest: command not found", 127)
    transcript = transcript.answer("Another way.").run("uv run pytest tests", "5 passed in 0.1s")
    transcript = transcript.answer("Now the code.").call("Read", {"file_path": f"{project}/src/checkout.py"})
    transcript = transcript.result("1\tdef pay(): ...").answer("I change it.")
    transcript = transcript.call(
        "Edit", {"file_path": f"{project}/src/checkout.py", "old_string": "...", "new_string": f"return {number}"}
    )
    transcript = transcript.result("The file has been updated.").answer("Once more.")
    return transcript.run("uv run pytest tests", f"{number + 5} passed in 0.2s").answer(f"Done, {NEEDLE} {number}.")


@pytest.fixture
def machine(tmp_path: Any) -> Machine:
    machine = Machine(tmp_path)
    for number in range(1, 5):
        worked(number).write(machine.projects)
    machine.sync()
    return machine


def lessons(machine: Machine) -> list[Lesson]:
    connection = machine.connection()
    try:
        return kept.load_lessons(connection)
    finally:
        connection.close()


def read_all_bytes_fails(machine: Machine) -> None:
    connection = machine.connection()
    connection.execute("UPDATE packs SET data = ?", (b"\0",))
    connection.close()


def test_the_repair_of_a_repeated_mistake_is_learned_with_its_evidence(machine: Machine) -> None:
    report = learn(machine.folder)
    assert [task.name for task in report.tasks] == [learner.name for learner in LEARNERS]
    assert report.sessions == 4
    assert report.failures == []
    found = [lesson for lesson in lessons(machine) if lesson.status == "active" and "uv run pytest" in lesson.use]
    assert {lesson.kind for lesson in found} >= {"repair", "convention"}
    known = {row[0] for row in machine.rows("SELECT key FROM sessions")}
    for lesson in found:
        assert lesson.scope.project == "shop"
        assert lesson.support.sessions_for == 4
        assert {each.session for each in lesson.evidence} <= known
        assert all(each.seq is not None for each in lesson.evidence if lesson.kind == "repair")


def test_learning_again_reads_no_session_and_changes_nothing(machine: Machine) -> None:
    learn(machine.folder)
    before = lessons(machine)
    read_all_bytes_fails(machine)
    again = learn(machine.folder)
    assert (again.sessions, again.projects, again.failures) == (0, 0, [])
    assert lessons(machine) == before


def test_learning_in_steps_or_another_order_gives_the_same_lessons(machine: Machine, tmp_path: Any) -> None:
    learn(machine.folder)
    for number in (6, 5):
        worked(number).write(machine.projects)
        machine.sync()
        assert learn(machine.folder).sessions == 1
    other = Machine(tmp_path / "other")
    for number in range(6, 0, -1):
        worked(number).write(other.projects)
    other.sync()
    learn(other.folder)
    assert lessons(machine) == lessons(other)


def test_an_interrupted_run_is_continued_by_the_next(machine: Machine) -> None:
    class Stop(Progress):
        def advance(self, amount: float = 1, note: str = "") -> None:
            if note.startswith("LearnConventions "):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(machine.folder, progress=Stop())
    assert lessons(machine) == []
    read_all_bytes_fails(machine)  # the notes are there already
    learn(machine.folder)
    assert any(lesson.kind == "repair" for lesson in lessons(machine))


def test_a_grown_session_gets_new_notes(machine: Machine) -> None:
    learn(machine.folder)
    with open(worked(2).write(machine.projects), "ab") as stream:
        stream.write(
            worked(2)
            .prompt("more")
            .answer("yes")
            .run("uv run pytest tests", "9 passed")
            .data()[len(worked(2).data()) :]
        )
    machine.sync()
    assert learn(machine.folder).sessions == 1


def test_one_learner_can_run_alone(machine: Machine) -> None:
    learn(machine.folder, ("LearnRepairPatterns",))
    assert {lesson.kind for lesson in lessons(machine)} == {"repair"}
    assert machine.rows("SELECT DISTINCT learner FROM learnings WHERE learner <> ''") == [("LearnRepairPatterns",)]


def test_a_forgotten_session_leaves_no_trace_in_lessons(machine: Machine) -> None:
    """Lessons are learned again from the other sessions."""
    learn(machine.folder)
    connection = machine.connection()
    forget(connection, [row[0] for row in machine.rows("SELECT key FROM sessions ORDER BY key LIMIT 3")])
    connection.close()
    assert lessons(machine) == []
    learn(machine.folder)
    left = {row[0] for row in machine.rows("SELECT key FROM sessions")}
    assert {each.session for lesson in lessons(machine) for each in lesson.evidence} <= left


def test_no_lesson_is_left_when_all_sessions_are_forgotten(machine: Machine) -> None:
    learn(machine.folder)
    forget_sessions(machine.folder, [row[0] for row in machine.rows("SELECT key FROM sessions")])
    learn(machine.folder)
    assert lessons(machine) == []
    assert b"checkout.py" not in machine.everything_on_disk()
    assert NEEDLE.encode() not in machine.everything_on_disk()


def test_marks_of_a_person_survive_learning(machine: Machine) -> None:
    learn(machine.folder)
    first, second = [lesson for lesson in lessons(machine) if lesson.status == "active"][:2]
    with writing_state(machine.folder) as state:
        marks.set_mark(state, first.id, "retired", "not any more", 1.0)
        marks.set_mark(state, second.id, "pinned", "", 1.0)
    worked(7).write(machine.projects)
    machine.sync()
    learn(machine.folder)
    found = {lesson.id: lesson for lesson in lessons(machine)}
    assert (found[first.id].status, found[first.id].why) == ("retired", "not any more")
    assert found[second.id].pinned


def test_sessions_that_preheat_started_teach_nothing(machine: Machine) -> None:
    transcript = ClaudeTranscript(session="99999999-1111-4000-8000-000000000000", project="/home/dev/own")
    transcript.prompt("<preheat-run> try this").answer("ok").run("make own", "done").write(machine.projects)
    machine.sync()
    assert learn(machine.folder).sessions == 4


def test_folders_of_one_name_are_not_one_project(machine: Machine) -> None:
    """Nothing says that they are one repository."""
    worked(8, "/Users/someone/code/shop").write(machine.projects)
    worked(9, "/home/dev/other/shop").write(machine.projects)
    machine.sync()
    learn(machine.folder)
    connection = machine.connection()
    try:
        assert require_project(connection, "/Users/someone/code/shop") == "code/shop"
        assert require_project(connection, "/home/dev/shop") == "shop"
        assert require_project(connection, "/home/dev/other/shop") == "other/shop"
    finally:
        connection.close()


def test_one_session_can_be_learned_from_alone(machine: Machine) -> None:
    key = machine.rows("SELECT key FROM sessions ORDER BY key LIMIT 1")[0][0]
    found = learn_from(machine.folder, [key])
    assert found.project == "shop"
    assert set(found.profiles) == {key}
    assert any("uv run pytest" in lesson.use for lesson in found.lessons)
    assert machine.rows("SELECT count(*) FROM lessons") == [(0,)]


def test_lessons_are_made_again_after_a_kill_between_conclusions_and_lessons(machine: Machine) -> None:
    learn(machine.folder)
    before = lessons(machine)
    connection = machine.connection()
    with connection.transaction():  # as it is just before the lessons are stored
        connection.execute("DELETE FROM lessons")
        connection.execute("DELETE FROM learnings WHERE learner = ''")
    connection.close()
    assert learn(machine.folder).sessions == 0
    assert lessons(machine) == before


def test_a_session_that_is_forgotten_during_learning_leaves_no_trace(machine: Machine) -> None:
    gone = machine.rows("SELECT key FROM sessions ORDER BY key LIMIT 1")[0][0]

    class Forgetful(Progress):
        def advance(self, amount: float = 1, note: str = "") -> None:
            if note.startswith("LearnConventions ") and machine.rows(f"SELECT 1 FROM sessions WHERE key = '{gone}'"):
                connection = machine.connection()
                forget(connection, [gone])
                connection.close()

    learn(machine.folder, progress=Forgetful())
    quoted = {each.session for lesson in lessons(machine) for each in lesson.evidence}
    assert quoted
    assert gone not in quoted
