"""Reading Hermes's database while the program has it, in every schema, and when it cannot be read."""

import os
import sqlite3
from collections.abc import Iterator

import msgspec
import pytest

from preheat.agents import databases
from preheat.agents.hermes import PLACES
from preheat.agents.hermes import database as hermes
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.errors import SourceUnreadable, UserError
from preheat.model.session import Other, Session, UserMessage, pair_calls_with_results
from tests.agents.hermes_database import HermesDatabase
from tests.shared import bound_by_permissions, needs_permissions


@pytest.fixture
def path(tmp_path: object) -> str:
    return os.path.join(str(tmp_path), "state.db")


@pytest.fixture
def database(path: str) -> Iterator[HermesDatabase]:
    with HermesDatabase(path) as database:
        yield database


def stamps(path: str) -> dict[str, str]:
    return {part.id: part.stamp for part in hermes.parts(path)}


def contents(folder: str) -> dict[str, bytes]:
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


@pytest.mark.parametrize("version", [11, 13, 16, 19, 22])
def test_every_schema_is_read_by_the_columns_it_has(path: str, version: int) -> None:
    """Releases 0.13 to 0.19."""
    with HermesDatabase(path, version) as database:
        database.session("s", model="m", input_tokens=5, output_tokens=2)
        database.message("s", "user", "go")
        database.turn("s", "c1", exit_code=3)
    (session,) = read(path, READER)
    assert session.model == "m"
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["go"]
    assert [result.exit_code for _, result in pair_calls_with_results(session) if result] == [3]
    assert session.problems == ()


def test_a_newer_schema_keeps_its_new_columns(database: HermesDatabase, path: str) -> None:
    """Unknown columns and tables are kept."""
    database.session("s")
    database.message("s", "user", "go")
    database.connection.execute("UPDATE schema_version SET version = 99")
    database.connection.execute("ALTER TABLE sessions ADD COLUMN pinned DEFAULT 1")
    database.connection.execute("CREATE TABLE novelty (id)")
    (session,) = read(path, READER)
    (row,) = (event.raw for event in session.events if isinstance(event, Other) and event.name == "session")
    assert row["pinned"] == 1


def test_rows_only_in_the_log_are_read(database: HermesDatabase, path: str) -> None:
    """While the program runs, nearly everything is in the log, which is not changed."""
    database.session("s")
    database.message("s", "user", "not checkpointed")
    assert os.path.getsize(f"{path}-wal") > 0
    before = contents(os.path.dirname(path))
    with open(path, "rb") as file:
        assert READER.detect(file.read(65536), path)
    (session,) = read(path, READER)
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["not checkpointed"]
    after = contents(os.path.dirname(path))
    assert {name: after[name] for name in ("state.db", "state.db-wal")} == {
        name: before[name] for name in ("state.db", "state.db-wal")
    }


def test_a_session_is_read_from_one_consistent_state(database: HermesDatabase, path: str) -> None:
    """Rows written during the reading are not in it."""
    database.session("s")
    database.message("s", "user", "one")
    lines = hermes.dump(path, "s")
    first = next(lines)
    database.message("s", "user", "two")
    assert b"sessions" in first
    rest = [msgspec.json.decode(line) for line in lines]
    assert [each["row"]["content"] for each in rest if each["table"] == "messages"] == ["one"]
    assert rest[-1] == {"table": "end", "row": {"messages": 1}}


def test_a_write_to_the_log_alone_is_a_change(database: HermesDatabase, path: str) -> None:
    database.session("s")
    (before,) = PLACES.discover(os.path.dirname(path))
    size = os.path.getsize(path)
    database.message("s", "user", "more")
    (after,) = PLACES.discover(os.path.dirname(path))
    assert os.path.getsize(path) == size
    assert before.stamp != after.stamp
    assert after.size > before.size


def test_reading_does_not_change_the_stamp(path: str) -> None:
    """SQLite leaves an empty log beside a closed database that is read."""
    with HermesDatabase(path) as database:
        database.session("s")
    (before,) = PLACES.discover(os.path.dirname(path))
    read(path, READER)
    (after,) = PLACES.discover(os.path.dirname(path))
    assert (before.size, before.stamp) == (after.size, after.stamp)


def test_a_stamp_changes_only_with_its_session(database: HermesDatabase, path: str) -> None:
    """With new rows, rewinds, compactions, totals, titles, ends and children of the session."""
    database.session("s")
    database.session("other")
    first = database.message("s", "user", "one")
    seen = [stamps(path)["s"]]
    other = stamps(path)["other"]

    def changed() -> None:
        seen.append(stamps(path)["s"])
        assert seen.count(seen[-1]) == 1

    database.message("s", "assistant", "two")
    changed()
    database.compact("s", 1, 0, "[CONTEXT SUMMARY]: x")
    changed()
    database.rewind("s", first)
    changed()
    for name, value in (("title", "t"), ("ended_at", 5.0), ("input_tokens", 9), ("cwd", "/w")):
        database.connection.execute(f"UPDATE sessions SET {name} = ? WHERE id = 's'", (value,))
        changed()
    database.add("session_model_usage", {"session_id": "s", "input_tokens": 1, "output_tokens": 1})
    changed()
    database.session("child", parent_session_id="s", source="subagent")
    changed()
    assert stamps(path)["other"] == other
    assert stamps(path)["s"] == seen[-1]


