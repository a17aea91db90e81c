"""A database of Hermes that cannot be read, or not as it should be: the person is told in a line, nothing that was read before is
lost, the rest of the machine is still read, and not one of Hermes's files is touched."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from preheat.agents import databases
from preheat.agents.hermes import database as hermes
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.cli import main
from preheat.errors import SourceUnreadable, UserError
from preheat.model.session import ToolCall, UserMessage
from preheat.testing.builders import ClaudeTranscript
from tests.agents.hermes_database import HermesDatabase
from tests.shared import bound_by_permissions, needs_permissions


class FileState(NamedTuple):
    """The state of one file on disk."""

    contents: str
    modified: int
    inode: int
    mode: int


def files(folder: str) -> dict[str, FileState]:
    """The state of every file in a folder, to see whether one was touched."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            status = os.stat(path)
            with open(path, "rb") as stream:
                digest = sha256(stream.read()).hexdigest()
            found[os.path.relpath(path, folder)] = FileState(digest, status.st_mtime_ns, status.st_ino, status.st_mode)
    return found


def fill(database: HermesDatabase, session: str = "s", turns: int = 6) -> None:
    database.session(session, cwd="/w/shop", model="m")
    database.message(session, "user", "mend the upload")
    for number in range(turns):
        output = f"line {number}\n" * 40 + ("run: error: unrecognized arguments: --all" if number % 2 else "")
        database.turn(session, f"{session}-{number}", output, exit_code=number % 2)


def make_closed_database(folder: str, turns: int = 6) -> str:
    """A database that its program has closed."""
    path = os.path.join(folder, "state.db")
    with HermesDatabase(path) as database:
        fill(database, turns=turns)
    return path


def make_killed_database(folder: str) -> str:
    """A database as a killed program leaves it: nearly everything is in the log."""
    path = os.path.join(folder, "state.db")
    made = os.path.join(folder, "made")
    os.makedirs(made)
    with HermesDatabase(os.path.join(made, "state.db")) as database:
        fill(database)
        database.connection.execute("PRAGMA wal_checkpoint")
        fill(database, "later")
        for name in os.listdir(made):
            shutil.copy2(os.path.join(made, name), folder)
    shutil.rmtree(made)
    return path


def sessions(path: str) -> dict[str, int]:
    return {each.id: sum(isinstance(event, ToolCall) for event in each.events) for each in read(path, READER)}


# Reading leaves no trace.
def test_reading_a_closed_database_leaves_no_trace(tmp_path: Path) -> None:
    """SQLite's default would leave a log and its index behind."""
    path = make_closed_database(str(tmp_path))
    before = files(str(tmp_path))
    assert list(before) == ["state.db"]
    assert sessions(path) == {"s": 6}
    assert files(str(tmp_path)) == before


def test_reading_beside_a_running_program_leaves_no_trace(tmp_path: Path) -> None:
    """Not even in the index of the log, which SQLite's readers usually write to."""
    path = make_closed_database(str(tmp_path))
    program = f"""
import sqlite3, sys
connection = sqlite3.connect({path!r}, isolation_level=None)
connection.execute("INSERT INTO sessions (id) VALUES ('running')")
for line in sys.stdin:
    connection.execute("INSERT INTO sessions (id) VALUES ('still')")
    print("written", flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin
        assert running.stdout
        for _ in range(3):
            running.stdin.write("go on\n")
            running.stdin.flush()
            assert running.stdout.readline() == "written\n"
            before = files(str(tmp_path))
            assert len(before) == 3
            assert set(sessions(path)) == {"s", "running", "still"}
            assert files(str(tmp_path)) == before
        running.stdin.close()


def test_reading_the_database_of_a_killed_program_leaves_no_trace(tmp_path: Path) -> None:
    path = make_killed_database(str(tmp_path))
    before = files(str(tmp_path))
    assert len(before) == 3
    assert sessions(path) == {"s": 6, "later": 6}
    assert files(str(tmp_path)) == before


def test_a_log_without_its_index_is_read(tmp_path: Path) -> None:
    """As in a backup of two files: everything is read, and the files do not change."""
    path = make_killed_database(str(tmp_path))
    os.remove(f"{path}-shm")
    before = files(str(tmp_path))
    assert sessions(path) == {"s": 6, "later": 6}
    after = files(str(tmp_path))
    assert {name: after[name] for name in before} == before


def test_an_index_without_its_log_does_no_harm(tmp_path: Path) -> None:
    """The log was deleted: the rows in the file are read."""
    path = make_killed_database(str(tmp_path))
    os.remove(f"{path}-wal")
    before = files(str(tmp_path))
    assert sessions(path) == {"s": 6}
    after = files(str(tmp_path))
    assert {name: after[name] for name in before if name != "state.db-shm"} == {
        name: state for name, state in before.items() if name != "state.db-shm"
    }


def test_a_log_of_another_database_does_no_harm(tmp_path: Path) -> None:
    """Its rows are not mixed in."""
    path = make_killed_database(str(tmp_path))
    other = tmp_path / "other"
    other.mkdir()
    strange = str(other / "state.db")
    with HermesDatabase(strange) as database:
        fill(database, "strange")
        fill(database, "stranger")
        shutil.copy2(f"{strange}-wal", f"{path}-wal")
    for stale in ("-shm",):
        os.remove(f"{path}{stale}")
    try:
        found = sessions(path)
    except UserError as error:
        assert "state.db" in str(error)  # noqa: PT017 - either is right, nothing else is
    else:
        assert set(found) <= {"s", "strange", "stranger"}


def test_a_reading_fails_if_the_program_starts_meanwhile(tmp_path: Path) -> None:
    """The database was not locked, so the rows may be inconsistent; the next reading works."""
    path = make_closed_database(str(tmp_path))
    lines = hermes.dump(path, "s")
    next(lines)
    with hold_lock(path, "INSERT INTO sessions (id) VALUES ('new')"):
        with pytest.raises(SourceUnreadable, match="changed while it was read"):
            list(lines)
        assert sessions(path) == {"s": 6, "new": 0}


# Damage of any kind.
@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small undamaged database."""
    return Path(make_closed_database(str(tmp_path_factory.mktemp("sound")), turns=3))


