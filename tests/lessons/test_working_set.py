"""UpdateWorkingSetRanking: the files and folders that sessions come back to."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from preheat.calls.files import Touch, project_path
from preheat.lessons.call_facts import safe_touches
from preheat.lessons.learner import SessionNotes
from preheat.lessons.working_set import (
    MOST_FILES,
    MOST_FOLDERS,
    UPDATE_WORKING_SET_RANKING,
    FileNotes,
    WorkingNotes,
    learn,
    take_notes,
)
from preheat.model.lesson import DAY, Lesson
from tests.lessons.sessions import Made, ran, seen, used


def read(path: str) -> Made:
    return used("Read", "read", {"file_path": f"/w/shop/{path}"})


def edit(path: str) -> Made:
    return used("Edit", "edit", {"file_path": f"/w/shop/{path}"})


def write(path: str) -> Made:
    return used("Write", "write", {"file_path": f"/w/shop/{path}"})


def noted(
    number: int, *files: FileNotes, removed: tuple[str, ...] = (), day: float | None = None
) -> SessionNotes[WorkingNotes]:
    at = DAY * (number if day is None else day)
    return SessionNotes(f"tester:{number:03}", "tester", "shop", at, at + 600, WorkingNotes(files, removed))


def named(lessons: list[Lesson], topic: str = "file") -> list[str]:
    return [lesson.use for lesson in lessons if lesson.topic == topic]


# Which files a call touches.
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", [Touch("src/a.py", "read")]),
        ("cd src && sed -n '1,20p' a.py", [Touch("src/a.py", "read")]),
        ("grep -n 'b.py' src/a.py", [Touch("src/a.py", "read")]),
        ("sed -i 's/x/y/' src/a.py", [Touch("src/a.py", "changed")]),
        ("cat <<'EOF' > src/new.py\nif a > b.c:\n    pass\nEOF", [Touch("src/new.py", "made")]),
        ("rm -rf src/old", [Touch("src/old", "removed")]),
        ("mv src/a.py src/b.py", [Touch("src/a.py", "removed"), Touch("src/b.py", "made")]),
        ("pytest tests/test_a.py::test_one -q", [Touch("tests/test_a.py", "read")]),
        ("cat /etc/hosts ~/.bashrc ../other/x.py", []),
        ("cd /somewhere/else && cat a.py", []),
        ("cat node_modules/x/index.js package-lock.json dist/app.js", []),
        ("cat /tmp/out.txt", []),
        ("echo done", []),
    ],
)
def test_a_command_touches_the_files_that_it_names(command: str, expected: list[Touch]) -> None:
    """A command's files are those it reads, writes or removes inside the project, and no pattern that looks like one."""
    session = seen([ran(command)])
    assert safe_touches(session, session.calls[0]) == expected


def test_a_path_in_a_worktree_is_the_project_s() -> None:
    """The same file in an agent's own copy of the project is the same file."""
    assert project_path(".claude/worktrees/agent-1/src/a.py") == "src/a.py"


@given(some.text(max_size=60), some.text(max_size=10))
def test_touched_paths_are_inside_the_project(path: str, folder: str) -> None:
    """No path leads out of the project or begins at a machine's root."""
    found = project_path(path, folder if project_path(folder) else "")
    assert not found.startswith(("/", "~", ".."))
    assert "/../" not in found


@given(some.text(max_size=200))
def test_any_command_gives_touches_or_none(command: str) -> None:
    """Whatever was typed, notes can be taken."""
    take_notes(seen([ran(command)]))


# What is noted of a session.
def test_reads_changes_checks_and_failures_are_noted() -> None:
    """A check that passes after a change makes it a verified one."""
    notes = take_notes(
        seen(
            [
                read("src/a.py"),
                edit("src/a.py"),
                ran("pytest", "1 failed", 1, cause="finding"),
                edit("src/b.py"),
                ran("pytest", "3 passed"),
                edit("src/c.py"),
                used("Edit", "edit", {"file_path": "/w/shop/src/c.py"}, "text not found", cause="mistake"),
            ]
        )
    )
    assert notes is not None
    assert notes.files == (
        FileNotes("src/a.py", 1, 1, 0, True, last=1),
        FileNotes("src/b.py", 0, 1, 0, True, last=3),
        FileNotes("src/c.py", 0, 1, 1, False, last=6),
    )


def test_a_file_that_a_read_does_not_find_is_gone() -> None:
    """What a tool says is not there is not in the working set."""
    gone = used("Read", "read", {"file_path": "/w/shop/src/a.py"}, "File does not exist", cause="mistake")
    notes = take_notes(seen([gone]))
    assert notes is not None
    assert notes.files[0].gone


def test_notes_survive_the_archive() -> None:
    """What is noted comes back the same from its JSON form."""
    notes = take_notes(seen([read("src/a.py"), ran("rm -r src/old")]))
    assert msgspec.json.decode(msgspec.json.encode(notes), type=UPDATE_WORKING_SET_RANKING.notes_type) == notes


# What is learned of many.
def test_files_of_most_sessions_are_active_and_others_weak() -> None:
    """A file of every session is active; one of a few is weak; one of a single session is not named."""
    sessions = [
        noted(
            n,
            FileNotes("src/a.py", 1, 1, verified=True),
            *([FileNotes("src/b.py", 1)] if n % 4 == 0 else []),
            FileNotes(f"src/{n}.py", 1),
        )
        for n in range(12)
    ]
    lessons = {lesson.use: lesson for lesson in learn("shop", sessions) if lesson.topic == "file"}
    assert lessons["src/a.py"].status == "active"
    assert lessons["src/b.py"].status == "weak"
    assert set(lessons) == {"src/a.py", "src/b.py"}
    assert "12 of the last 12 sessions, changed in 12 (in 12 a check passed" in lessons["src/a.py"].text


