"""The file of shared lessons: one canonical form, small differences, merged by git, and read whatever is in it."""

import subprocess
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.lesson_meaning import meaning_of
from preheat.model.lesson import Lesson
from preheat.provisioning.lesson_text import describe_lesson
from preheat.sharing.check import check_document, check_safety, find_named_files, named_runner
from preheat.sharing.document import ATTRIBUTES, Document, plan_document, read_document, write_document
from preheat.sharing.entry import SharedLesson, restore_lesson, shared_id
from tests.sharing.test_entry import NOW, PLACEMENT, REPAIR, fit

WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima")


def make_entry(use: str, avoid: str = "", *, calls: int = 10, kind: str = "convention") -> SharedLesson:
    lesson = msgspec.structs.replace(
        REPAIR, kind=kind, topic="test", use=use, avoid=avoid, error="", difference="", signatures=(), forms=(),
        text=f"`{use}` `{avoid}`", support=msgspec.structs.replace(REPAIR.support, calls_for=calls, sessions_for=3),
    )  # fmt: skip
    return fit(lesson)


ENTRIES = [fit(REPAIR), fit(PLACEMENT), *(make_entry(f"make {word}") for word in WORDS)]


def check(document: Document) -> list[str]:
    checked = check_safety(document, describe_lesson, NOW, lambda text: "", "shop")
    return [
        f"{each.kind} {each.line} {each.why}" for each in check_document(checked, lambda lesson: "", lambda lesson: "")
    ]


def test_the_file_is_toml_and_read_as_it_was_written() -> None:
    data = write_document(ENTRIES)
    assert tomllib.loads(data.decode())["format"] == 1
    assert len(tomllib.loads(data.decode())["lessons"]) == len(ENTRIES)
    assert sorted(read_document(data).entries, key=str) == sorted(ENTRIES, key=str)
    assert read_document(data).faults == ()
    assert check(read_document(data)) == []


@given(st.permutations(ENTRIES))
def test_the_bytes_are_the_same_whatever_order_lessons_come_in(entries: list[SharedLesson]) -> None:
    assert write_document(entries) == write_document(ENTRIES)


def test_one_more_lesson_is_one_more_line() -> None:
    before, after = (write_document(some).splitlines() for some in (ENTRIES[:-1], ENTRIES))
    assert len(after) == len(before) + 1
    assert [line for line in after if line not in before] == [line for line in after if b"make lima" in line]


def test_what_others_wrote_stays_unless_more_was_seen_by_a_step() -> None:
    theirs = make_entry("make test", calls=10)
    a_bit_more = make_entry("make test", calls=14)
    much_more = make_entry("make test", calls=30)
    assert theirs.id == much_more.id
    assert plan_document([theirs], [a_bit_more], frozenset()).entries == (theirs,)
    assert plan_document([theirs], [much_more], frozenset()).changed == (much_more,)
    assert plan_document([much_more], [theirs], frozenset()).entries == (much_more,)
    other = make_entry("make lint")
    planned = plan_document([theirs, other], [make_entry("make build")], frozenset([other.id]))
    assert [each.use for each in planned.entries] == ["make test", "make build"]
    assert ([each.use for each in planned.new], [each.use for each in planned.gone]) == (["make build"], ["make lint"])


# Git.
class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        for name, value in (("user.name", "a"), ("user.email", "a@example.com")):
            self.git("config", name, value)
        (folder / ".preheat").mkdir()
        (folder / ".preheat" / ".gitattributes").write_bytes(ATTRIBUTES)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self.folder), *words], check=True, capture_output=True, text=True
        ).stdout

    @property
    def path(self) -> Path:
        return self.folder / ".preheat" / "lessons.toml"

    def commit(self, entries: list[SharedLesson]) -> None:
        self.path.write_bytes(write_document(entries))
        self.git("add", "-A")
        self.git("commit", "-qm", "lessons")


