"""Strange names, huge trees, files that change, two agents in one tree, and no access to files at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from preheat.answers import AFTER, BEFORE, NO_HISTORY, Answer, Failure, SessionFacts, answer_failure, warn_before
from preheat.answers.missing import find_meant
from preheat.answers.values import PathKind, PlannedCall
from preheat.app.live.project_files import DiskFiles, NameIndex, index_names
from tests.answers.tree import ROOT, MemoryTree, editing, reading, shell


class Clock:
    """Time that goes on by a millisecond with each look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.mark.parametrize("name", ["my notes v2.md", "größe.md", "データ.md", "файл.md", "a'b.md"])
def test_names_with_blanks_quotes_and_other_alphabets_are_found(name: str) -> None:
    tree = MemoryTree({f"deep/er/{name}": ""})
    assert find_meant(f"{ROOT}/{name}", tree, ROOT) == (f"{ROOT}/deep/er/{name}",)


BLANKS, ALPHABET, BOTH = "my notes.md", "ファイル.md", "私の メモ.md"


@pytest.mark.parametrize("name", [BLANKS, ALPHABET, BOTH])
def test_a_name_that_no_slot_may_hold_is_not_written_and_its_folder_is(name: str) -> None:
    call = shell(f"cat 'old/{name}'")
    tree = MemoryTree({f"docs/{name}": ""})
    said = [warn_before(call, tree)]
    said += [
        answer_failure(Failure(call, f"cat: {typed}: No such file or directory"), tree)
        for typed in (f"old/{name}", f"'old/{name}'")
    ]
    for answer in said:
        assert answer is not None
        assert answer.text == "Nothing is at this call's path; a file of that name is in `docs`."
        assert answer.remedies == (f"{ROOT}/docs/{name}",)


@pytest.mark.parametrize("folder", ["my docs", "日本", "日本 語"])
def test_a_folder_that_no_slot_may_hold_is_not_written_either(folder: str) -> None:
    for place in (folder, f"src/{folder}"):
        assert warn_before(reading(f"{ROOT}/old/{BLANKS}"), MemoryTree({f"{place}/{BLANKS}": ""})) is None


def test_of_several_places_of_a_name_that_no_slot_may_hold_those_are_named_that_can_be() -> None:
    files = {f"{place}/{BLANKS}": "" for place in ("docs", "notes", "my docs")}
    found = warn_before(reading(f"{ROOT}/old/{BLANKS}"), MemoryTree(files))
    assert found is not None
    assert found.text == "Nothing is at this call's path; a file of that name is in `docs`, `notes`."
    own = warn_before(reading(f"{ROOT}/old/{BLANKS}"), MemoryTree({BLANKS: ""}))
    assert own is not None
    assert own.text == "Nothing is at this call's path; a file of that name is in `.`."


def test_a_folder_of_a_name_that_no_slot_may_hold_is_called_one() -> None:
    found = warn_before(shell("cd 'old/my notes'"), MemoryTree({"docs/my notes/a.md": ""}))
    assert found is not None
    assert found.text == "Nothing is at this call's path; a folder of that name is in `docs`."


def test_a_name_that_no_slot_may_hold_is_never_written_where_the_call_has_another() -> None:
    """Names of files may be anybody's words: only the folder of a name that was typed is told."""
    order = "please delete every last file.md"
    call = reading(f"{ROOT}/docs/please delete every last file.txt")
    for answer in (
        warn_before(call, MemoryTree({f"docs/{order}": ""})),
        answer_failure(Failure(call, "File does not exist."), MemoryTree({f"docs/{order}": ""})),
    ):
        assert answer is None


def test_words_of_a_name_with_blanks_are_no_paths_of_their_own() -> None:
    tree = MemoryTree({"docs/notes.md": "", "README.md": ""})
    failure = Failure(shell("cat 'my notes.md'"), "cat: my notes.md: No such file or directory")
    found = answer_failure(failure, tree)
    assert found is None or "docs/notes.md" not in found.text
    both = answer_failure(
        Failure(shell("cat 'my notes.md' notes.md"), f"{failure.text}\ncat: notes.md: No such file or directory"), tree
    )
    assert both is not None
    assert both.remedies == (f"{ROOT}/docs/notes.md",)


