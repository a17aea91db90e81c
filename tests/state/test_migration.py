"""The files of version 0.1.0 are imported completely and once, whenever a process is killed, and none of them is deleted."""

import os
import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from preheat import state
from preheat.state import experiments, ledger, migration
from preheat.state.connect import reading, writing
from tests.state.home_0_1_0 import FILES, content, expected, home


def imported_file(folder: str, name: str) -> bytes:
    return Path(folder, name + migration.IMPORTED_SUFFIX).read_bytes()


def test_every_value_is_imported_and_every_file_is_kept(tmp_path: Path) -> None:
    """The values are those that version 0.1.0 itself read; the files have another name and the same bytes."""
    folder = home(tmp_path / "home")
    before = {name: Path(folder, name).read_bytes() for name in FILES}
    with reading(folder) as connection:
        assert content(connection) == expected()
    assert {name: imported_file(folder, name) for name in FILES} == before
    assert not any(os.path.exists(os.path.join(folder, name)) for name in FILES)
    assert os.stat(os.path.join(folder, "state.db")).st_mode & 0o077 == 0
    assert migration.unreadable_lines(folder) == []
    with reading(folder) as connection:
        assert content(connection) == expected()


def test_a_kill_at_any_line_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """A process is killed at a line of the state's code: at some lines of the import, and at each of the last 80, around the
    commit. The next process has everything, once."""
    lines = count_lines(home(tmp_path / "whole"))
    assert lines > 300
    for step in (*range(1, lines - 80, 37), *range(lines - 80, lines)):
        folder = home(tmp_path / f"home{step}")
        assert open_and_die(folder, step) == KILLED
        originals = [name for name in FILES if os.path.exists(os.path.join(folder, name))]
        kept = [name for name in FILES if os.path.exists(os.path.join(folder, name + migration.IMPORTED_SUFFIX))]
        assert sorted([*originals, *kept]) == sorted(FILES), step
        with reading(folder) as connection:
            assert content(connection) == expected(), step
        assert all(os.path.exists(os.path.join(folder, name + migration.IMPORTED_SUFFIX)) for name in FILES), step
        shutil.rmtree(folder)


KILLED = 9


def count_lines(folder: str) -> int:
    """The number of lines of the state's code that run when the state is opened."""
    return -open_and_die(folder, 0)


