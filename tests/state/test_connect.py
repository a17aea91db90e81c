"""The state's file: made when something is kept, for its owner alone, by one writer at a time; and a hook never waits for it."""

import errno
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from preheat.errors import StateUnusable
from preheat.model.experiment import Assignment
from preheat.state import experiments, marks
from preheat.state.connect import OpenState, reading, writing
from preheat.state.schema import HEAD


def arm(session: str, at: float = 1.0) -> Assignment:
    return Assignment(session=session, root=session, experiment="standing", arm="warm", at=at)


def sessions(folder: str) -> list[str]:
    with reading(folder) as state:
        return [each.session for each in experiments.assignments(state)]


def test_asking_makes_nothing(tmp_path: Path) -> None:
    """Also where a folder is not there at all; every question has an answer."""
    folder = str(tmp_path / "home")
    with reading(folder) as state:
        assert marks.marks(state) == {}
        assert experiments.find_secret(state) is None
    with OpenState(folder).reading() as state:
        assert experiments.assignments(state) == []
    assert not os.path.exists(folder)


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    """The file and what stands beside it, whatever the person's usual rights are."""
    before = os.umask(0)
    try:
        opened = OpenState(str(tmp_path / "home"))
        with opened.writing() as state:
            experiments.keep_assignments(state, [arm("s1")])
        names = sorted(os.listdir(tmp_path / "home"))
        assert names == ["state.db", "state.db-shm", "state.db-wal", "state.db.lock"]
        assert {os.stat(tmp_path / "home" / name).st_mode & 0o777 for name in names} == {0o600}
        assert os.stat(tmp_path / "home").st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    """All of it, or nothing."""
    folder = str(tmp_path)
    with pytest.raises(AttributeError), writing(folder) as state:
        experiments.keep_assignments(state, [arm("s1"), None])  # type: ignore[list-item]
    assert sessions(folder) == []


HOLDING = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(999)
"""


def test_a_hook_does_not_wait_for_another_writer(tmp_path: Path) -> None:
    """It is told that nothing was kept, and goes on asking meanwhile; when the other one is done, it can keep it."""
    folder = str(tmp_path)
    opened = OpenState(folder)
    with opened.writing() as state:
        experiments.keep_assignments(state, [arm("s1")])
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path / "state.db")], stdout=subprocess.PIPE
    ) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"held\n"
        with pytest.raises(OSError, match="another program writes there") as told, opened.writing() as state:
            experiments.keep_assignments(state, [arm("s2")])
        assert told.value.errno == errno.EBUSY
        with opened.reading() as state:
            assert experiments.find_assignment(state, "s1") is not None
        holding.kill()
    with opened.writing() as state:
        experiments.keep_assignments(state, [arm("s2")])
    assert sessions(folder) == ["s1", "s2"]


def test_what_a_hook_kept_survives_a_kill(tmp_path: Path) -> None:
    """The process dies with the file open, right after it was told that all is kept."""
    program = (
        "import os, sys; from preheat.state.connect import OpenState; from tests.state.test_connect import arm, assignments\n"
        "opened = OpenState(sys.argv[1])\n"
        "with opened.writing() as state: assignments.keep(state, [arm('s1')])\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parent.parent.parent)
    assert done.returncode == -9
    assert sessions(str(tmp_path)) == ["s1"]


def test_a_file_that_was_put_in_the_place_of_the_open_one_is_the_one_that_counts(tmp_path: Path) -> None:
    """Whoever restores a copy while a daemon runs, or deletes the file, loses nothing that is kept later."""
    folder = str(tmp_path)
    opened = OpenState(folder)
    with opened.writing() as state:
        experiments.keep_assignments(state, [arm("s1")])
    for name in os.listdir(folder):
        os.unlink(tmp_path / name)
    with opened.reading() as state:
        assert experiments.assignments(state) == []
    with opened.writing() as state:
        experiments.keep_assignments(state, [arm("s2")])
    assert sessions(folder) == ["s2"]


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Also of the first moment, in which the file is made by whoever comes first."""
    folder = str(tmp_path)

    def write(number: int) -> None:
        with writing(folder) as state:
            experiments.keep_assignments(state, [arm(f"s{number:02}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert sessions(folder) == [f"s{number:02}" for number in range(24)]


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """Of a newer version, or no database: one line that says what to do, and for hooks an OSError."""
    folder, path = str(tmp_path), tmp_path / "state.db"
    with writing(folder):
        pass
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {HEAD + 1}")
    with pytest.raises(StateUnusable, match="newer Preheat"), reading(folder):
        pass
    with pytest.raises(OSError, match="newer Preheat"), OpenState(folder).writing():
        pass
    for name in os.listdir(folder):
        os.unlink(tmp_path / name)
    path.write_bytes(b"no database" * 100)
    with pytest.raises(StateUnusable, match="is damaged"), reading(folder):
        pass
    path.unlink()
    path.mkdir()
    with pytest.raises(StateUnusable, match="cannot be used"), reading(folder):
        pass


def test_what_is_deleted_is_gone_from_the_disk(tmp_path: Path) -> None:
    """Also after it was replaced: no page and no log has the text any more."""
    folder = str(tmp_path)
    for text in ("quicksilver once", "quicksilver twice"):
        with writing(folder) as state:
            marks.set_mark(state, "c1", "retired", text, 1.0)
    with writing(folder) as state:
        marks.set_mark(state, "c1", None, "", 2.0)
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"quicksilver" not in everything


def test_it_is_light() -> None:
    """A session's start pays for it."""
    program = (
        "import sys, preheat.state.connect, preheat.app.experiments.assignment, preheat.app.experiments.comparisons,"
        " preheat.app.experiments.withdrawal;"
        " print([name for name in ('sqlalchemy', 'alembic', 'numpy', 'scipy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
