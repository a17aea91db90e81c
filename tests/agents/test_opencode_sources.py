"""OpenCode's database and its older tree of files: found, distinguished, read while the program writes, never changed."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from preheat.agents.opencode import PLACES
from preheat.agents.opencode.reader import READER
from preheat.agents.sources import detect, read
from preheat.errors import SourceUnreadable, UserError
from preheat.model.session import AssistantMessage, Other, Session, ToolResult, UserMessage
from scripts.opencode_fixtures import plant
from tests.ingest.machine import Machine
from tests.shared import FIXTURES, bound_by_permissions, needs_permissions

RECORDED = os.path.join(FIXTURES, "opencode")


@pytest.fixture
def path(tmp_path: Any) -> str:
    """A copy of a recorded database, in the program's place of a home."""
    folder = os.path.join(str(tmp_path), ".local", "share", "opencode")
    os.makedirs(folder)
    return shutil.copy(os.path.join(RECORDED, "subagent", "opencode.db"), folder)


@pytest.fixture
def writer(path: str) -> Iterator[sqlite3.Connection]:
    """The running program: it writes into a log beside the database."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    yield connection
    connection.close()


def discovered_stamps(root: str) -> dict[str, str]:
    return {os.path.relpath(each.path, root): each.stamp for each in PLACES.discover(root)}


def stamps(path: str) -> dict[str, str]:
    return {part.id: part.stamp for part in READER.parts(path)}


def kinds(session: Session) -> list[str]:
    return [type(event).__name__ for event in session.events]


# Where it is.
def test_the_data_folder_is_the_same_on_every_system() -> None:
    home = os.path.join(os.sep, "home", "p")
    own = os.path.join(home, ".local", "share", "opencode")
    assert PLACES.roots({"HOME": home, "USERPROFILE": home}) == [own]
    other = os.path.join(os.sep, "data")
    assert PLACES.roots({"HOME": home, "XDG_DATA_HOME": other}) == [os.path.join(other, "opencode")]


def test_a_database_can_be_named_by_a_variable() -> None:
    """By `OPENCODE_DB`: absolute, or below the program's folder; `:memory:` is ignored."""
    base = {"XDG_DATA_HOME": os.path.join(os.sep, "d")}
    own = os.path.join(os.sep, "d", "opencode")
    elsewhere = os.path.join(os.sep, "x", "mine.db")
    assert PLACES.roots({**base, "OPENCODE_DB": "mine.db"}) == [own, os.path.join(own, "mine.db")]
    assert PLACES.roots({**base, "OPENCODE_DB": elsewhere}) == [own, elsewhere]
    assert PLACES.roots({**base, "OPENCODE_DB": ":memory:"}) == [own]


def test_the_database_of_every_channel_is_found(path: str, tmp_path: Any) -> None:
    folder = os.path.dirname(path)
    for name in ("opencode-dev.db", "mine.db", "opencode.db-wal", "opencode.json"):
        shutil.copy(path, os.path.join(folder, name))
    assert list(discovered_stamps(folder)) == ["opencode-dev.db", "opencode.db"]
    assert list(discovered_stamps(os.path.join(folder, "mine.db"))) == ["."]
    assert discovered_stamps(os.path.join(folder, "gone.db")) == discovered_stamps(str(tmp_path / "gone")) == {}


# The database of a running program.
def test_rows_only_in_the_log_are_read_and_nothing_is_written(path: str, writer: sqlite3.Connection) -> None:
    before = discovered_stamps(os.path.dirname(path))
    parent = next(iter(stamps(path)))
    message = msgspec.json.encode({"role": "user", "time": {"created": 1_899_000_000_000}}).decode()
    part = msgspec.json.encode({"type": "text", "text": "One more thing"}).decode()
    writer.execute("INSERT INTO message VALUES ('msg_z', ?, 1899000000000, 1899000000000, ?)", (parent, message))
    writer.execute("INSERT INTO part VALUES ('prt_z', 'msg_z', ?, 1899000000000, 1899000000000, ?)", (parent, part))
    with open(path, "rb") as file:
        content = file.read()
    assert discovered_stamps(os.path.dirname(path)) != before
    session = read(path, READER)[0]
    assert [event.text for event in session.events if isinstance(event, UserMessage)][-1] == "One more thing"
    with open(path, "rb") as file:
        assert file.read() == content
    writer.execute("DELETE FROM message WHERE id = 'msg_z'")  # no lock of ours is left


def test_a_rewritten_row_changes_only_the_stamp_of_its_session(path: str, writer: sqlite3.Connection) -> None:
    before = stamps(path)
    parent, child = before
    writer.execute("UPDATE part SET time_updated = time_updated + 100000 WHERE session_id = ?", (child,))
    after = stamps(path)
    assert after[parent] == before[parent]
    assert after[child] != before[child]