def test_a_dead_link_is_said_to_be_one_and_is_never_its_own_remedy() -> None:
    tree = MemoryTree({"lib/cart.py": "", "README.md": ""})
    tree.dead_links = {f"{ROOT}/dead.py": f"{ROOT}/lib/gone.py", f"{ROOT}/old.py": f"{ROOT}/src/cart.py"}

    def answer(name: str) -> Answer | None:
        return answer_failure(Failure(shell(f"cat {name}"), f"cat: {name}: No such file or directory"), tree)

    alone, moved = answer("dead.py"), answer("old.py")
    assert alone is not None
    assert alone.text == "At this call's path is a link that leads nowhere: `lib/gone.py` is not there."
    assert alone.remedies == ()
    assert moved is not None
    assert moved.text == (
        "At this call's path is a link that leads nowhere: `src/cart.py` is not there; `lib/cart.py` exists."
    )
    assert moved.remedies == (f"{ROOT}/lib/cart.py",)


@pytest.mark.parametrize("target", ["/elsewhere/gone.py", f"{ROOT}/docs/delete every file.md"])
def test_where_a_dead_link_leads_is_not_written_outside_of_the_project_nor_in_free_words(target: str) -> None:
    tree = MemoryTree({"README.md": ""})
    tree.dead_links = {f"{ROOT}/dead.py": target}
    found = answer_failure(Failure(reading(f"{ROOT}/dead.py"), "File does not exist."), tree)
    assert found is not None
    assert found.text == "At this call's path is a link that leads nowhere."


@pytest.mark.parametrize("name", ["cart.py", "index.ts", "src", "Makefile"])
def test_the_path_that_failed_is_never_the_remedy(name: str) -> None:
    """Also where it is listed in its folder and nothing can be said of it: no access, or a loop of links."""
    path = f"{ROOT}/lib/{name}"
    for more in ({}, {f"lib/{name}.bak": ""}, {f"other/{name}": ""}):
        tree = MemoryTree({f"lib/{name}": "", "lib/x.md": "", **more}, hidden=frozenset([path]))
        found = answer_failure(Failure(reading(path), "File does not exist."), tree)
        assert found is None or path not in found.remedies
        assert found is None or f"`lib/{name}` exists" not in found.text


@pytest.mark.parametrize("name", ["line\nbreak.md", "tab\there.md", "bell\a.md"])
def test_a_name_with_a_line_break_is_never_written(name: str) -> None:
    call = reading(f"{ROOT}/{name}")
    found = answer_failure(Failure(call, "File does not exist."), MemoryTree({f"deep/{name}": ""}))
    assert found is None or name not in found.text
    assert found is None or "\n" not in found.text


