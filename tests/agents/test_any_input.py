"""Whatever a file holds, recognising and reading it raises nothing: a damaged file costs itself, at most."""

import copy
import json
import math
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS, reader_of
from preheat.agents.reader import DatabaseReader, Reader
from preheat.agents.sources import detect, open_source, read
from preheat.errors import NotRecognised, UserError
from preheat.ingest.source_rows import make_session_rows
from preheat.model.session import Session
from tests.shared import FIXTURES, fixture_files

WILD: list[Any] = [
    None, True, {}, [], "", 0, -1, 1.5, 10**30, 2**63, 2**64, -(2**63) - 1, 1e308, math.inf, math.nan, "\ud800", "\0",
    [{}], [[]], {"a": {}}, [None], {"": None}, "9" * 5000, "2026-13-45T99:99:99Z", 10**400,
]  # fmt: skip
LARGEST = 60_000


def small_files(agent: str) -> list[str]:
    paths = [os.path.join(FIXTURES, name) for name in fixture_files(agent)]
    return sorted(paths, key=os.path.getsize)[:3]


def source_of(agent: str, path: str) -> tuple[str, bytes]:
    """The part and the bytes that a parser is fed."""
    reader = reader_of(agent)
    if reader.framing(path) != "database":
        with open_source(path) as stream:
            return "", stream.read(LARGEST)
    database = cast(DatabaseReader, reader)
    part = database.parts(path)[0].id
    return part, b"".join(row + b"\n" for row in database.dump(path, part))[:LARGEST]


SOURCES = [(agent, path, *source_of(agent, path)) for agent in AGENTS for path in small_files(agent)]


def parse(agent: str, path: str, part: str, data: bytes) -> list[Session]:
    """Read it as a sync does, up to the rows for the archive."""
    parser = reader_of(agent).parser(path, part)
    parser.feed(data, 1)
    found = parser.take()
    parser.save()
    for session in found:
        msgspec.msgpack.encode(make_session_rows(session))
    return found


def recognise(data: bytes) -> None:
    for agent in AGENTS:
        for name in ("session.jsonl", "session.json", "base_state.json"):
            reader_of(agent).detect(data[: 64 * 1024], name)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for index in range(min(len(value), 4)):
            yield from places(value[index], (*path, index))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = copy.copy(value)
    changed[path[0]] = put(value[path[0]], path[1:], new)
    return changed


def values_in(data: bytes) -> list[Any]:
    try:
        return [json.loads(data)]
    except ValueError:
        pass
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


@settings(max_examples=300)
@given(chosen=st.sampled_from(SOURCES), choose=st.data())
def test_a_wrongly_typed_value_at_any_place_raises_nothing(
    chosen: tuple[str, str, str, bytes], choose: st.DataObject
) -> None:
    agent, path, part, data = chosen
    values = values_in(data)
    if not values:
        return
    for _ in range(choose.draw(st.integers(1, 4))):
        index = choose.draw(st.integers(0, min(len(values), 30) - 1))
        place = choose.draw(st.sampled_from(list(places(values[index]))))
        values[index] = put(values[index], place, choose.draw(st.sampled_from(WILD)))
    changed = b"\n".join(json.dumps(value).encode() for value in values) + b"\n"
    recognise(changed)
    parse(agent, path, part, changed)


