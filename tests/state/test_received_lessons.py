"""Lessons of others: kept in the state, counted only while what brought them is as it was trusted, and joined with ours."""

import subprocess
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from preheat.app import Preheat
from preheat.archive.connect import connect
from preheat.archive.lessons import load_conflicts, load_lessons, load_received_only, store_lessons
from preheat.lesson_meaning import contradict, join_received, meaning_of
from preheat.model.lesson import Approval, Lesson, Scope, Support, text_digest
from preheat.model.received import ReceivedLesson, TrustedFile
from preheat.shared_file import MOST_BYTES, find_clone, find_file, shared_path
from preheat.sqlite_files.opening import write_transaction
from preheat.state.connect import reading, writing
from preheat.state.marks import approve, set_mark
from preheat.state.received_lessons import (
    received_lessons,
    received_stamp,
    revoke_files,
    store_received_lessons,
    trust_file,
    trusted_files,
)

DAY = 86400.0


def make_lesson(
    name: str,
    use: str = "",
    avoid: str = "",
    *,
    seen: float = 100 * DAY,
    kind: str = "convention",
    project: str = "shop",
) -> Lesson:
    return msgspec.convert(
        {
            "id": name, "kind": kind, "scope": {"project": project}, "topic": "test", "text": f"`{use}` `{avoid}`",
            "use": use, "avoid": avoid, "support": {"calls_for": 9, "sessions_for": 4}, "last_seen": seen, "score": 0.6,
        },
        Lesson,
    )  # fmt: skip


def from_team(lesson: Lesson, project: str = "") -> ReceivedLesson:
    return ReceivedLesson(lesson, "team", "crew", f"digest of {lesson.id}", project, "a reviewer", 5.0)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A working tree with a file in the place of the shared lessons."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".preheat").mkdir()
    (folder / ".preheat" / "lessons.toml").write_bytes(b"one\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> str:
    folder = tmp_path / "home"
    folder.mkdir()
    return str(folder)


def trust(home: str, tree: Path, lessons: list[Lesson], at: float = 1.0) -> str:
    clone = find_clone(str(tree))
    assert clone is not None
    file = find_file(clone.root)
    received = [ReceivedLesson(each, "repository", clone.identity, file.digest, "", "you", at) for each in lessons]
    with writing(home) as state:
        trust_file(state, TrustedFile(clone.identity, file.digest, clone.root, file.data, at), received)
    return clone.identity


def ids(home: str, where: str = "") -> list[str]:
    with reading(home) as state:
        return [each.lesson.id for each in received_lessons(state, where)]


# What counts now.
def test_a_lesson_of_a_file_counts_only_while_the_file_is_as_it_was_trusted(home: str, tree: Path) -> None:
    trust(home, tree, [make_lesson("c-1", "make test")])
    assert ids(home, str(tree)) == ids(home) == ["c-1"]
    path = tree / ".preheat" / "lessons.toml"
    path.write_bytes(b"two\n")
    assert ids(home, str(tree)) == ids(home) == []
    path.write_bytes(b"one\n")
    assert ids(home, str(tree)) == ["c-1"]
    path.unlink()
    assert ids(home, str(tree)) == ids(home) == []


def test_trust_in_one_clone_says_nothing_of_another_with_the_same_file(home: str, tree: Path, tmp_path: Path) -> None:
    trust(home, tree, [make_lesson("c-1", "make test")])
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", str(tree), str(other)], check=True, capture_output=True)
    (other / ".preheat").mkdir()
    (other / ".preheat" / "lessons.toml").write_bytes(b"one\n")
    assert ids(home, str(other)) == []
    assert ids(home, str(tmp_path)) == []


def test_a_linked_worktree_shares_the_trust_of_its_clone_for_the_same_bytes(
    home: str, tree: Path, tmp_path: Path
) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tree), *words], check=True, capture_output=True)

    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "first")
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", "--detach", str(linked))
    trust(home, tree, [make_lesson("c-1", "make test")])
    assert ids(home, str(linked)) == ["c-1"]
    (linked / ".preheat" / "lessons.toml").write_bytes(b"changed\n")
    assert ids(home, str(linked)) == []
    assert ids(home, str(tree)) == ["c-1"]