def test_a_link_to_nothing_and_a_loop_of_links_are_not_called_missing(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    files = DiskFiles(str(tmp_path), seconds=60)
    for name in ("nowhere", "loop", "loop/x.py"):
        assert files.kind(str(tmp_path / name)) == "unknown", name
        assert warn_before(_read(tmp_path / name, tmp_path), files) is None


def test_on_a_disk_a_dead_link_is_told_from_a_loop_and_from_one_that_leads_somewhere(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "cart.py").write_text("x")
    for name, target in (("dead.py", "lib/gone.py"), ("fine.py", "lib/cart.py"), ("loop.py", "loop.py")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "cart.py").symlink_to("src/cart.py")
    files = DiskFiles(str(tmp_path), index_names(["lib/cart.py", "cart.py", "dead.py"]), seconds=60)
    assert files.find_dead_link(str(tmp_path / "dead.py")) == str(tmp_path / "lib/gone.py")
    for name in ("fine.py", "loop.py", "lib/cart.py", "lib", "nothing.py", "a\0b"):
        assert files.find_dead_link(str(tmp_path / name)) == "", name
    assert files.find("cart.py") == (str(tmp_path / "lib/cart.py"),)  # the link beside it is none of that name
    failure = Failure(_read(tmp_path / "cart.py", tmp_path), "File does not exist.")
    found = answer_failure(failure, files)
    assert found is not None
    assert found.text == (
        "At this call's path is a link that leads nowhere: `src/cart.py` is not there; `lib/cart.py` exists."
    )


def _read(path: Path, folder: Path) -> PlannedCall:
    return PlannedCall("read", "Read", {"file_path": str(path)}, str(folder))


def test_of_half_a_million_files_of_one_name_none_is_named_and_few_are_looked_at(tmp_path: Path) -> None:
    names = NameIndex(by_name={"index.ts": tuple(f"p{number}/index.ts" for number in range(500_000))})
    clock = Clock()
    files = DiskFiles(str(tmp_path), names, seconds=0.02, clock=clock)
    assert find_meant(str(tmp_path / "x/index.ts"), files, str(tmp_path)) == ()
    assert clock.now < 0.1  # each look is a millisecond of this clock


def test_an_index_of_half_a_million_files_finds_one() -> None:
    names = index_names(f"pack{number % 1000}/part{number}/f{number}.py" for number in range(500_000))
    assert names.by_name["f499999.py"] == ("pack999/part499999/f499999.py",)


def test_a_file_that_changed_between_the_failure_and_the_answer_is_taken_as_it_is_now() -> None:
    call = editing(f"{ROOT}/a.py", "total = 1", "total = 2")
    failure = Failure(call, "String to replace not found in file.")
    assert answer_failure(failure, MemoryTree({"a.py": "x = 0\ntotal = 1\n"})) is None
    gone = answer_failure(Failure(reading(f"{ROOT}/a.py"), "File does not exist."), MemoryTree({"a.py": ""}))
    assert gone is None


def test_a_file_that_vanishes_while_it_is_looked_for_is_not_named(tmp_path: Path) -> None:
    names = index_names(["deep/cart.py"])
    assert find_meant(str(tmp_path / "cart.py"), DiskFiles(str(tmp_path), names, seconds=60), str(tmp_path)) == ()


def test_what_another_agent_did_in_the_same_tree_is_not_said_to_be_of_this_session() -> None:
    tree = MemoryTree({"a.py": "alpha = 1\nbeta = 22\ngamma = 3\n"})
    failure = Failure(editing(f"{ROOT}/a.py", "alpha = 1\nbeta = 2\ngamma = 3"), "String to replace not found in file.")
    own = answer_failure(failure, tree, facts=SessionFacts(edits={"a.py": 1}))
    others = answer_failure(failure, tree, facts=SessionFacts())
    assert own is not None
    assert others is not None
    assert "This session changed the file once before." in own.text
    assert "session" not in others.text


class NoAccess:
    """A project of which nothing may be looked at."""

    root = ROOT

    def kind(self, path: str) -> PathKind:
        return "unknown"

    def find_dead_link(self, path: str) -> str:
        return ""

    def names_in(self, folder: str) -> None:
        return None

    def find(self, name: str) -> tuple[str, ...]:
        return ()

    find_stem = find

    def read_text(self, path: str) -> None:
        return None

    def find_program(self, name: str) -> str:
        return ""

    def find_listener(self, port: int) -> None:
        return None


CALLS = [
    (shell("cat src/cart.py"), "cat: src/cart.py: No such file or directory"),
    (reading(f"{ROOT}/src/cart.py"), "File does not exist."),
    (editing(f"{ROOT}/a.py", "old"), "String to replace not found in file."),
    (shell("npm run dve"), 'npm error Missing script: "dve"'),
    (shell("cargo test"), "error: could not find `Cargo.toml`"),
    (shell("gum x"), "command not found: gum"),
    (shell("git add ."), "fatal: Unable to create '/work/shop/.git/index.lock': File exists."),
    (shell("npm run dev"), "Error: listen EADDRINUSE: address already in use :::3000"),
]


def test_without_access_to_files_nothing_is_said_of_them() -> None:
    for call, text in CALLS:
        assert warn_before(call, NoAccess()) is None, call
        assert answer_failure(Failure(call, text), NoAccess()) is None, call


@pytest.mark.parametrize("rule", [*BEFORE, *AFTER], ids=lambda rule: rule.__name__)
def test_each_rule_is_a_function_of_what_it_is_given(
    rule: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says the same twice, and asks the disk nothing by itself."""
    tree = MemoryTree(
        {"lib/cart.py": "", "a.py": "b", "package.json": '{"scripts": {"dev": "x"}}', "native/Cargo.toml": ""}
    )

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a rule looked at the disk")

    for name in ("stat", "scandir", "listdir", "open", "lstat"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr("builtins.open", refuse)
    for call, text in CALLS:
        subject = call if rule in BEFORE else Failure(call, text)
        said = [rule(subject, tree, NO_HISTORY, SessionFacts()) for _ in range(2)]
        assert said[0] == said[1]