@pytest.mark.parametrize(("agent", "path", "part", "data"), SOURCES, ids=lambda each: str(each)[-40:])
def test_bytes_of_any_kind_raise_nothing(agent: str, path: str, part: str, data: bytes) -> None:
    middle = data.find(b"\n") + 1 or 1000
    strange = [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        data[:middle] + b"[" * 900 + b"]" * 900 + b"\n" + data[middle:],
        data[:middle] + b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n" + data[middle:],
        b"\0" * 1000 + data,
        b"\xef\xbb\xbf" + data,
        b"\xff\xfe" + data,
        data.decode("utf-8", "replace").encode("utf-16"),
        b"1" * 1_000_000,
        b'{"type":' + b"1" * 100_000 + b"}\n" + data,
        b'{"type":NaN,"type":-Infinity}\n' + data,
        data.replace(b'"', b"'"),
        data[: len(data) // 2],
    ]
    for changed in strange:
        recognise(changed)
        parse(agent, path, part, changed)


def test_the_file_that_once_stopped_a_sync_is_only_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('[{"role":{},"content":"x"},{"role":"user","content":"y"}]')
    with pytest.raises(NotRecognised):
        detect(str(path))


class BrokenReader:
    """The reader of an agent, with a defect in recognising."""

    def __init__(self, agent: str) -> None:
        self.agent = agent

    def detect(self, head: bytes, path: str) -> bool:
        raise ZeroDivisionError("as if by a defect")


def test_a_defect_in_recognising_costs_the_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(agent: str) -> Reader:
        return cast(Reader, BrokenReader(agent)) if agent == AGENTS[0] else reader_of(agent)

    monkeypatch.setattr("preheat.agents.sources.reader_of", broken)
    (tmp_path / "nobody's.txt").write_text("nothing that anybody knows")
    with pytest.raises(UserError, match=r"nobody's.txt` cannot be read: .*ZeroDivisionError: as if by a defect"):
        detect(str(tmp_path / "nobody's.txt"))
    other = next(os.path.join(FIXTURES, name) for name in fixture_files("codex"))
    assert detect(other).agent == "codex"


# Databases.
SCHEMAS = [
    "CREATE TABLE session (id, project_id, directory, slug); CREATE TABLE message (x); CREATE TABLE part (y)",
    "CREATE VIEW session AS SELECT 1 AS id, 1 AS project_id, 1 AS directory, 1 AS slug;"
    "CREATE VIEW message AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT i AS id, 1 AS session_id, '{}' AS data FROM n;"
    "CREATE VIEW part AS SELECT 1 AS id, 1 AS message_id, 1 AS session_id, '{}' AS data",
    "CREATE TABLE session (id, project_id, directory, slug); CREATE TABLE message (id, session_id, data);"
    "CREATE TABLE part (id, message_id, session_id, data);"
    "INSERT INTO session VALUES (x'ff00', 1.5, NULL, zeroblob(100)), (NULL, NULL, NULL, NULL);"
    "INSERT INTO message VALUES (1, x'ff00', x'ffff'), (NULL, NULL, NULL), (9e99, 1, '[[[[')",
    "CREATE TABLE ItemTable (key, value); CREATE TABLE cursorDiskKV (key, value);"
    "INSERT INTO cursorDiskKV VALUES ('composerData:1', x'ff'), ('composerData:2', '[]'), (NULL, NULL), (1, 2)",
    "CREATE TABLE sessions (id, source); CREATE TABLE messages (id, session_id, role, content);"
    "INSERT INTO sessions VALUES (1, x'ff'); INSERT INTO messages VALUES (1, 1, x'ff', 1e999)",
]


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("name", ["opencode.db", "state.vscdb", "state.db"])
def test_a_database_of_another_schema_gives_one_error_or_none(tmp_path: Path, name: str, schema: str) -> None:
    path = str(tmp_path / name)
    with sqlite3.connect(path) as made:
        made.executescript(schema)
    made.close()
    try:
        read(path)
    except UserError as error:
        assert "\n" not in str(error)  # noqa: PT017 - no error is right too


@pytest.mark.parametrize("name", ["opencode.db", "state.vscdb", "state.db"])
def test_a_damaged_or_cut_off_database_gives_one_error(tmp_path: Path, name: str) -> None:
    whole = tmp_path / "whole"
    with sqlite3.connect(whole) as made:
        made.executescript(SCHEMAS[2])
    made.close()
    data = bytearray(whole.read_bytes())
    for at in range(16, len(data), 97):
        data[at] ^= 0xFF
    for content in (bytes(data), whole.read_bytes()[:1500], b"SQLite format 3\0" + b"\xff" * 5000):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError):
            read(str(tmp_path / name))