def test_the_stamps_of_all_sessions_come_from_an_index(database: HermesDatabase, path: str) -> None:
    """With Hermes's own index, no message is read."""
    database.connection.execute("CREATE INDEX i ON messages(session_id, active, timestamp)")
    query = hermes._message_counts_query({"active", "timestamp"})
    plan = " ".join(str(row[3]) for row in database.connection.execute(f"EXPLAIN QUERY PLAN {query}"))
    assert "COVERING INDEX" in plan


def test_messages_of_a_deleted_session_are_kept(database: HermesDatabase, path: str) -> None:
    database.message("lost", "user", "hello")
    (session,) = read(path, READER)
    assert session.id == "lost"


def test_evidence_of_tests_is_read_with_its_session(database: HermesDatabase, path: str) -> None:
    database.session("s")
    beside = sqlite3.connect(os.path.join(os.path.dirname(path), hermes.EVIDENCE))
    with beside:
        beside.execute("CREATE TABLE verification_events (id INTEGER PRIMARY KEY, session_id, status, exit_code)")
        beside.execute("INSERT INTO verification_events (session_id, status, exit_code) VALUES ('s', 'passed', 0)")
        beside.execute("INSERT INTO verification_events (session_id, status, exit_code) VALUES ('x', 'failed', 1)")
    beside.close()
    (session,) = read(path, READER)
    kept = [
        event.raw["row"]["status"]
        for event in session.events
        if isinstance(event, Other) and event.name == "verification_events"
    ]
    assert kept == ["passed"]


def test_damaged_evidence_is_a_problem_of_the_session(database: HermesDatabase, path: str) -> None:
    database.session("s")
    database.message("s", "user", "go")
    with open(os.path.join(os.path.dirname(path), hermes.EVIDENCE), "wb") as file:
        file.write(b"no database at all" * 100)
    (session,) = read(path, READER)
    assert [hermes.EVIDENCE in problem.message for problem in session.problems] == [True]
    assert any(isinstance(event, UserMessage) for event in session.events)


def test_a_locked_database_is_reported_as_locked(
    database: HermesDatabase, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On filesystems without shared memory there is no log, and a writer locks readers out."""
    monkeypatch.setattr(databases, "BUSY_SECONDS", 0.05)
    database.session("s")
    database.connection.execute("PRAGMA journal_mode = DELETE")
    database.connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceUnreadable, match="locked"):
        hermes.parts(path)
    with pytest.raises(SourceUnreadable, match="locked"):
        list(hermes.dump(path, "s"))
    assert READER.detect(b"SQLite format 3\x00", path)
    database.connection.execute("COMMIT")
    assert list(stamps(path)) == ["s"]


@pytest.mark.parametrize("damage", [b"not a database, whatever it is called", b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_damaged_database_is_reported_as_damaged(path: str, damage: bytes) -> None:
    with open(path, "wb") as file:
        file.write(damage)
    with pytest.raises(SourceUnreadable, match="damaged"):
        hermes.parts(path)
    with pytest.raises(UserError, match=r"state\.db"):
        read(path, READER)


def test_a_truncated_database_is_reported_as_damaged(path: str) -> None:
    with HermesDatabase(path) as database:
        database.session("s")
        for number in range(300):
            database.message("s", "user", f"{number} " * 200)
        database.connection.execute("PRAGMA journal_mode = DELETE")
    os.truncate(path, os.path.getsize(path) // 2)
    with pytest.raises(SourceUnreadable, match="damaged"):
        list(hermes.dump(path, "s"))


def test_another_programs_database_is_not_detected(path: str) -> None:
    """Although it has the same name."""
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE sessions (id, name)")
    other.execute("CREATE TABLE messages (id, body)")
    other.close()
    with open(path, "rb") as file:
        assert not READER.detect(file.read(65536), path)
    with pytest.raises(SourceUnreadable, match=r"no Hermes database.*`messages` has no `content`"):
        hermes.parts(path)


def test_an_empty_and_a_missing_database_are_reported(path: str) -> None:
    with pytest.raises(SourceUnreadable, match="not there"):
        hermes.parts(path)
    assert not os.path.exists(path)
    sqlite3.connect(path).execute("CREATE TABLE x (y)").connection.close()
    with pytest.raises(SourceUnreadable, match="no table `sessions`"):
        hermes.parts(path)


@needs_permissions
def test_missing_permission_is_reported(database: HermesDatabase, path: str) -> None:
    os.chmod(path, 0)
    with bound_by_permissions(os.path.dirname(path)), pytest.raises(SourceUnreadable, match="permission"):
        hermes.parts(path)


def test_the_archived_lines_give_the_same_session(database: HermesDatabase, path: str) -> None:
    """Parsed again without the database."""
    database.session("p", end_reason="compression")
    database.message("p", "user", "go")
    database.turn("p", "c1")
    database.session("s", parent_session_id="p")
    database.message("s", "user", "go")
    database.turn("s", "c2")
    direct = {session.id: session for session in read(path, READER)}
    archived = {part.id: b"".join(line + b"\n" for line in hermes.dump(path, part.id)) for part in hermes.parts(path)}
    database.connection.close()
    os.remove(path)
    again: dict[str, Session] = {}
    for identifier, lines in archived.items():
        parser = READER.parser(path, identifier)
        parser.feed(lines, 1)
        (again[identifier],) = parser.take()
    assert again == direct
