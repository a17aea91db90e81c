"""The index of one root: what it knows about files, and what it says about a prompt.

Reads only, apart from `update`. It may be asked from several threads, and while another process updates it. Without an index
every answer is empty.
"""

import os
import sqlite3
from collections.abc import Sequence
from threading import Lock
from typing import Any

import msgspec
import numpy as np

from preheat.model.tree import Symbol, TreeEvidence, TreeFile, TreeUpdate
from preheat.tree import store
from preheat.tree.coverage import does_import, import_terms_of, is_test, subject_of
from preheat.tree.evidence import Knowledge, gather
from preheat.tree.history import Commit, History
from preheat.tree.postings import Reader
from preheat.tree.scores import Lengths
from preheat.tree.sources import Source, WorkingTree
from preheat.tree.update import IMPORT, MOST_FILES, update_index

_MOST_TESTS = 50


class TreeIndex:
    """The index of one root. Close it, or use it as a context."""

    def __init__(self, folder: str, source: Source | None, root: str) -> None:
        self._folder = folder
        self._source = source
        self.root = root
        self._path = store.database_path(folder, root)
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._knowledge: Knowledge | None = None
        self._data_version = -1
        self._lock = Lock()

    @classmethod
    def open(cls, folder: str, root: str) -> "TreeIndex":
        """The index of a folder of this machine, in Preheat's folder. There need be none yet."""
        return cls(folder, None, os.path.realpath(root))

    @classmethod
    def open_source(cls, folder: str, source: Source) -> "TreeIndex":
        """The index of another source of files, such as a commit of a repository without a checkout."""
        return cls(folder, source, source.root)

    def __enter__(self) -> "TreeIndex":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._drop_connection()

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._file, self._knowledge = None, None, None

    def update(self, source: Source | None = None, most_files: int = MOST_FILES) -> TreeUpdate:
        """Bring the index up to date; `source` may be another commit of the same repository. Raises UserError if another process
        does so, OSError and sqlite3.Error."""
        return update_index(self._folder, source or self._source or WorkingTree(self.root), most_files)

    # What there is.
    def exists(self, path: str) -> bool:
        """Whether a path, relative to the root, is a file now; of a commit, whether it was one."""
        if self._source is None and os.path.isdir(self.root):
            return not os.path.isabs(path) and os.path.isfile(os.path.join(self.root, path))
        return self.find_file(path) is not None

    def find_file(self, path: str) -> TreeFile | None:
        """What the index knows of a file; None if it does not know it."""
        found = self._files("path = ?", (path,))
        return found[0] if found else None

    def find_by_name(self, name: str) -> list[TreeFile]:
        """The files of this name, in any folder and in any case, by path."""
        return self._files("name = ?", (os.path.basename(name).lower(),))

    def _files(self, condition: str, values: tuple[object, ...]) -> list[TreeFile]:
        rows = self._rows(
            f"SELECT path, language, kind, size, is_test FROM file WHERE {condition} ORDER BY path",  # noqa: S608 - our own
            values,
        )
        return [
            TreeFile(path=path, language=language, kind=kind, size=size, is_test=bool(test))
            for path, language, kind, size, test in rows
        ]

    def symbols(self, path: str) -> list[Symbol]:
        """The symbols of a file, in their order."""
        rows = self._rows("SELECT symbols FROM file WHERE path = ?", (path,))
        return msgspec.msgpack.decode(rows[0][0], type=list[Symbol]) if rows else []

    def _rows(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        with self._lock:
            try:
                knowledge = self._current()
                return knowledge.connection.execute(statement, values).fetchall() if knowledge is not None else []
            except sqlite3.Error:
                self._drop_connection()
                return []

    def tests_of(self, path: str) -> list[str]:
        """The tests that cover a file, the surest first: of its name, then those that import it."""
        with self._lock:
            try:
                knowledge = self._current()
                return find_tests(knowledge.connection, path) if knowledge is not None else []
            except sqlite3.Error:
                self._drop_connection()
                return []

    # What it says about a prompt.
    def look_up(self, prompt: str, touched: Sequence[str] = ()) -> TreeEvidence:
        """What the tree says about a prompt, and about the files, relative to the root, that were touched before it."""
        with self._lock:
            try:
                knowledge = self._current()
                if knowledge is None:
                    return TreeEvidence()
                with store.snapshot(knowledge.connection):
                    return gather(knowledge, prompt, touched, find_tests)
            except sqlite3.Error:
                self._drop_connection()
                return TreeEvidence()

    def _current(self) -> Knowledge | None:
        """What is known as of the last finished step of an update; None without an index."""
        identity = _identity(self._path)
        if self._connection is None or identity != self._file:
            self._drop_connection()
            self._connection = store.open_for_reading(self._path)
            self._file = identity
        if self._connection is None:
            return None
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if self._knowledge is None or version != self._data_version:
            with store.snapshot(self._connection):
                self._knowledge = load_knowledge(self._connection, self.root)
            self._data_version = version
        return self._knowledge


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def load_knowledge(connection: sqlite3.Connection, root: str) -> Knowledge:
    """What every look-up needs, from the database."""
    size = int(store.load_fact(connection, "next_document") or b"1")
    contents, paths = np.zeros(size, np.float32), np.zeros(size, np.float32)
    rows = connection.execute("SELECT document, terms, path_terms FROM file").fetchall()
    if rows:
        documents, terms, path_terms = (np.array(each) for each in zip(*rows, strict=True))
        contents[documents] = terms
        paths[documents] = path_terms
    packed = store.load_fact(connection, "history")
    commits = msgspec.msgpack.decode(packed, type=list[Commit]) if packed else []
    return Knowledge(connection, root, len(rows), Lengths.make(contents), Lengths.make(paths), History(commits))


def find_tests(connection: sqlite3.Connection, path: str) -> list[str]:
    """The tests that cover a file: of its name, the nearest first, then those that import it."""
    if is_test(path):
        return []
    rows = connection.execute("SELECT path FROM file WHERE is_test AND subject = ? LIMIT 200", (subject_of(path),))
    found = dict.fromkeys(sorted((row[0] for row in rows), key=lambda test: (-_nearness(test, path), test)))
    reader = Reader(connection)
    for term in import_terms_of(path):
        numbers = (reader.load(IMPORT + term) >> 8)[:1000].tolist()
        marks = ", ".join("?" * len(numbers))
        importing = connection.execute(
            f"SELECT path, imports FROM file WHERE is_test AND document IN ({marks}) ORDER BY path",  # noqa: S608 - marks only
            numbers,
        )
        for test, packed in importing:
            if any(does_import(name, path) for name in msgspec.msgpack.decode(packed, type=list[str])):
                found[test] = None
    return list(found)[:_MOST_TESTS]


def _nearness(test: str, path: str) -> int:
    """How many folders two paths share."""
    return len(set(os.path.dirname(test).split("/")) & set(os.path.dirname(path).split("/")))