def check_reading(folder: Path, data: bytes) -> None:
    """Reading gives lines or one error message, and never changes the file."""
    path = str(folder / "state.db")
    for name in os.listdir(folder):
        os.remove(folder / name)
    with open(path, "wb") as stream:
        stream.write(data)
    before = files(str(folder))
    READER.detect(data[:65536], path)
    try:
        parts = hermes.parts(path)
    except SourceUnreadable as error:
        assert 0 < len(str(error)) < 400  # noqa: PT017 - a sentence, if it is raised at all
        parts = []
    for part in parts:
        parser = READER.parser(path, part.id)
        try:
            for line, row in enumerate(hermes.dump(path, part.id), 1):
                parser.feed(row + b"\n", line)
        except SourceUnreadable:
            continue
        parser.take()
    assert files(str(folder)) == before


PLACES = st.integers(16, 110) | st.integers(0, 4096) | st.integers(0, 2**24)
"""In the head of the file, among the tables' descriptions, anywhere."""


@settings(deadline=None, max_examples=300)
@example(flips=[(3366, 128)])  # a column's name that is no text
@example(flips=[(18, 0)])  # says that there is no log, and there may be one
@given(flips=st.lists(st.tuples(PLACES, st.integers(0, 255)), min_size=1, max_size=12))
def test_flipped_bytes_are_reported_or_read(
    intact: Path, tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[int, int]]
) -> None:
    """Anywhere in the file: header, schema, trees, rows."""
    damaged = bytearray(intact.read_bytes())
    for place, value in flips:
        damaged[place % len(damaged)] = value
    check_reading(tmp_path_factory.mktemp("flipped"), bytes(damaged))


@settings(deadline=None, max_examples=60)
@given(place=st.integers(0, 2**24), blank=st.booleans())
def test_a_truncated_or_overwritten_database_is_reported_or_read(
    intact: Path, tmp_path_factory: pytest.TempPathFactory, place: int, blank: bool
) -> None:
    """As after a full disk, a crash, or a lost sector."""
    data = intact.read_bytes()
    end = place % len(data)
    sector = end // 512 * 512
    cut = data[:sector] + bytes(512) + data[sector + 512 :] if blank else data[:end]
    check_reading(tmp_path_factory.mktemp("cut"), cut)


