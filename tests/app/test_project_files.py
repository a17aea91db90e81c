"""The working tree on a disk, as the rules of answers look at it: strange names, limits, no access."""

import os
from pathlib import Path

import pytest

from preheat.answers import Failure, PlannedCall, answer_failure, warn_before
from preheat.app.live import project_files
from preheat.app.live.project_files import DiskFiles, index_names, list_names


def look(root: Path, seconds: float = 60.0) -> DiskFiles:
    return DiskFiles(str(root), list_names(str(root)), seconds)


def read(root: Path, path: str) -> PlannedCall:
    return PlannedCall("read", "Read", {"file_path": path}, str(root))


@pytest.mark.parametrize("name", ["my file.txt", "größe.txt", "データ.txt", "new\nline.txt", "'quote'.txt"])
def test_strange_names_are_found_and_nothing_unsafe_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / name).write_text("x")
    files = look(tmp_path)
    assert files.kind(str(tmp_path / "deep" / name)) == "file"
    assert files.find(name) == (str(tmp_path / "deep" / name),)
    warning = warn_before(read(tmp_path, str(tmp_path / name)), files)
    assert warning is None or "\n" not in warning.text


def test_a_program_that_the_shell_does_not_find_is_named_where_installers_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    versions = tmp_path / ".nvm" / "versions" / "node"
    for place, mode in (
        (tmp_path / ".cargo" / "bin" / "preheat-one", 0o755),
        (versions / "v9.1.0" / "bin" / "preheat-two", 0o755),
        (versions / "v22.3.0" / "bin" / "preheat-two", 0o755),
        (tmp_path / "go" / "bin" / "preheat-three", 0o644),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
        place.chmod(mode)
    files = look(tmp_path)
    assert files.find_program("preheat-one") == "~/.cargo/bin/preheat-one"
    assert files.find_program("preheat-two") == "~/.nvm/versions/node/v22.3.0/bin/preheat-two"  # the newest version
    assert files.find_program("preheat-three") == ""  # it cannot be run
    assert files.find_program("../.cargo/bin/preheat-one") == files.find_program("") == ""
    failure = Failure(
        PlannedCall("shell", "Bash", {"command": "preheat-one build"}, str(tmp_path)), "sh: preheat-one: not found"
    )
    answer = answer_failure(failure, files)
    assert answer is not None
    assert answer.text == (
        "The program of this call is installed as `~/.cargo/bin/preheat-one`, where the shell here does not look."
    )


def test_links_are_followed_and_broken_ones_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text("x")
    os.symlink("real", tmp_path / "link")
    os.symlink("nowhere", tmp_path / "broken")
    os.symlink("loop", tmp_path / "loop")
    files = look(tmp_path)
    assert files.kind(str(tmp_path / "link" / "a.py")) == "file"
    assert files.kind(str(tmp_path / "broken")) == "unknown"
    assert files.kind(str(tmp_path / "loop" / "a.py")) == "unknown"


def test_a_project_that_cannot_be_seen_gives_no_warning(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    files = look(gone)
    assert files.kind(str(gone / "a.py")) == "unknown"
    assert warn_before(read(gone, str(gone / "a.py")), files) is None


def test_after_the_time_is_up_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    files = DiskFiles(str(tmp_path), index_names(["a.py"]), seconds=0.0)
    assert files.kind(str(tmp_path / "b.py")) == "unknown"
    assert files.find("a.py") == ()
    assert files.names_in(str(tmp_path)) is None
    assert files.read_text(str(tmp_path / "a.py")) is None


def test_half_a_million_files_are_listed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listed = "\0".join(f"pkg{number % 1000}/file{number}.py" for number in range(500_000))
    monkeypatch.setattr(project_files, "ask_git", lambda *words: listed)
    names = list_names(str(tmp_path))
    assert len(names.by_name) <= project_files._MOST_PATHS + 1_000
    assert "file7.py" in names.by_name


def test_a_folder_with_too_many_names_is_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "_MOST_NAMES", 5)
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text("")
    assert look(tmp_path).names_in(str(tmp_path)) is None


@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path), lambda path: path.write_bytes(b"a\0b")])
def test_what_is_no_text_is_not_read(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "odd")
    assert look(tmp_path).read_text(str(tmp_path / "odd")) is None


def test_a_file_that_changes_between_failure_and_answer_is_looked_at_as_it_is_now(tmp_path: Path) -> None:
    place = tmp_path / "shop_cart.py"
    place.write_text("one = 1\n")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop_cart.py").write_text("two = 2\n")
    call = PlannedCall(
        "edit", "Edit", {"file_path": str(place), "old_string": "two = 2", "new_string": "three"}, str(tmp_path)
    )
    files = look(tmp_path)
    place.write_text("two = 2\n")  # another agent in the same tree
    assert answer_failure(Failure(call, "String to replace not found in file."), files) is None
    place.unlink()
    answer = answer_failure(Failure(call, "String to replace not found in file."), files)
    assert answer is not None
    assert answer.rule == "missing path"
