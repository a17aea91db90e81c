"""Brings an index up to date: reads what is new or changed since the last time, and forgets what is gone.

Written in steps: a process that is ended leaves an index that can be used, and the next update goes on from there. Not for an
agent's way: a run over a large repository takes a minute.
"""

import os
import sqlite3
import time
from contextlib import closing

import msgspec
import numpy as np

from preheat.errors import UserError
from preheat.files import make_private_folder
from preheat.locking import hold_lock
from preheat.model.tree import FileKind, Symbol, TreeUpdate
from preheat.sqlite_files.opening import SIGNS_OF_DAMAGE, write_transaction
from preheat.terms import TermCounter
from preheat.tree import store
from preheat.tree.contents import kind_by_contents, kind_by_name
from preheat.tree.coverage import import_term, is_test, read_imports, subject_of
from preheat.tree.history import read_commits
from preheat.tree.languages import language_of
from preheat.tree.postings import MOST_DOCUMENTS, SegmentWriter, merge_segments
from preheat.tree.sources import FoundFile, Listing, Source
from preheat.tree.symbols import SymbolReader

MOST_FILES = 100_000
"""Files in one index; text that people wrote is taken before anything else."""
CONTENT, PATH, SYMBOL, IMPORT = "", "/", "#", ">"
"""What a term begins with: it says what it was found in."""
_MOST_TERMS = 3000
"""Different terms of one file."""
_FOUND_BY_PATH: frozenset[FileKind] = frozenset(("text", "data", "large", "secret", "unreadable"))
"""Kinds of files that somebody may want to edit: they are found by their paths."""


class _Rows:
    """Turns files into rows and postings."""

    def __init__(self, next_document: int) -> None:
        self._document = next_document
        self._terms = TermCounter()
        self._symbols = SymbolReader()
        self.segment = SegmentWriter()

    def make(self, path: str, found: FoundFile, kind: FileKind, data: bytes | None) -> tuple[object, ...]:
        """The row of a file, of this kind by its name; its terms go into the segment."""
        if kind == "text":
            kind = "unreadable" if data is None else kind_by_contents(data)
        tests = is_test(path)
        counts: dict[str, int] = {}
        symbols: list[Symbol] = []
        imports: list[str] = []
        if kind == "text" and data is not None:
            text = data.decode("utf-8", "replace")
            counts = self._terms.count(text)
            if len(counts) > _MOST_TERMS:
                counts = dict(list(counts.items())[:_MOST_TERMS])
            symbols = self._symbols.read(path, data)
            imports = read_imports(path, text[:50_000]) if tests else []
        length = max(1, sum(counts.values())) if kind == "text" else 0  # 0: it has no contents to be found by
        path_counts = self._terms.count(path.replace("/", " ")) if kind in _FOUND_BY_PATH else {}
        document = self._document
        self._document += 1
        find_key = self._terms.find_key
        self.segment.add(document, counts)
        self.segment.add(document, {PATH + term: count for term, count in path_counts.items()})
        self.segment.add(document, dict.fromkeys([SYMBOL + find_key(each.name) for each in symbols], 1))
        self.segment.add(document, dict.fromkeys([IMPORT + import_term(each) for each in imports], 1))
        return (
            document, path, os.path.basename(path).lower(), found.stamp, kind, language_of(path), found.size, tests,
            subject_of(path), length, sum(path_counts.values()), len(symbols),
            msgspec.msgpack.encode(symbols), msgspec.msgpack.encode(imports),
        )  # fmt: skip


def update_index(folder: str, source: Source, most_files: int = MOST_FILES) -> TreeUpdate:
    """Bring the index of a source up to date. Raises UserError if another process does so, OSError and sqlite3.Error."""
    started, cpu = time.perf_counter(), time.process_time()
    path = store.database_path(folder, source.root)
    make_private_folder(os.path.dirname(path))
    busy = UserError(f"another process is updating the index of `{source.root}`; try again when it is done")
    with hold_lock(f"{path}.lock", 0.0, busy):
        try:
            listing, read, removed = _update_database(path, source, most_files)
        except sqlite3.DatabaseError as error:
            if not any(sign in str(error) for sign in SIGNS_OF_DAMAGE):
                raise
            store.delete_database(path, keep_lock=True)
            listing, read, removed = _update_database(path, source, most_files)
    return TreeUpdate(
        root=source.root,
        files=len(listing.files),
        read=read,
        removed=removed,
        left_out=listing.left_out,
        seconds=time.perf_counter() - started,
        cpu_seconds=time.process_time() - cpu,
    )


