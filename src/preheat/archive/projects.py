"""Where sessions worked, and the projects made of that. Plain SQL, as in `writer.py`: a session's start looks its project up.

Knows nothing of how projects are told apart. The caller holds the transaction (`connection.transaction()`) of what writes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

import msgspec

from preheat.archive.database import ArchiveConnection
from preheat.model.project import SessionPlace, TreeFacts

_STATEMENT = msgspec.json.Decoder(SessionPlace)
_TREE = msgspec.json.Decoder(TreeFacts)
_Value = TypeVar("_Value")
_EARLIER = "earlier:"
"""Begins the keys of projects as archives before revision 0009 had them: they last until the next assignment."""


class StoredPlace(NamedTuple):
    """The place of a session, with its heading."""

    session: int
    key: str
    folder: str
    """Where it was started."""
    started_at: float | None
    place: SessionPlace
    is_analysed: bool


# Places.
def encode_place(place: SessionPlace) -> tuple[bytes, bytes | None]:
    """What is stored of a place: what the session says, and what the working tree says."""
    tree = msgspec.json.encode(place.tree) if place.tree is not None else None
    return msgspec.json.encode(msgspec.structs.replace(place, tree=None)), tree


def store_statements(connection: ArchiveConnection, rows: Iterable[tuple[int, bytes, bytes | None]]) -> None:
    """Store what sessions say, to be assigned again. What a working tree said once is kept: it may be another one by now."""
    connection.executemany(
        "INSERT INTO places (session_id, statement, tree, project) VALUES (?, ?, ?, NULL) ON CONFLICT (session_id) DO UPDATE "
        "SET statement = excluded.statement, tree = coalesce(places.tree, excluded.tree), "
        "project = CASE WHEN places.statement = excluded.statement THEN places.project END",
        rows,
    )


def load_places(connection: ArchiveConnection) -> Iterator[StoredPlace]:
    """The place of every session; of one that is not analysed yet it is the folder in which it was started."""
    query = (
        "SELECT sessions.id, sessions.key, sessions.project, started_at, statement, tree FROM sessions "
        "LEFT JOIN places ON places.session_id = sessions.id ORDER BY sessions.id"
    )
    for session, key, folder, started_at, statement, tree in connection.execute(query):
        place = decode_place(statement, tree, folder)
        yield StoredPlace(session, key, folder, started_at, place, statement is not None)


def decode_place(statement: bytes | None, tree: bytes | None, folder: str) -> SessionPlace:
    """Undo `encode_place`; of a session that is not analysed it is the folder in which that was started."""
    place = _decode(_STATEMENT, statement) or SessionPlace(home=folder)
    return msgspec.structs.replace(place, tree=_decode(_TREE, tree))


def _decode(decoder: "msgspec.json.Decoder[_Value]", data: bytes | None) -> "_Value | None":
    try:
        return None if data is None else decoder.decode(data)
    except msgspec.DecodeError:  # of another version: the session is analysed again
        return None


# Projects.
def is_assigned(connection: ArchiveConnection) -> bool:
    """Whether every session has been assigned since it changed."""
    query = "SELECT 1 FROM sessions LEFT JOIN places ON places.session_id = sessions.id WHERE places.project IS NULL LIMIT 1"
    return connection.execute(query).fetchone() is None


def load_project_names(connection: ArchiveConnection) -> dict[str, str]:
    """The name of each project by its key."""
    rows = connection.execute("SELECT key, name FROM projects WHERE substr(key, 1, ?) <> ?", (len(_EARLIER), _EARLIER))
    return dict(rows.fetchall())


def store_projects(
    connection: ArchiveConnection,
    names: Mapping[str, str],
    sessions: Mapping[int, str],
    lookup: Mapping[str, str],
) -> None:
    """Store an assignment in place of the earlier one: names by key, keys by session, keys by what projects are found by."""
    for table in ("projects", "project_lookup"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608
    connection.executemany("INSERT INTO projects (key, name) VALUES (?, ?)", names.items())
    connection.executemany("INSERT INTO project_lookup (what, project) VALUES (?, ?)", lookup.items())
    connection.executemany(
        "INSERT INTO places (session_id, project) SELECT id, ?2 FROM sessions WHERE id = ?1 "
        "ON CONFLICT (session_id) DO UPDATE SET project = excluded.project "
        "WHERE places.project IS NULL OR places.project <> excluded.project",
        sessions.items(),
    )


def find_project_by(connection: ArchiveConnection, things: Iterable[str]) -> tuple[str, str] | None:
    """Key and name of the project that the first known one of these things belongs to; None if none is known."""
    query = "SELECT key, name FROM project_lookup JOIN projects ON projects.key = project WHERE what = ?"
    for thing in things:
        row = connection.execute(query, (thing,)).fetchone()
        if row is not None:
            return row[0], row[1]
    return None


def find_named_project(connection: ArchiveConnection, name: str) -> tuple[str, str] | None:
    """Key and name of a project by its name, in any case of letters if only one has it."""
    rows = connection.execute("SELECT key, name FROM projects WHERE lower(name) = lower(?)", (name,)).fetchall()
    exact = [row for row in rows if row[1] == name]
    found = exact or (rows if len(rows) == 1 else [])
    return (found[0][0], found[0][1]) if found else None


def load_project_folders(connection: ArchiveConnection, name: str) -> list[str]:
    """The folders of a project, shortest first."""
    query = (
        "SELECT what FROM project_lookup JOIN projects ON projects.key = project "
        "WHERE name = ? AND (substr(what, 1, 5) = 'path:' OR substr(what, 1, 7) = 'folder:')"
    )
    folders = {row[0].partition(":")[2] for row in connection.execute(query, (name,))}
    return sorted(folders, key=lambda folder: (len(folder), folder))


def load_session_projects(connection: ArchiveConnection) -> dict[str, str]:
    """The name of the project of each session that has one, by the session's key."""
    query = (
        "SELECT sessions.key, projects.name FROM sessions JOIN places ON places.session_id = sessions.id "
        "JOIN projects ON projects.key = places.project"
    )
    return dict(connection.execute(query).fetchall())


def load_project_places(connection: ArchiveConnection, project: str) -> dict[str, tuple[str, str]]:
    """By the key of each session of a project: the folder in which it was started, and the one that stands for its project."""
    query = (
        "SELECT sessions.key, sessions.project, statement FROM places JOIN sessions ON sessions.id = places.session_id "
        "WHERE places.project = ?"
    )
    rows = connection.execute(query, (project,))
    return {key: (folder, place.root if (place := _decode(_STATEMENT, data)) else "") for key, folder, data in rows}


def load_session_roots(connection: ArchiveConnection) -> dict[int, str]:
    """The folder that stands for the project of each session that has one, by the session's id."""
    return {each.session: each.place.root for each in load_places(connection) if each.is_analysed and each.place.root}
