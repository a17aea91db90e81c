"""Imports the files in which version 0.1.0 kept its state, and its marks in the archive, once; then renames the files.

    experiments/key             the secret, in hexadecimal
    experiments/plans.jsonl     every plan, and when it was stopped
    experiments/lots.jsonl      arms, deliveries and advice, as they were assigned
    experiments/ratings.jsonl   people's ratings of sessions
    experiments/ledger.jsonl    the ledger, and ledger.head the digest of its last line
    templates/loaded.json       the template that is loaded for each project
    templates/uses.jsonl        when a template was handed out

Nothing is deleted: an imported file is renamed to `…migrated-0.2`, and `unreadable_lines` names what could not be read. Importing
twice changes nothing, so a kill at any moment does no harm. A daemon of the old version may go on writing `lots.jsonl`, which is
then imported again.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import msgspec

from preheat.errors import StateUnusable
from preheat.files import write_atomically
from preheat.locking import hold_lock
from preheat.model.experiment import AssignmentRecord, LedgerEntry, Rating
from preheat.model.template import TemplatePin, TemplateUse
from preheat.settings import archive_path
from preheat.sqlite_files.opening import file_url
from preheat.state import experiments, ledger, templates
from preheat.state.earlier_files import (
    ASSIGNMENTS_FILE,
    EARLIER_FILES,
    KEY_FILE,
    LEDGER_FILE,
    LEDGER_HEAD,
    LOADS_FILE,
    PLANS_FILE,
    RATINGS_FILE,
    USES_FILE,
    FilePlace,
    earlier_path,
    read_bytes,
    read_secret,
)

IMPORTED_SUFFIX = ".migrated-0.2"
_ARCHIVE_MARKS = "marks of the archive"
_Line = TypeVar("_Line")


class _Started(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    experiment: str
    plan: msgspec.Raw


class _Stopped(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="stopped"):
    experiment: str
    at: float


_PLAN = msgspec.json.Decoder(_Started | _Stopped)
_ASSIGNMENT = msgspec.json.Decoder(AssignmentRecord)
_RATING = msgspec.json.Decoder(Rating)
_USE = msgspec.json.Decoder(TemplateUse)
_LINES: "dict[FilePlace, msgspec.json.Decoder[Any]]" = {
    PLANS_FILE: _PLAN,
    ASSIGNMENTS_FILE: _ASSIGNMENT,
    RATINGS_FILE: _RATING,
    LEDGER_FILE: msgspec.json.Decoder(LedgerEntry),
    USES_FILE: _USE,
}
"""The decoder of the lines of each file."""
_PINS = msgspec.json.Decoder(dict[str, TemplatePin])


@contextmanager
def hold_locks(folder: str, wait: float) -> Iterator[None]:
    """Hold the locks that version 0.1.0 takes to write these files."""
    with ExitStack() as stack:
        for part in ("experiments", "templates"):
            inside = os.path.join(folder, part)
            if os.path.isdir(inside):
                busy = StateUnusable(f"another program has held `{inside}` for {wait:.3g} s; try again later")
                stack.enter_context(hold_lock(os.path.join(inside, "lock"), wait, busy))
        yield


def import_files(connection: sqlite3.Connection, folder: str) -> list[str]:
    """Import the files inside the caller's transaction; the paths of files to rename after it."""
    _import_archive_marks(connection, archive_path(folder))
    if (secret := read_secret(folder)) is not None:
        experiments.keep_secret(connection, secret)
    for each in _decoded_lines(folder, PLANS_FILE, _PLAN):
        if isinstance(each, _Started):
            experiments.keep_plan(connection, each.experiment, bytes(each.plan))
        else:
            experiments.stop_plan(connection, each.experiment, each.at)
    experiments.keep_assignments(connection, _decoded_lines(folder, ASSIGNMENTS_FILE, _ASSIGNMENT))
    _import_ratings(connection, _decoded_lines(folder, RATINGS_FILE, _RATING))
    _import_ledger(connection, folder)
    _import_loads(connection, folder)
    for use in _decoded_lines(folder, USES_FILE, _USE):
        templates.record_use(connection, use)
    taken = [place for place in EARLIER_FILES if place != KEY_FILE or secret is not None]
    found = [
        earlier_path(folder, place) for place in (LEDGER_HEAD, *taken)
    ]  # the other files say that there is something to import
    return [path for path in found if os.path.exists(path)]


def rename_imported(files: Iterable[str]) -> None:
    """Rename imported files, never over another file."""
    for path in files:
        name, number = path + IMPORTED_SUFFIX, 1
        while os.path.exists(name):
            number += 1
            name = f"{path}{IMPORTED_SUFFIX}-{number}"
        os.rename(path, name)


def import_marks(connection: sqlite3.Connection, rows: Iterable[tuple[str, str, str, float]]) -> None:
    """Import the marks of an archive of version 0.1.0, once; newer marks stay."""
    if connection.execute("INSERT OR IGNORE INTO migrated (what) VALUES (?)", (_ARCHIVE_MARKS,)).rowcount:
        connection.executemany("INSERT OR IGNORE INTO marks (lesson, mark, why, at) VALUES (?, ?, ?, ?)", rows)