def _update_database(path: str, source: Source, most_files: int) -> tuple[Listing, int, int]:
    """Bring one database up to date; what was listed, and how many files were read and removed."""
    with closing(store.open_for_writing(path, source.root)) as connection:
        listing = source.list_files(most_files)
        read, removed = _update_files(connection, source, listing)
        _update_history(connection, source)
        with write_transaction(connection):
            store.save_fact(connection, "left_out", str(listing.left_out).encode())
            store.save_fact(connection, "updated_at", str(time.time()).encode())
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return listing, read, removed


def _update_files(connection: sqlite3.Connection, source: Source, listing: Listing) -> tuple[int, int]:
    """Read new and changed files and drop those that are gone; how many of each."""
    known = dict(connection.execute("SELECT path, stamp FROM file"))
    gone = [path for path in known if path not in listing.files]
    changed = [(path, found) for path, found in listing.files.items() if known.get(path) != found.stamp]
    if not gone and not changed:
        return 0, 0
    next_document = _next_document(connection)
    if next_document + len(changed) >= MOST_DOCUMENTS:
        _clear(connection)
        changed, next_document = list(listing.files.items()), 1
    rows = _Rows(next_document)
    kinds = {path: kind_by_name(path, found.size) for path, found in changed}
    waiting = [rows.make(path, found, kinds[path], None) for path, found in changed if kinds[path] != "text"]
    for path, data in source.read_files(each for each in changed if kinds[each[0]] == "text"):
        waiting.append(rows.make(path, listing.files[path], "text", data))
        if rows.segment.is_full:
            _write_step(connection, rows, waiting)
            waiting = []
    _write_step(connection, rows, waiting, gone)
    _merge(connection)
    return len(changed), len(gone)


def _next_document(connection: sqlite3.Connection) -> int:
    return int(store.load_fact(connection, "next_document") or b"1")


def _clear(connection: sqlite3.Connection) -> None:
    with write_transaction(connection):
        for table in ("file", "posting", "segment"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names


def _write_step(
    connection: sqlite3.Connection, rows: _Rows, waiting: list[tuple[object, ...]], gone: list[str] | None = None
) -> None:
    """Write files and their terms, which readers then see."""
    with write_transaction(connection):
        connection.executemany("DELETE FROM file WHERE path = ?", ((path,) for path in gone or ()))
        connection.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", waiting)
        rows.segment.write(connection)
        last = max((int(str(row[0])) for row in waiting), default=0)
        store.save_fact(connection, "next_document", str(max(last + 1, _next_document(connection))).encode())


def _merge(connection: sqlite3.Connection) -> None:
    """Keep the number of segments and the share of documents that are no more within limits."""
    is_alive = np.zeros(_next_document(connection), np.bool_)
    alive = np.fromiter((row[0] for row in connection.execute("SELECT document FROM file")), np.int64)
    is_alive[alive] = True
    postings_of = connection.execute("SELECT coalesce(sum(postings), 0) FROM segment").fetchone()[0]
    dropped = int(store.load_fact(connection, "merged_at") or b"0")
    dead = len(is_alive) - dropped - len(alive)
    whole = bool(postings_of) and dead > max(1000, 2 * len(alive))
    with write_transaction(connection):
        merge_segments(connection, is_alive, whole)
        if whole:
            store.save_fact(connection, "merged_at", str(len(is_alive) - len(alive)).encode())


def _update_history(connection: sqlite3.Connection, source: Source) -> None:
    """Read the commits again if there are new ones."""
    head = source.head.encode()
    if store.load_fact(connection, "head") == head:
        return
    commits = read_commits(source.repository, source.head) if source.repository is not None and source.head else []
    with write_transaction(connection):
        store.save_fact(connection, "head", head)
        store.save_fact(connection, "history", msgspec.msgpack.encode(commits))