def test_both_of_two_trusted_versions_count_each_where_its_bytes_are(home: str, tree: Path) -> None:
    """Going from branch to branch asks once for each version."""
    path = tree / ".preheat" / "lessons.toml"
    identity = trust(home, tree, [make_lesson("c-1", "make test")], 1.0)
    path.write_bytes(b"two\n")
    trust(home, tree, [make_lesson("c-2", "make check")], 2.0)
    assert ids(home, str(tree)) == ["c-2"]
    path.write_bytes(b"one\n")
    assert ids(home, str(tree)) == ["c-1"]
    with writing(home) as state:
        assert [each.content for each in trusted_files(state, identity)] == [b"two\n", b"one\n"]
        assert revoke_files(state, identity) == 2
    assert ids(home, str(tree)) == []


def test_only_the_newest_versions_stay_trusted(home: str, tree: Path) -> None:
    for number in range(12):
        (tree / ".preheat" / "lessons.toml").write_bytes(b"%d\n" % number)
        identity = trust(home, tree, [make_lesson(f"c-{number}", "make test")], float(number))
    with reading(home) as state:
        assert [each.at for each in trusted_files(state, identity)] == [11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
        assert state.execute("SELECT count(*) FROM received_lessons").fetchone() == (8,)


def test_what_comes_from_a_team_replaces_what_came_from_it_before(home: str) -> None:
    with writing(home) as state:
        before = received_stamp(state)
        store_received_lessons(
            state, "team", "crew", [from_team(make_lesson("c-1", "a")), from_team(make_lesson("c-2", "b"))]
        )
        assert received_stamp(state) != before
        store_received_lessons(state, "team", "crew", [from_team(make_lesson("c-2", "b"))])
        store_received_lessons(state, "team", "others", [])
    assert ids(home) == ids(home, "/nowhere") == ["c-2"]


# The file itself.
def test_nothing_but_a_plain_file_of_the_tree_is_read(tree: Path, tmp_path: Path) -> None:
    path = Path(shared_path(str(tree)))
    assert find_file(str(tree)).data == b"one\n"
    path.write_bytes(b"x" * (MOST_BYTES + 1))
    assert find_file(str(tree)).fault == "it is larger than 256 KB"
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert find_file(str(tree)).fault == "it is a link, not a file of the repository"
    path.unlink()
    path.mkdir()
    assert find_file(str(tree)).fault
    path.rmdir()
    path.parent.rmdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lessons.toml").write_bytes(b"one\n")
    path.parent.symlink_to(outside)
    assert find_file(str(tree)).fault == "`.preheat` is not a folder of the repository"
    assert find_file(str(tree)).data == b""


# Joining.
def test_lessons_that_say_the_same_are_one_and_ours_stands() -> None:
    ours, theirs = make_lesson("c1", "make  test", "pytest"), make_lesson("c-1", "make test", "pytest")
    assert meaning_of(ours) == meaning_of(theirs)
    assert [each.id for each in join_received([ours], [theirs])] == ["c1"]


def test_theirs_stands_where_ours_has_too_little_evidence_and_is_retired_where_a_person_retired_ours() -> None:
    ours, theirs = make_lesson("c1", "make test"), make_lesson("c-1", "make test")
    weak = msgspec.structs.replace(ours, status="weak")
    assert [(each.id, each.status) for each in join_received([weak], [theirs])] == [("c1", "weak"), ("c-1", "active")]
    retired = msgspec.structs.replace(ours, status="retired")
    assert join_received([retired], [theirs])[1].status == "retired"
    assert join_received([retired], [theirs])[1].why == "`c1` says the same and is retired"


def test_of_two_that_contradict_each_other_the_one_seen_last_is_handed_out_unless_a_person_said_otherwise() -> None:
    ours, theirs = (
        make_lesson("c1", "pytest -q", seen=10 * DAY),
        make_lesson("c-1", "make test", "pytest", seen=20 * DAY),
    )
    states = {each.id: each.status for each in join_received([ours], [theirs])}
    assert states == {"c1": "weak", "c-1": "active"}
    newer = msgspec.structs.replace(ours, last_seen=30 * DAY)
    assert {each.id: each.why for each in join_received([newer], [theirs])} == {
        "c1": "", "c-1": "contradicts `c1`: it was seen last",
    }  # fmt: skip
    for mine, decided in (
        (msgspec.structs.replace(ours, author="person"), frozenset[str]()),
        (msgspec.structs.replace(ours, pinned=True), frozenset[str]()),
        (ours, frozenset(["c1"])),
    ):
        found = {each.id: (each.status, each.why) for each in join_received([mine], [theirs], decided)}
        assert found == {"c1": ("active", ""), "c-1": ("weak", "contradicts `c1`: you said so")}


def test_a_remedy_that_only_adds_arguments_contradicts_nothing_but_the_bare_command() -> None:
    added = make_lesson("c1", "npm test -- --run", "npm test")
    assert not contradict(added, make_lesson("c-1", "npm test -- --run --bail"))
    assert contradict(added, make_lesson("c-2", "npm test"))
    assert not contradict(make_lesson("c3", "make test"), make_lesson("c4", "make lint", "pytest"))


def test_what_was_learned_in_other_projects_contradicts_nothing_here() -> None:
    general = make_lesson("c1", "pytest", project="")
    theirs = make_lesson("c-1", "make test", "pytest")
    assert [each.status for each in join_received([general], [theirs])] == ["active", "active"]


# In the one place where lessons are listed.
def test_lessons_of_others_are_listed_below_a_persons_own_with_marks_applied(home: str) -> None:
    Preheat(home).sync()
    own = msgspec.structs.replace(make_lesson("c1", "make a", project=""), author="person")
    with closing(connect(home)) as archive, write_transaction(archive):
        store_lessons(archive, "", {"Conventions": [own]})
    best = msgspec.structs.replace(make_lesson("c-2", "make b", project=""), score=1.0)
    with writing(home) as state:
        store_received_lessons(
            state, "team", "crew", [from_team(best), from_team(make_lesson("c-3", "make c", project=""))]
        )
        set_mark(state, "c-3", "retired", "no", 1.0)
    with closing(connect(home)) as archive:
        found = load_lessons(archive)
        assert [(each.id, each.origin, each.status) for each in found] == [
            ("c1", "", "active"), ("c-2", "team", "active"), ("c-3", "team", "retired"),
        ]  # fmt: skip
        assert load_conflicts(archive) == []


def test_a_lesson_of_others_never_takes_the_place_of_one_with_the_same_id(home: str) -> None:
    """Whatever a file calls its lessons: ours are listed as they were."""
    Preheat(home).sync()
    own = make_lesson("c1", "make a", project="")
    with closing(connect(home)) as archive, write_transaction(archive):
        store_lessons(archive, "", {"Conventions": [own]})
    with writing(home) as state:
        store_received_lessons(state, "team", "crew", [from_team(make_lesson("c1", "make b", project=""))])
        approve(state, Approval("c1", text_digest(own.text), "", 1.0))
    with closing(connect(home)) as archive:
        assert load_lessons(archive) == [own]


def test_the_first_session_of_a_new_colleague_has_what_is_trusted_without_an_archive(home: str, tree: Path) -> None:
    trust(home, tree, [make_lesson("c-1", "make test")])
    (found,) = load_received_only(home, str(tree))
    assert (found.id, found.scope, found.origin) == ("c-1", Scope(project="shop"), "repository")
    assert found.support == Support(9, 4)
    context = Preheat(home).provision("run the tests", cwd=str(tree))
    assert "make test" in Preheat(home).render(context).text
