"""What version 0.1.0 left is taken in whole, once, whenever somebody is killed, and nothing of it is deleted."""

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


def aside(folder: str, name: str) -> bytes:
    return Path(folder, name + migration.IMPORTED_SUFFIX).read_bytes()


def test_every_value_is_taken_in_and_every_file_is_kept(tmp_path: Path) -> None:
    """As version 0.1.0's own code read them; the files are there under another name, byte for byte, and for their owner."""
    folder = home(tmp_path / "home")
    before = {name: Path(folder, name).read_bytes() for name in FILES}
    with reading(folder) as connection:
        assert content(connection) == expected()
    assert {name: aside(folder, name) for name in FILES} == before
    assert not any(os.path.exists(os.path.join(folder, name)) for name in FILES)
    assert os.stat(os.path.join(folder, "state.db")).st_mode & 0o077 == 0
    assert migration.unreadable_lines(folder) == []
    with reading(folder) as connection:
        assert content(connection) == expected()


def test_a_kill_at_any_line_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The program dies at a line of the state's own code, for good: now and then while it reads, and at each line from where
    it is about to commit. Whoever comes next has everything, once."""
    every = -ended(home(tmp_path / "whole"), 0)
    assert every > 300
    for step in (*range(1, every - 80, 37), *range(every - 80, every)):
        folder = home(tmp_path / f"home{step}")
        assert ended(folder, step) == KILLED
        originals = [name for name in FILES if os.path.exists(os.path.join(folder, name))]
        kept = [name for name in FILES if os.path.exists(os.path.join(folder, name + migration.IMPORTED_SUFFIX))]
        assert sorted([*originals, *kept]) == sorted(FILES), step
        with reading(folder) as connection:
            assert content(connection) == expected(), step
        assert all(os.path.exists(os.path.join(folder, name + migration.IMPORTED_SUFFIX)) for name in FILES), step
        shutil.rmtree(folder)


KILLED = 9


def ended(folder: str, step: int) -> int:
    """Open the state in another process, which dies at the line of this number; with 0 it comes to its end, and the number of
    its lines is told, below zero."""
    said, saying = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            count = 0
            ours = os.path.dirname(state.__file__)

            def trace(frame: FrameType, event: str, argument: Any) -> Any:
                nonlocal count
                if not frame.f_code.co_filename.startswith(ours):
                    return None
                if event == "line":
                    count += 1
                    if count == step:
                        os._exit(KILLED)
                return trace

            sys.settrace(trace)
            with reading(folder):
                pass
            os.write(saying, str(-count).encode())
        finally:
            os._exit(0)
    os.close(saying)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(said, encoding="ascii") as stream:
        return code or int(stream.read())


def test_lots_that_an_old_daemon_still_writes_are_taken_in(tmp_path: Path) -> None:
    """The file comes again, with a line that is known and one that is new: both count once."""
    folder = home(tmp_path / "home")
    lots = Path(folder, "experiments", "lots.jsonl")
    lines = lots.read_bytes().splitlines(keepends=True)
    with reading(folder):
        pass
    later = lines[0].replace(b"00001000", b"00009999").replace(b'"arm":"warm"', b'"arm":"cold"')
    for number in (2, 3):
        lots.write_bytes(lines[0] + later)
        with reading(folder) as connection:
            known = {each.session[12:20]: each.arm for each in experiments.assignments(connection)}
            assert len(known) == len(expected()["assignments"]) + 1
            assert known["00009999"] == "cold"
        assert Path(f"{lots}{migration.IMPORTED_SUFFIX}-{number}").read_bytes() == lines[0] + later


def test_what_cannot_be_read_is_kept_and_named(tmp_path: Path) -> None:
    """Half a line, a line of another form, a file that is none: the rest is taken in."""
    folder = home(tmp_path / "home")
    for name in FILES:
        if name.endswith(".jsonl") and "ledger" not in name:
            with open(os.path.join(folder, name), "ab") as stream:
                stream.write(b'{"lot":"ar\n\xff\xfe\n{"kind":"strange"}\n')
    Path(folder, "templates", "loaded.json").write_bytes(b"{")
    with reading(folder) as connection:
        assert content(connection) == {**expected(), "loaded": {}}
    said = migration.unreadable_lines(folder)
    assert len(said) == 5
    assert all(f"{migration.IMPORTED_SUFFIX}`" in each for each in said)
    assert sum("lines 42, 43, 44 of" in each for each in said) == 1
    assert [each for each in said if "plans.jsonl" in each] == migration.unreadable_lines(folder, plans_only=True)


def test_a_ledger_that_was_changed_is_still_found_to_be(tmp_path: Path) -> None:
    """A line in the middle, the last one, one that was taken out, one that cannot be read; and a crash between the last line and
    its digest is no damage."""

    def damaged(number: int, change: Any, head: bytes | None = None) -> list[int]:
        folder = home(tmp_path / f"home{number}")
        path = Path(folder, "experiments", "ledger.jsonl")
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
        if head is not None:
            Path(folder, "experiments", "ledger.head").write_bytes(head)
        with reading(folder) as connection:
            return ledger.changed_lines(connection)

    assert damaged(1, lambda lines: [lines[0].replace(b"notes", b"cakes"), lines[1]]) == [2]
    assert damaged(2, lambda lines: [lines[0], lines[1].replace(b"second", b"seconds")]) == [2]
    assert damaged(3, lambda lines: lines[:1]) == [1]
    assert damaged(4, lambda lines: lines[1:]) == [1]
    assert damaged(5, lambda lines: [b'{"kind":\n', lines[1]]) == [1, 2]
    first = Path(home(tmp_path / "whole"), "experiments", "ledger.jsonl").read_bytes().splitlines()[0]
    assert damaged(6, lambda lines: lines, ledger.digest_of(first).encode()) == []


def test_going_back_to_the_old_version_and_on_again_loses_nothing(tmp_path: Path) -> None:
    """It makes a key, rates and enters into a ledger of its own meanwhile: the key that arms were drawn with stays, the last
    word on a session counts, and the ledger is whole with both."""
    folder = home(tmp_path / "home")
    with reading(folder):
        pass
    made = Path(folder, "experiments")
    (made / "key").write_text("ab" * 32)
    rated = next(iter(expected()["ratings"]))
    (made / "ratings.jsonl").write_bytes(b'{"session":"%s","good":true,"at":1e12}\n' % rated.encode())
    line = b'{"kind":"experiment","at":2e9,"name":"later","sentence":"It showed nothing."}'
    (made / "ledger.jsonl").write_bytes(line + b"\n")
    (made / "ledger.head").write_text(ledger.digest_of(line))
    with reading(folder) as connection:
        assert content(connection)["key"] == expected()["key"]
        assert experiments.ratings(connection)[rated].good
        assert [each.name for each in ledger.load_entries(connection)] == ["notes", "second", "later"]
        assert ledger.changed_lines(connection) == []


def test_forgetting_reaches_what_was_put_aside(tmp_path: Path) -> None:
    """No file has a line of the session any more, and those of others are as they were."""
    folder = home(tmp_path / "home")
    gone = next(iter(expected()["ratings"]))
    with writing(folder) as connection:
        experiments.forget_assignments(connection, [gone])
        experiments.forget_ratings(connection, [gone])
    migration.forget_sessions(folder, [gone])
    for name in ("experiments/lots.jsonl", "experiments/ratings.jsonl"):
        assert gone.encode() not in aside(folder, name)
    assert len(aside(folder, "experiments/lots.jsonl").splitlines()) >= len(expected()["assignments"]) - 1


@pytest.mark.parametrize("text", ["short", "zz" * 32, ""])
def test_a_damaged_key_stays_where_it_is_and_is_named(tmp_path: Path, text: str) -> None:
    """Whoever puts it back from a backup finds it where it was."""
    folder = home(tmp_path / "home")
    path = Path(folder, "experiments", "key")
    path.write_text(text)
    with reading(folder) as connection:
        assert content(connection)["key"] is None
    assert path.read_text() == text
    assert "is damaged" in "".join(migration.unreadable_lines(folder))
