"""The file of the state: created at the first write, readable by its owner only; hooks never wait for it."""

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


def assignment(session: str, at: float = 1.0) -> Assignment:
    return Assignment(session=session, root=session, experiment="standing", arm="warm", at=at)


def sessions(folder: str) -> list[str]:
    with reading(folder) as state:
        return [each.session for each in experiments.assignments(state)]


def test_reading_creates_no_file(tmp_path: Path) -> None:
    """Also if the folder does not exist: the state is empty then."""
    folder = str(tmp_path / "home")
    with reading(folder) as state:
        assert marks.marks(state) == {}
        assert experiments.find_secret(state) is None
    with OpenState(folder).reading() as state:
        assert experiments.assignments(state) == []
    assert not os.path.exists(folder)


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    """The file, its log and its lock, whatever the umask is."""
    before = os.umask(0)
    try:
        opened = OpenState(str(tmp_path / "home"))
        with opened.writing() as state:
            experiments.keep_assignments(state, [assignment("s1")])
        names = sorted(os.listdir(tmp_path / "home"))
        assert names == ["state.db", "state.db-shm", "state.db-wal"]
        assert {os.stat(tmp_path / "home" / name).st_mode & 0o777 for name in names} == {0o600}
        assert os.stat(tmp_path / "home").st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def test_a_failed_transaction_stores_nothing(tmp_path: Path) -> None:
    """Not even the records before the one that failed."""
    folder = str(tmp_path)
    with pytest.raises(AttributeError), writing(folder) as state:
        experiments.keep_assignments(state, [assignment("s1"), None])  # type: ignore[list-item]
    assert sessions(folder) == []


HOLDING = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
time.sleep(999)
"""


def test_a_hook_does_not_wait_for_another_writer(tmp_path: Path) -> None:
    """Its write fails at once with EBUSY, it can read meanwhile, and it can write when the other writer is done."""
    folder = str(tmp_path)
    opened = OpenState(folder)
    with opened.writing() as state:
        experiments.keep_assignments(state, [assignment("s1")])
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path / "state.db")], stdout=subprocess.PIPE
    ) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"held\n"
        with pytest.raises(OSError, match="another program") as busy, opened.writing() as state:
            experiments.keep_assignments(state, [assignment("s2")])
        assert busy.value.errno == errno.EBUSY
        with opened.reading() as state:
            assert experiments.find_assignment(state, "s1") is not None
        holding.kill()
    with opened.writing() as state:
        experiments.keep_assignments(state, [assignment("s2")])
    assert sessions(folder) == ["s1", "s2"]


def test_what_a_hook_stored_survives_a_kill(tmp_path: Path) -> None:
    """The process dies with the file open, right after its transaction."""
    program = (
        "import os, sys; from preheat.state.connect import OpenState; from preheat.state import experiments\n"
        "from tests.state.test_connect import assignment\n"
        "opened = OpenState(sys.argv[1])\n"
        "with opened.writing() as state: experiments.keep_assignments(state, [assignment('s1')])\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parent.parent.parent)
    assert done.returncode == -9
    assert sessions(str(tmp_path)) == ["s1"]


def test_a_replaced_file_is_opened_again(tmp_path: Path) -> None:
    """A person restores a copy or deletes the file while a daemon runs: what is stored later is in the new file."""
    folder = str(tmp_path)
    opened = OpenState(folder)
    with opened.writing() as state:
        experiments.keep_assignments(state, [assignment("s1")])
    for name in os.listdir(folder):
        os.unlink(tmp_path / name)
    with opened.reading() as state:
        assert experiments.assignments(state) == []
    with opened.writing() as state:
        experiments.keep_assignments(state, [assignment("s2")])
    assert sessions(folder) == ["s2"]


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Also while the file is being created by the first of them."""
    folder = str(tmp_path)

    def write(number: int) -> None:
        with writing(folder) as state:
            experiments.keep_assignments(state, [assignment(f"s{number:02}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert sessions(folder) == [f"s{number:02}" for number in range(24)]


def test_an_unusable_file_is_an_error_that_says_why(tmp_path: Path) -> None:
    """Made by a newer version, damaged, or a folder; for hooks the error is an OSError."""
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


def test_deleted_rows_are_gone_from_the_disk(tmp_path: Path) -> None:
    """Also replaced ones: no page and no log has the text any more."""
    folder = str(tmp_path)
    for text in ("quicksilver once", "quicksilver twice"):
        with writing(folder) as state:
            marks.set_mark(state, "c1", "retired", text, 1.0)
    with writing(folder) as state:
        marks.set_mark(state, "c1", None, "", 2.0)
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"quicksilver" not in everything


def test_importing_the_state_loads_no_heavy_library() -> None:
    """The start of a session waits for these imports."""
    program = (
        "import sys, preheat.state.connect, preheat.app.experiments.assignment, preheat.app.experiments.comparisons,"
        " preheat.app.experiments.withdrawal;"
        " print([name for name in ('sqlalchemy', 'alembic', 'numpy', 'scipy', 'rich') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