@pytest.mark.parametrize("shared", [0, 1, 6])
def test_two_branches_that_each_added_lessons_merge_without_a_conflict(tmp_path: Path, shared: int) -> None:
    """Also in the same place: at the beginning, at the end, between the same two, and with several each."""
    repository = Repository(tmp_path / "repo")
    ordered = sorted(ENTRIES[2:], key=lambda each: each.id)
    base = ordered[:: max(1, len(ordered) // shared)][:shared] if shared else []
    rest = [each for each in ordered if each not in base]
    ours, theirs = [*base, *rest[::2]], [*base, *rest[1::2]]
    repository.commit(base)
    repository.git("checkout", "-qb", "theirs")
    repository.commit(theirs)
    repository.git("checkout", "-q", "main")
    repository.commit(ours)
    repository.git("merge", "-q", "--no-edit", "theirs")
    found = read_document(repository.path.read_bytes())
    assert {each.id for each in found.entries} == {each.id for each in ordered}
    assert found.faults == ()
    assert tomllib.loads(repository.path.read_text())["format"] == 1
    assert write_document(found.entries) == write_document(ordered)


def test_a_lesson_that_both_branches_renewed_is_found_twice_and_the_next_share_settles_it(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repo")
    repository.commit([make_entry("make test", calls=5)])
    repository.git("checkout", "-qb", "theirs")
    repository.commit([make_entry("make test", calls=20)])
    repository.git("checkout", "-q", "main")
    repository.commit([make_entry("make test", calls=10)])
    repository.git("merge", "-q", "--no-edit", "theirs")
    found = read_document(repository.path.read_bytes())
    assert [each.why for each in found.faults] == ["the lesson of line 6 is there twice: `preheat share` joins them"]
    assert found.entries == [make_entry("make test", calls=20)]


def test_where_git_cannot_join_lines_a_conflict_has_whole_lessons(tmp_path: Path) -> None:
    """As on a forge that does not read `.gitattributes`: deleting the marks is all that is left to do."""
    repository = Repository(tmp_path / "repo")
    (repository.folder / ".preheat" / ".gitattributes").unlink()
    one, other = ENTRIES[2:4]
    repository.commit([])
    repository.git("checkout", "-qb", "theirs")
    repository.commit([other])
    repository.git("checkout", "-q", "main")
    repository.commit([one])
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "-q", "--no-edit", "theirs")
    found = read_document(repository.path.read_bytes())
    assert {each.id for each in found.entries} == {one.id, other.id}
    assert [each.is_conflict for each in found.faults] == [True, True, True]


# Whatever is in it.
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe", "it is no UTF-8 (byte 0)"),
        (b"format = 2\n", "another version of Preheat"),
        (b"[[lesson]]\n", "it is no lesson"),
        (b"{ kind = \"convention\" },\n", "`id` is missing"),
        (b"{ kind = \"evil\", id = \"a\", evidence = \"x\" },\n", "`kind` is missing or has another type"),
        (b"{ kind = \"repair\", id = \"a\", evidence = \"x\", author = \"person\" },\n", "fields that lessons do not have"),
        (b"{ kind = \"repair\", id = \"a\", evidence = 5 },\n", "`evidence` is missing or has another type"),
        (b"{ " + b"a = [" * 1000 + b"\n", "it cannot be read as TOML"),
        (b"{ x = " + b"[" * 5900 + b"\n", "it cannot be read as TOML"),
        (b"{ " + b".".join([b"a"] * 2900) + b" = 1 }\n", "fields that lessons do not have"),
        (b"{ " + b"x" * 7000 + b"\n", "it is no lesson"),
        (b"<<<<<<< HEAD\n", "git left a mark of a conflict here"),
    ],
)  # fmt: skip
def test_a_line_that_is_none_costs_itself_and_says_why(data: bytes, why: str) -> None:
    good = write_document(ENTRIES[:1])
    (fault,) = read_document(data).faults
    assert why in fault.why
    assert "\x1b" not in fault.why
    if b"format" not in data and data[0] < 128:
        joined = read_document(good + data)
        assert joined.entries == ENTRIES[:1]
        assert len(joined.faults) == 1


def test_a_line_never_repeats_what_a_file_says_in_its_message() -> None:
    data = b'{ kind = "\\u001b[31mobey me", id = "a", evidence = "x" },\n{ "obey me" = 1 },\n'
    assert all("obey" not in fault.why for fault in read_document(data).faults)


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    found = read_document(data)
    checked = check_safety(found, describe_lesson, NOW, lambda text: "")
    assert len(checked.lines) <= len(found.lines)


def test_a_file_of_the_largest_size_is_read_line_by_line_and_up_to_a_number_of_lessons() -> None:
    """Dotted names, which cost a reader of whole files the square of their number, are cut off by the length of a line."""
    line = b"{ " + b".".join([b"a"] * 2900) + b" = 1 },\n"
    found = read_document(line * (256 * 1024 // len(line)))
    assert len(found.faults) == 256 * 1024 // len(line)
    many = read_document(
        write_document([msgspec.structs.replace(ENTRIES[0], id=f"r-{number}") for number in range(700)])
    )
    assert len(many.entries) == 500
    assert many.faults[0].why == "there are more than 500 lessons"


# Checks.
def test_two_lessons_of_a_file_that_contradict_each_other_are_named_with_their_lines() -> None:
    document = read_document(write_document([make_entry("make test", "pytest"), make_entry("pytest -q")]))
    (found,) = check(document)
    first, second = sorted(document.lines)
    assert found == f"contradicted {second.line} it says the opposite of `{first.entry.id}` on line {first.line}"


def test_stale_and_contradicted_lessons_are_named_in_the_order_of_the_lines() -> None:
    document = read_document(write_document([make_entry("make gone"), make_entry("make odd")]))
    checked = check_safety(document, describe_lesson, NOW, lambda text: "")
    found = check_document(
        checked,
        lambda lesson: "gone" if lesson.use == "make gone" else "",
        lambda lesson: "odd" if lesson.use == "make odd" else "",
    )
    assert sorted((each.kind, each.why) for each in found) == [("contradicted", "odd"), ("stale", "gone")]
    assert [each.line for each in found] == sorted(each.line for each in found)


def lesson(use: str, kind: str = "convention", topic: str = "test", forms: tuple[str, ...] = ()) -> Lesson:
    return msgspec.structs.replace(REPAIR, kind=kind, use=use, topic=topic, forms=forms)


def test_the_files_and_programs_that_a_lesson_names() -> None:
    assert find_named_files(lesson("python scripts/gen.py --all")) == ["scripts/gen.py"]
    assert find_named_files(lesson("./tools/build.sh")) == ["tools/build.sh"]
    assert find_named_files(lesson("src/app.py", "working_set")) == ["src/app.py"]
    for nothing in ("make test", "node_modules/.bin/tsc", "python -m pytest", ".venv/bin/pytest", "npm run build", ""):
        assert find_named_files(lesson(nothing)) == []
    assert named_runner(lesson("cd web && npm ci")) == ("npm", "web")
    assert named_runner(lesson("", topic="runner", forms=("pnpm …",))) == ("pnpm", "")
    assert named_runner(lesson("npm run test")) is None


def test_the_id_is_made_of_the_meaning_and_not_of_the_counts() -> None:
    one, other = make_entry("make test", calls=10), make_entry("make test", calls=500)
    assert one.id == other.id != make_entry("make tests").id
    restored = restore_lesson(one, describe_lesson, "shop")
    assert restored is not None
    assert shared_id(restored) == one.id
    assert meaning_of(restored)[0] == "convention"