def test_support_counts_the_sessions_since_a_file_was_first_seen() -> None:
    """Sessions before it came say nothing against it."""
    sessions = [noted(n, FileNotes("README.md", 1)) for n in range(5)]
    sessions += [
        noted(5, FileNotes("src/a.py", 1)),
        noted(6, FileNotes("README.md", 1)),
        noted(7, FileNotes("src/a.py", 1)),
    ]
    lesson = next(lesson for lesson in learn("shop", sessions) if lesson.use == "src/a.py")
    assert (lesson.support.sessions_for, lesson.support.sessions_against) == (2, 1)


def test_newer_sessions_count_more() -> None:
    """Of two files that as many sessions touched, the one touched later comes first."""
    sessions = [noted(n, FileNotes("old.py" if n < 5 else "new.py", 1)) for n in range(10)]
    assert named(learn("shop", sessions)) == ["new.py", "old.py"]


def test_days_count_besides_sessions() -> None:
    """The same order of sessions with a month between gives the older ones less."""
    near = [noted(n, FileNotes("old.py" if n < 3 else "new.py", 1), day=n / 10) for n in range(5)]
    far = [noted(n, FileNotes("old.py" if n < 3 else "new.py", 1), day=n * 30) for n in range(5)]
    assert "old.py" in named(learn("shop", near))
    assert "old.py" not in named(learn("shop", far))


def test_a_file_that_was_removed_later_is_not_ranked() -> None:
    """Neither the file nor what lay in a removed folder; but what was made again is."""
    files = [FileNotes(path, 1) for path in ("a.py", "old/b.py", "c.py")]
    sessions = [noted(n, *files) for n in range(4)]
    sessions += [noted(4, FileNotes("keep.py", 1), removed=("a.py", "old", "c.py")), noted(5, FileNotes("c.py", 1))]
    assert named(learn("shop", sessions)) == ["c.py"]


def test_a_file_that_every_session_makes_anew_is_not_ranked() -> None:
    """A script for trying things out is made and thrown away again and again."""
    sessions = [noted(n, FileNotes("try_it.py", 0, 2, made=True), FileNotes("a.py", 1)) for n in range(6)]
    assert named(learn("shop", sessions)) == ["a.py"]


def test_only_the_innermost_of_equal_folders_is_ranked() -> None:
    """`src/api` says more than `src` where all the work is in it, and a folder of one file less than the file."""
    sessions = [
        noted(n, FileNotes("src/api/a.py", 1), FileNotes("src/api/b.py", 1), FileNotes("docs/one.md", 1))
        for n in range(5)
    ]
    assert named(learn("shop", sessions), "folder") == ["src/api"]


def test_the_top_folder_is_not_ranked() -> None:
    """A folder at the top with nearly everything in it is what whoever lists the project sees."""
    sessions = [noted(n, *[FileNotes(f"src/{m}/{n}.py", 1) for m in range(8)]) for n in range(5)]
    assert "src" not in named(learn("shop", sessions), "folder")


def test_nothing_is_learned_over_all_projects_or_of_one_session() -> None:
    """Files belong to a project, and one session is no habit."""
    sessions = [noted(n, FileNotes("a.py", 1)) for n in range(5)]
    assert learn("", sessions) == []
    assert learn("shop", sessions[:1]) == []


def test_notes_of_real_calls_give_lessons() -> None:
    """From calls to lessons: the file that each session edits."""
    made = [seen([read("src/a.py"), edit("src/a.py"), ran("pytest", "ok")], key=f"tester:{n}") for n in range(3)]
    found = [take_notes(each) for each in made]
    sessions = [
        SessionNotes(each.key, "tester", "shop", each.session.started_at, each.session.ended_at, notes)
        for each, notes in zip(made, found, strict=True)
        if notes is not None
    ]
    assert named(learn("shop", sessions)) == ["src/a.py"]


_paths = some.sampled_from(["a.py", "src/a.py", "src/b.py", "src/api/c.py", "docs/d.md", "x/y/z.go"])
_files = some.lists(
    some.builds(FileNotes, _paths, some.integers(0, 3), some.integers(0, 3), some.integers(0, 2), gone=some.booleans()),
    max_size=5,
    unique_by=lambda file: file.path,
)


@given(some.lists(some.tuples(_files, some.lists(_paths, max_size=2), some.integers(0, 60)), max_size=15))
def test_any_history_gives_bounded_and_truthful_lessons(history: list[tuple[list[FileNotes], list[str], int]]) -> None:
    """However sessions went: few lessons, no path twice, counts that fit, and the same again on a second run."""
    sessions = [noted(n, *files, removed=tuple(gone), day=day) for n, (files, gone, day) in enumerate(history)]
    lessons = learn("shop", sessions)
    assert len(named(lessons)) <= MOST_FILES
    assert len(named(lessons, "folder")) <= MOST_FOLDERS
    assert len({lesson.id for lesson in lessons}) == len(lessons)
    for lesson in lessons:
        assert 2 <= lesson.support.sessions_for <= len(sessions)
        assert lesson.support.sessions_against >= 0
    assert learn("shop", sessions) == lessons