@pytest.mark.parametrize(
    "change", ["title = 'Another'", 'revert = \'{"messageID":"msg_x"}\'', "time_archived = 1", "tokens_input = 7"]
)
def test_a_change_of_the_sessions_row_changes_its_stamp(path: str, writer: sqlite3.Connection, change: str) -> None:
    before = stamps(path)
    writer.execute(f"UPDATE session SET {change} WHERE parent_id IS NULL")
    after = stamps(path)
    assert [before[name] == after[name] for name in before] == [False, True]


def test_messages_without_a_session_row_are_a_session(path: str, writer: sqlite3.Connection) -> None:
    child = list(stamps(path))[1]
    writer.execute("DELETE FROM session WHERE id = ?", (child,))
    assert kinds(read(path, READER)[1])[-1] == "AssistantMessage"


def test_a_row_that_is_not_json_does_not_affect_the_others(path: str, writer: sqlite3.Connection) -> None:
    writer.execute("UPDATE part SET data = 'oops' WHERE data LIKE '%hand this over%'")
    session = read(path, READER)[0]
    assert [problem.line for problem in session.problems] == [6]
    assert any(isinstance(event, Other) and event.raw["row"].get("data") == "oops" for event in session.events)
    assert any(isinstance(event, ToolResult) for event in session.events)


def test_a_newer_table_is_kept_as_it_is(path: str, writer: sqlite3.Connection) -> None:
    """`session_message` is meant to replace messages and parts; it is still empty in 1.18."""
    parent = next(iter(stamps(path)))
    writer.execute("DELETE FROM message WHERE session_id = ?", (parent,))
    writer.execute("INSERT INTO session_message VALUES ('m', ?, 'user', 1, 1, 1, '{\"text\":\"hi\"}')", (parent,))
    session = read(path, READER)[0]
    kept = [event.raw["row"].get("data") for event in session.events if isinstance(event, Other)]
    assert kept[-1] == {"text": "hi"}


def test_fewer_columns_are_enough(path: str, writer: sqlite3.Connection) -> None:
    """Earlier schemas had no totals."""
    for name in (
        "tokens_input",
        "tokens_output",
        "tokens_reasoning",
        "tokens_cache_read",
        "tokens_cache_write",
        "cost",
    ):
        writer.execute(f"ALTER TABLE session DROP COLUMN {name}")
    sessions = read(path, READER)
    assert [session.reported for session in sessions] == [None, None]
    assert detect(path).agent == "opencode"


def test_another_programs_database_is_not_detected(tmp_path: Any) -> None:
    path = str(tmp_path / "opencode.db")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE session (id, data)")
    database.close()
    assert not READER.detect(b"SQLite format 3\x00", path)
    with pytest.raises(SourceUnreadable, match=r"no OpenCode database .* no table `message`"):
        READER.parts(path)


def test_a_damaged_database_is_reported_as_damaged(path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"SQLite format 3\x00" + b"\xff" * 4096)
    assert READER.detect(b"SQLite format 3\x00", path)
    with pytest.raises(UserError, match="damaged"):
        read(path, READER)


# The tree of older versions.
@pytest.fixture
def tree(tmp_path: Any) -> str:
    """A copy of the recorded tree; the session's own file."""
    root = os.path.join(str(tmp_path), ".local", "share", "opencode")
    shutil.copytree(os.path.join(RECORDED, "tree"), root)
    return next(each.path for each in PLACES.discover(root))


def root_of(tree: str) -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(tree))))


def pieces(tree: str, kind: str) -> list[str]:
    folder = os.path.join(root_of(tree), "storage", kind)
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


def touch_later(path: str, by: int) -> None:
    """Set the file's time a moment later."""
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + by))


def test_tree_export_and_database_give_the_same_events(tree: str) -> None:
    (by_database,) = read(os.path.join(RECORDED, "ordinary", "opencode.db"))
    (by_export,) = read(os.path.join(RECORDED, "export.json"))
    (by_tree,) = read(tree)
    assert by_database.events[1:] == by_export.events[1:] == by_tree.events[1:]
    assert (by_database.id, by_database.reported) == (by_export.id, by_export.reported)
    assert by_database.id == by_tree.id


def test_an_unchanged_session_keeps_its_stamp(tree: str) -> None:
    assert discovered_stamps(root_of(tree)) == discovered_stamps(root_of(tree))
    assert stamps(tree) == stamps(tree)


