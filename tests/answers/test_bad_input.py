"""Strange names, huge trees, files that change, two agents in one tree, and no access to files at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from preheat.answers import AFTER, BEFORE, NO_HISTORY, Failure, SessionFacts, answer_failure, warn_before
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