# Unreadable lines, and forgotten sessions.
def unreadable_lines(folder: str, plans_only: bool = False) -> list[str]:
    """The unreadable lines of imported files, a sentence each with what to do."""
    problems = []
    for place in (PLANS_FILE,) if plans_only else (*_LINES, LOADS_FILE):
        for path in _imported_files(folder, place):
            unreadable = _unreadable_lines(path, place)
            if unreadable:
                which = f"lines {', '.join(map(str, unreadable[:5]))}{' and others' if len(unreadable) > 5 else ''}"
                which = which if len(unreadable) > 1 else f"line {unreadable[0]}"
                problems.append(
                    f"{which} of `{path}`, which version 0.1.0 left, cannot be read and "
                    f"{'do not count' if len(unreadable) > 1 else 'does not count'}; delete that file when you need it no more"
                )
    damaged = earlier_path(folder, KEY_FILE)
    if not plans_only and os.path.exists(damaged) and read_secret(folder) is None:
        problems.append(damaged_key(folder))
    return problems


def damaged_key(folder: str) -> str:
    """Why nothing can be assigned; empty if version 0.1.0 left no damaged key."""
    path = earlier_path(folder, KEY_FILE)
    if not os.path.exists(path) or read_secret(folder) is not None:
        return ""
    return (
        f"`{path}` is damaged, so nothing can be assigned; put it back from a backup, or delete it: then a new key is made, and "
        "sessions from before are told apart from those after"
    )


def forget_sessions(folder: str, sessions: Iterable[str]) -> None:
    """Delete the lines on these sessions from the imported files."""
    gone = frozenset(sessions)
    for place in (ASSIGNMENTS_FILE, RATINGS_FILE):
        for path in _imported_files(folder, place):
            lines = read_bytes(path).splitlines(keepends=True)
            kept = [line for line in lines if not _is_about(line, place, gone)]
            if len(kept) < len(lines):
                write_atomically(path, b"".join(kept), durable=True)


def _is_about(line: bytes, place: FilePlace, sessions: frozenset[str]) -> bool:
    found = _decode_line(line, _LINES[place])
    return getattr(found, "session", "") in sessions or getattr(found, "root", "") in sessions


def _unreadable_lines(path: str, place: FilePlace) -> list[int]:
    data = read_bytes(path)
    if place == LOADS_FILE:
        return [] if _decode_line(data, _PINS) is not None else [1]
    lines = enumerate(data.splitlines(), 1)
    return [number for number, line in lines if line.strip() and _decode_line(line, _LINES[place]) is None]


def _imported_files(folder: str, place: FilePlace) -> list[str]:
    part, name = place
    inside = os.path.join(folder, part)
    try:
        names = sorted(os.listdir(inside))
    except OSError:
        return []
    return [os.path.join(inside, each) for each in names if each.startswith(name + IMPORTED_SUFFIX)]


# Imports.
def _import_ratings(connection: sqlite3.Connection, found: Iterable[Rating]) -> None:
    """Import ratings: the last line on a session counts, unless it was rated since."""
    known = experiments.ratings(connection)
    for session, rating in {each.session: each for each in found}.items():
        if session not in known or known[session].at <= rating.at:
            experiments.keep_rating(connection, rating)


def _import_ledger(connection: sqlite3.Connection, folder: str) -> None:
    """Import the lines as they are, so that a changed one still shows. If the ledger has lines already, somebody went back to
    version 0.1.0: then new entries are added."""
    lines = [line for line in read_bytes(earlier_path(folder, LEDGER_FILE)).splitlines() if line]
    known = set(ledger.load_lines(connection))
    if lines and not known:
        ledger.keep_lines(
            connection, lines, _head(lines, read_bytes(earlier_path(folder, LEDGER_HEAD)).decode("ascii", "replace"))
        )
        return
    for line in lines:
        entry = ledger.decode_line(line)
        if line not in known and entry is not None:
            ledger.add_entry(connection, entry)


def _head(lines: list[bytes], written: str) -> str:
    """The digest of the last line. After a crash between a line and its digest, the written digest is that of the line before."""
    last = ledger.digest_of(lines[-1])
    before = ledger.digest_of(lines[-2]) if len(lines) > 1 else ""
    return last if written.strip() in ("", last, before) else written.strip()


def _import_loads(connection: sqlite3.Connection, folder: str) -> None:
    known = templates.loads(connection)
    for project, pin in (_decode_line(read_bytes(earlier_path(folder, LOADS_FILE)), _PINS) or {}).items():
        if project not in known or known[project].at <= pin.at:
            templates.load_version(connection, project, pin)


def _import_archive_marks(connection: sqlite3.Connection, path: str) -> None:
    """Import the marks in an archive that was not upgraded yet."""
    if not os.path.exists(path):
        return
    try:
        archive = sqlite3.connect(f"{file_url(path)}?mode=ro", uri=True, timeout=1.0)
    except sqlite3.Error:
        return
    try:
        rows = archive.execute("SELECT lesson, mark, why, at FROM marks").fetchall()
    except sqlite3.Error:  # no such table, or an archive that nobody can read
        return
    finally:
        archive.close()
    import_marks(connection, rows)


# Files.
def _decoded_lines(folder: str, place: FilePlace, decoder: "msgspec.json.Decoder[_Line]") -> Iterator[_Line]:
    """The decoded lines of a file; lines that cannot be read are skipped."""
    for line in read_bytes(earlier_path(folder, place)).splitlines():
        if (found := _decode_line(line, decoder)) is not None:
            yield found


def _decode_line(line: bytes, decoder: "msgspec.json.Decoder[_Line]") -> _Line | None:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