def test_a_change_of_the_newest_message_changes_the_stamp(tree: str) -> None:
    """Parts are rewritten in place, which changes no folder's time."""
    newest = pieces(tree, "message")[-1]
    parts = os.path.join(root_of(tree), "storage", "part", os.path.basename(newest)[: -len(".json")])
    changed = [tree, newest, *(os.path.join(parts, name) for name in os.listdir(parts))]
    seen = [(discovered_stamps(root_of(tree)), stamps(tree))]
    for number, each in enumerate(changed, 1):
        touch_later(each, number * 1000)
        seen.append((discovered_stamps(root_of(tree)), stamps(tree)))
    assert all(one[0] != other[0] and one[1] != other[1] for one, other in pairwise(seen))


def test_an_added_or_removed_message_changes_the_stamp(tree: str) -> None:
    first = pieces(tree, "message")[0]
    before = discovered_stamps(root_of(tree)), stamps(tree)
    os.remove(first)
    after = discovered_stamps(root_of(tree)), stamps(tree)
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_damaged_file_does_not_affect_the_others(tree: str) -> None:
    parts = pieces(tree, "part")
    whole = len(read(tree)[0].events)
    with open(parts[0], "w", encoding="utf-8") as file:
        file.write('{"type": "te')
    (session,) = read(tree)
    assert len(session.events) == whole - 1
    assert [os.path.basename(parts[0]) in problem.message for problem in session.problems] == [True]


@needs_permissions
def test_a_file_without_permission_is_a_problem(tree: str, tmp_path: Any) -> None:
    os.chmod(pieces(tree, "part")[0], 0)
    with bound_by_permissions(str(tmp_path)):
        (session,) = read(tree)
    assert [("cannot be read" in problem.message) for problem in session.problems] == [True]


def test_a_session_whose_own_file_is_damaged_cannot_be_read(tree: str) -> None:
    with open(tree, "w", encoding="utf-8") as file:
        file.write('{"id": "ses_')
    with pytest.raises(UserError, match="not a whole JSON document"):
        read(tree, READER)


def test_only_a_sessions_own_file_is_detected() -> None:
    assert READER.framing("x/storage/session/global/ses_1.json") == "database"
    assert READER.framing("C:\\x\\storage\\session\\global\\ses_1.json") == "database"
    for other in ("ses_1.json", "x/storage/message/ses_1/msg_1.json", "x/session/global/ses_1.jsonl", "a.jsonl"):
        assert READER.framing(other) == "document"
    assert not READER.detect(b'{"id": "ses_1"}', "ses_1.json")


# All of it in the archive.
def test_a_session_in_tree_and_database_is_kept_once(tmp_path: Any) -> None:
    """A version that imported the tree left it in place, with the same ids."""
    machine = Machine(tmp_path)
    own = os.path.join(machine.home, ".local", "share", "opencode")
    shutil.copytree(os.path.join(RECORDED, "ordinary"), own)
    plant(os.path.join(own, "opencode.db"), os.path.join(own, "storage"))
    machine.sync()
    assert machine.rows("SELECT count(*), sum(calls) FROM sessions") == [(1, 8)]
    assert machine.rows("SELECT count(*) FROM problems") == [(0,)]


def test_messages_copied_by_a_fork_count_once(tmp_path: Any) -> None:
    machine = Machine(tmp_path)
    shutil.copytree(os.path.join(RECORDED, "forked"), os.path.join(machine.home, ".local", "share", "opencode"))
    machine.sync()
    assert machine.rows("SELECT count(*) FROM calls WHERE NOT copied") == [(2,)]
    assert machine.rows("SELECT input_tokens FROM sessions ORDER BY started_at") == [(200,), (200,)]


def test_a_continued_session_is_read_again(tmp_path: Any) -> None:
    machine = Machine(tmp_path)
    own = os.path.join(machine.home, ".local", "share", "opencode")
    shutil.copytree(os.path.join(RECORDED, "ordinary"), own)
    database = sqlite3.connect(os.path.join(own, "opencode.db"), isolation_level=None)
    ended = (
        "UPDATE part SET time_updated = ?, data = json_set(data, '$.state.status', ?) WHERE data LIKE '%python3 one%'"
    )
    database.execute(ended, (1, "running"))
    machine.sync()
    query = "SELECT count(*) FROM calls WHERE output_size IS NULL"
    assert machine.rows(query) == [(1,)]
    database.execute(ended, (1_899_000_000_000, "completed"))
    database.close()
    machine.sync()
    assert machine.rows(query) == [(0,)]
    sessions = read(os.path.join(own, "opencode.db"))
    assert any(isinstance(event, AssistantMessage) for session in sessions for event in session.events)