def open_and_die(folder: str, step: int) -> int:
    """Open the state in another process, which dies at the line of this number; its exit code. With 0 it does not die, and the
    result is the negative number of its lines."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            count = 0
            state_code = os.path.dirname(state.__file__)

            def trace(frame: FrameType, event: str, argument: Any) -> Any:
                nonlocal count
                if not frame.f_code.co_filename.startswith(state_code):
                    return None
                if event == "line":
                    count += 1
                    if count == step:
                        os._exit(KILLED)
                return trace

            sys.settrace(trace)
            with reading(folder):
                pass
            os.write(writer, str(-count).encode())
        finally:
            os._exit(0)
    os.close(writer)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(reader, encoding="ascii") as stream:
        return code or int(stream.read())


def test_assignments_that_an_old_daemon_still_writes_are_imported(tmp_path: Path) -> None:
    """The file is there again, with a known line and a new one: each counts once."""
    folder = home(tmp_path / "home")
    path = Path(folder, "experiments", "lots.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    with reading(folder):
        pass
    later = lines[0].replace(b"00001000", b"00009999").replace(b'"arm":"warm"', b'"arm":"cold"')
    for number in (2, 3):
        path.write_bytes(lines[0] + later)
        with reading(folder) as connection:
            known = {each.session[12:20]: each.arm for each in experiments.assignments(connection)}
            assert len(known) == len(expected()["assignments"]) + 1
            assert known["00009999"] == "cold"
        assert Path(f"{path}{migration.IMPORTED_SUFFIX}-{number}").read_bytes() == lines[0] + later


def test_unreadable_lines_are_kept_and_reported(tmp_path: Path) -> None:
    """Half a line, no text, an unknown record, a damaged file: everything else is imported."""
    folder = home(tmp_path / "home")
    for name in FILES:
        if name.endswith(".jsonl") and "ledger" not in name:
            with open(os.path.join(folder, name), "ab") as stream:
                stream.write(b'{"lot":"ar\n\xff\xfe\n{"kind":"strange"}\n')
    Path(folder, "templates", "loaded.json").write_bytes(b"{")
    with reading(folder) as connection:
        assert content(connection) == {**expected(), "loaded": {}}
    reported = migration.unreadable_lines(folder)
    assert len(reported) == 5
    assert all(f"{migration.IMPORTED_SUFFIX}`" in each for each in reported)
    assert sum("42, 43, 44" in each for each in reported) == 1
    assert [each for each in reported if "plans.jsonl" in each] == migration.unreadable_lines(folder, plans_only=True)


def test_changes_of_the_old_ledger_are_still_found(tmp_path: Path) -> None:
    """A line that was changed, removed or made unreadable; a crash between the last line and its digest is no change."""

    def changed(number: int, change: Any, head: bytes | None = None) -> list[int]:
        folder = home(tmp_path / f"home{number}")
        path = Path(folder, "experiments", "ledger.jsonl")
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
        if head is not None:
            Path(folder, "experiments", "ledger.head").write_bytes(head)
        with reading(folder) as connection:
            return ledger.changed_lines(connection)

    assert changed(1, lambda lines: [lines[0].replace(b"notes", b"cakes"), lines[1]]) == [2]
    assert changed(2, lambda lines: [lines[0], lines[1].replace(b"second", b"seconds")]) == [2]
    assert changed(3, lambda lines: lines[:1]) == [1]
    assert changed(4, lambda lines: lines[1:]) == [1]
    assert changed(5, lambda lines: [b'{"kind":\n', lines[1]]) == [1, 2]
    first = Path(home(tmp_path / "whole"), "experiments", "ledger.jsonl").read_bytes().splitlines()[0]
    assert changed(6, lambda lines: lines, ledger.digest_of(first).encode()) == []


def test_going_back_to_the_old_version_and_on_again_loses_nothing(tmp_path: Path) -> None:
    """The old version makes a key, a rating and a ledger of its own meanwhile: the first key stays, the later rating counts, and
    the ledger has both entries."""
    folder = home(tmp_path / "home")
    with reading(folder):
        pass
    old = Path(folder, "experiments")
    (old / "key").write_text("ab" * 32)
    session = next(iter(expected()["ratings"]))
    (old / "ratings.jsonl").write_bytes(b'{"session":"%s","good":true,"at":1e12}\n' % session.encode())
    line = b'{"kind":"experiment","at":2e9,"name":"later","sentence":"It showed nothing."}'
    (old / "ledger.jsonl").write_bytes(line + b"\n")
    (old / "ledger.head").write_text(ledger.digest_of(line))
    with reading(folder) as connection:
        assert content(connection)["key"] == expected()["key"]
        assert experiments.ratings(connection)[session].good
        assert [each.name for each in ledger.load_entries(connection)] == ["notes", "second", "later"]
        assert ledger.changed_lines(connection) == []


def test_forgetting_a_session_deletes_its_lines_from_imported_files(tmp_path: Path) -> None:
    """The lines of other sessions stay."""
    folder = home(tmp_path / "home")
    gone = next(iter(expected()["ratings"]))
    with writing(folder) as connection:
        experiments.forget_assignments(connection, [gone])
        experiments.forget_ratings(connection, [gone])
    migration.forget_sessions(folder, [gone])
    for name in ("experiments/lots.jsonl", "experiments/ratings.jsonl"):
        assert gone.encode() not in imported_file(folder, name)
    assert len(imported_file(folder, "experiments/lots.jsonl").splitlines()) >= len(expected()["assignments"]) - 1


@pytest.mark.parametrize("text", ["short", "zz" * 32, ""])
def test_a_damaged_key_is_left_in_place_and_reported(tmp_path: Path, text: str) -> None:
    """A person can replace it by a copy from a backup."""
    folder = home(tmp_path / "home")
    path = Path(folder, "experiments", "key")
    path.write_text(text)
    with reading(folder) as connection:
        assert content(connection)["key"] is None
    assert path.read_text() == text
    assert str(path) in "".join(migration.unreadable_lines(folder))