# The commands.
class Machine:
    """A person's machine: one session of Hermes and one of another agent, both read."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.own = str(folder / ".hermes")
        self._capture = capture
        os.makedirs(self.own)
        self.path = make_closed_database(self.own)
        self.transcript = ClaudeTranscript(project="/w/other").prompt("look").answer("Looked.")
        self.projects = str(folder / ".claude" / "projects")
        self.transcript.write(self.projects)

    def run(self, *words: str) -> tuple[int, str, str]:
        self._capture.readouterr()
        code = main(list(words))
        printed = self._capture.readouterr()
        assert "Traceback" not in printed.out + printed.err
        assert "defect in Preheat" not in printed.out + printed.err
        return code, printed.out, printed.err

    def archived_sessions(self) -> list[tuple[str, int, int]]:
        """Hermes's sessions in the archive."""
        code, out, _ = self.run("sessions", "list", "--agent", "hermes", "--json")
        assert code == 0
        return sorted((each["session"], each["messages"], each["calls"]) for each in json.loads(out))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Machine:
    for name in ("HERMES_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "archive"))
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    made = Machine(tmp_path, capsys)
    assert made.run("sync")[0] == 0
    return made


@contextmanager
def hold_lock(path: str, *statements: str) -> Iterator[None]:
    """Another program has locked it."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
        yield
    finally:
        connection.close()


def overwrite(path: str, change: Callable[[bytes], bytes]) -> None:
    with open(path, "rb") as stream:
        data = stream.read()
    with open(path, "wb") as stream:
        stream.write(change(data))


def execute(path: str, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def replace_by_folder(path: str) -> None:
    os.remove(path)
    os.mkdir(path)


DAMAGES: dict[str, tuple[Callable[[str], AbstractContextManager[None] | None], str]] = {
    "locked": (
        lambda path: hold_lock(
            path, "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE", "UPDATE sessions SET title = 'x'"
        ),
        "another program holds it locked; it will be read next time",
    ),
    "locked with a log": (
        lambda path: hold_lock(path, "PRAGMA locking_mode = EXCLUSIVE", "UPDATE sessions SET title = 'x'"),
        "locked",
    ),
    "overwritten": (
        lambda path: overwrite(path, lambda data: b"no database" * 500),
        "damaged, or no SQLite database",
    ),
    "half there": (lambda path: overwrite(path, lambda data: data[: len(data) // 2]), "damaged"),
    "a page lost": (lambda path: overwrite(path, lambda data: data[:4096] + bytes(len(data) - 4096)), "damaged"),
    "renamed column": (
        lambda path: execute(path, "ALTER TABLE messages RENAME COLUMN content TO body"),
        "it is no Hermes database that Preheat can read: table `messages` has no `content`",
    ),
    "renamed table": (
        lambda path: execute(path, "ALTER TABLE messages RENAME TO utterances"),
        "it has no table `messages`",
    ),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_database_does_not_affect_other_sources(machine: Machine, how: str) -> None:
    """`sync` says why and reads the rest; `doctor`, `sessions` and `warm extract` go on with what was read before; Hermes's
    files stay as they are."""
    damage, why = DAMAGES[how]
    known = machine.archived_sessions()
    machine.transcript.prompt("again").answer("Looked again.").write(machine.projects)
    with damage(machine.path) or nullcontext():
        before = files(machine.own) if not how.startswith("locked") else {}
        code, out, err = machine.run("sync")
        assert code == 1
        assert "state.db" in err
        assert why in err
        assert "Claude Code" in out  # the other agent's session was read
        assert machine.archived_sessions() == known
        code, out, err = machine.run("doctor")
        assert code in (0, 1)
        assert machine.run("sessions", "show", known[0][0])[0] == 0
        code, out, err = machine.run("warm", "extract", known[0][0], "--name", "mend")
        assert code == 0, err
        assert not before or files(machine.own) == before
        assert machine.archived_sessions() == known


def test_an_empty_file_and_a_folder_have_no_sessions(machine: Machine) -> None:
    """The sessions in the archive stay."""
    known = machine.archived_sessions()
    for damage in (lambda path: overwrite(path, lambda data: b""), replace_by_folder):
        damage(machine.path)
        before = files(machine.own)
        code, _, err = machine.run("sync")
        assert code in (0, 1)
        assert code == 0 or "state.db" in err
        assert machine.run("doctor")[0] in (0, 1)
        assert machine.archived_sessions() == known
        assert files(machine.own) == before


@needs_permissions
def test_a_database_without_permission_is_reported(machine: Machine, tmp_path: Path) -> None:
    known = machine.archived_sessions()
    execute(machine.path, "UPDATE sessions SET title = 'x'")
    os.chmod(machine.path, 0)
    with bound_by_permissions(str(tmp_path)):
        code, _, err = machine.run("sync")
        assert code == 1
        assert "no permission" in err
        assert machine.run("doctor")[0] in (0, 1)
        assert machine.archived_sessions() == known


def test_a_newer_schema_is_read_with_its_new_columns(machine: Machine) -> None:
    """More columns, more tables, an unknown version: the known part is still read."""
    execute(
        machine.path,
        "UPDATE schema_version SET version = 99",
        "ALTER TABLE messages ADD COLUMN mood DEFAULT 'good'",
        "ALTER TABLE sessions ADD COLUMN pinned DEFAULT 1",
        "CREATE TABLE moods (id, name)",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'and then?', 1790000099)",
    )
    before = files(machine.own)
    assert machine.run("sync")[0] == 0
    assert [(session, calls) for session, _, calls in machine.archived_sessions()] == [("s", 6)]
    assert files(machine.own) == before


def test_a_session_deleted_in_hermes_stays_in_the_archive(machine: Machine) -> None:
    """Also one that was lost with its log."""
    known = machine.archived_sessions()
    execute(machine.path, "DELETE FROM messages", "DELETE FROM sessions")
    assert machine.run("sync")[0] == 0
    assert machine.archived_sessions() == known


def test_a_repaired_database_is_read_again(machine: Machine) -> None:
    """A failed reading is not recorded as done."""
    with open(machine.path, "rb") as stream:
        good = stream.read()
    overwrite(machine.path, lambda data: data[:5000])
    assert machine.run("sync")[0] == 1
    assert machine.run("sync")[0] == 1
    overwrite(machine.path, lambda data: good)
    execute(
        machine.path,
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'and then?', 1790000099)",
    )
    assert machine.run("sync")[0] == 0
    (session,) = read(machine.path, READER)
    assert [event.text for event in session.events if isinstance(event, UserMessage)][-1] == "and then?"
