"""What version 0.1.0 kept in files of its own, and marks in the archive: taken into the state once, and put aside.

    experiments/key             the secret, in hexadecimal
    experiments/plans.jsonl     every plan, and when it was stopped
    experiments/lots.jsonl      arms, deliveries and advice, as they were drawn
    experiments/ratings.jsonl   what a person thought of sessions
    experiments/ledger.jsonl    the ledger, and ledger.head the digest of its last line
    templates/loaded.json       which template the sessions of a project start with
    templates/uses.jsonl        when a template was handed out

Nothing is deleted: a file that was taken in is called `…migrated-0.2` from then on, and `unread` names the lines in it that
mean nothing. Taking in twice changes nothing, and so a kill at any moment does no harm. A daemon of the old version may go on
writing `lots.jsonl`, and a file that comes again is taken in again.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import msgspec

from preheat.errors import StateUnusable
from preheat.files import write_whole
from preheat.locking import held
from preheat.model.experiment import LedgerEntry, Lot, Rating
from preheat.model.template import Pin, Use
from preheat.settings import archive_path
from preheat.state import assignments, key, ledger, loads, plans, ratings, uses
from preheat.state.earlier_files import (
    FILES,
    HEAD,
    KEY,
    LEDGER,
    LOADED,
    LOTS,
    PLANS,
    RATINGS,
    USES,
    Place,
    bytes_in,
    path_of,
    secret_in,
)

ASIDE = ".migrated-0.2"
_MARKS = "marks of the archive"
_Kind = TypeVar("_Kind")


class _Started(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    experiment: str
    plan: msgspec.Raw


class _Stopped(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="stopped"):
    experiment: str
    at: float


_PLAN = msgspec.json.Decoder(_Started | _Stopped)
_LOT = msgspec.json.Decoder(Lot)
_RATING = msgspec.json.Decoder(Rating)
_USE = msgspec.json.Decoder(Use)
_LINES: "dict[Place, msgspec.json.Decoder[Any]]" = {
    PLANS: _PLAN, LOTS: _LOT, RATINGS: _RATING, LEDGER: msgspec.json.Decoder(LedgerEntry), USES: _USE,
}  # fmt: skip
"""What a line of each file is."""
_PINS = msgspec.json.Decoder(dict[str, Pin])


@contextmanager
def locked(folder: str, wait: float) -> Iterator[None]:
    """Hold what version 0.1.0 holds while it writes those files."""
    with ExitStack() as stack:
        for part in ("experiments", "templates"):
            inside = os.path.join(folder, part)
            if os.path.isdir(inside):
                busy = StateUnusable(f"another program has held `{inside}` for {wait:.3g} s; try again later")
                stack.enter_context(held(os.path.join(inside, "lock"), wait, busy))
        yield


def take_in(connection: sqlite3.Connection, folder: str) -> list[str]:
    """Take in what is there, inside a transaction that the caller holds; the files to put aside after it."""
    _take_marks_of(connection, archive_path(folder))
    if (secret := secret_in(folder)) is not None:
        key.keep_secret(connection, secret)
    for each in _values(folder, PLANS, _PLAN):
        if isinstance(each, _Started):
            plans.keep_plan(connection, each.experiment, bytes(each.plan))
        else:
            plans.stop(connection, each.experiment, each.at)
    assignments.keep(connection, _values(folder, LOTS, _LOT))
    _take_ratings(connection, _values(folder, RATINGS, _RATING))
    _take_ledger(connection, folder)
    _take_loads(connection, folder)
    for use in _values(folder, USES, _USE):
        uses.record(connection, use)
    taken = [place for place in FILES if place != KEY or secret is not None]
    found = [path_of(folder, place) for place in (HEAD, *taken)]  # the others say that there is something to take in
    return [path for path in found if os.path.exists(path)]


def put_aside(files: Iterable[str]) -> None:
    """Give files the name that says that they were taken in; never over another one."""
    for path in files:
        name, number = path + ASIDE, 1
        while os.path.exists(name):
            number += 1
            name = f"{path}{ASIDE}-{number}"
        os.rename(path, name)


def take_marks(connection: sqlite3.Connection, rows: Iterable[tuple[str, str, str, float]]) -> None:
    """Take in the marks that an archive of version 0.1.0 has, once: what a person said since stands."""
    if connection.execute("INSERT OR IGNORE INTO migrated (what) VALUES (?)", (_MARKS,)).rowcount:
        connection.executemany("INSERT OR IGNORE INTO marks (lesson, mark, why, at) VALUES (?, ?, ?, ?)", rows)


# What could not be read, and what is forgotten.
def unread(folder: str, plans_only: bool = False) -> list[str]:
    """What meant nothing in the files that were put aside, a sentence each with what to do."""
    said = []
    for place in (PLANS,) if plans_only else (*_LINES, LOADED):
        for path in _put_aside(folder, place):
            wrong = _wrong_lines(path, place)
            if wrong:
                which = f"lines {', '.join(map(str, wrong[:5]))}{' and others' if len(wrong) > 5 else ''}"
                which = which if len(wrong) > 1 else f"line {wrong[0]}"
                said.append(
                    f"{which} of `{path}`, which version 0.1.0 left, cannot be read and "
                    f"{'do not count' if len(wrong) > 1 else 'does not count'}; delete that file when you need it no more"
                )
    damaged = path_of(folder, KEY)
    if not plans_only and os.path.exists(damaged) and secret_in(folder) is None:
        said.append(damaged_key(folder))
    return said


def damaged_key(folder: str) -> str:
    """Why nothing can be left to chance; empty where version 0.1.0 left no damaged key."""
    path = path_of(folder, KEY)
    if not os.path.exists(path) or secret_in(folder) is not None:
        return ""
    return (
        f"`{path}` is damaged, so no lot can be drawn; put it back from a backup, or delete it: then lots are drawn anew, and "
        "sessions from before are told apart from those after"
    )


def forget(folder: str, sessions: Iterable[str]) -> None:
    """Take what tells of sessions out of the files that were put aside."""
    gone = frozenset(sessions)
    for place in (LOTS, RATINGS):
        for path in _put_aside(folder, place):
            lines = bytes_in(path).splitlines(keepends=True)
            kept = [line for line in lines if not _tells_of(line, place, gone)]
            if len(kept) < len(lines):
                write_whole(path, b"".join(kept), durable=True)


def _tells_of(line: bytes, place: Place, sessions: frozenset[str]) -> bool:
    found = _decoded(line, _LINES[place])
    return getattr(found, "session", "") in sessions or getattr(found, "root", "") in sessions


def _wrong_lines(path: str, place: Place) -> list[int]:
    data = bytes_in(path)
    if place == LOADED:
        return [] if _decoded(data, _PINS) is not None else [1]
    lines = enumerate(data.splitlines(), 1)
    return [number for number, line in lines if line.strip() and _decoded(line, _LINES[place]) is None]


def _put_aside(folder: str, place: Place) -> list[str]:
    part, name = place
    inside = os.path.join(folder, part)
    try:
        names = sorted(os.listdir(inside))
    except OSError:
        return []
    return [os.path.join(inside, each) for each in names if each.startswith(name + ASIDE)]


# How each is taken in.
def _take_ratings(connection: sqlite3.Connection, found: Iterable[Rating]) -> None:
    """The last line on a session counts, unless it was rated since."""
    known = ratings.ratings(connection)
    for session, rating in {each.session: each for each in found}.items():
        if session not in known or known[session].at <= rating.at:
            ratings.rate(connection, rating)


def _take_ledger(connection: sqlite3.Connection, folder: str) -> None:
    """Lines as they are, so that each still fits the one before, and one that does not still shows. Where there are lines
    already, somebody went back to version 0.1.0: what was entered there is entered here."""
    lines = [line for line in bytes_in(path_of(folder, LEDGER)).splitlines() if line]
    known = set(ledger.lines(connection))
    if lines and not known:
        ledger.keep_lines(connection, lines, _head(lines, bytes_in(path_of(folder, HEAD)).decode("ascii", "replace")))
        return
    for line in lines:
        entry = ledger.decoded(line)
        if line not in known and entry is not None:
            ledger.enter(connection, entry)


def _head(lines: list[bytes], written: str) -> str:
    """The digest of the last line, as it was when it was written. A crash may have come between that line and its digest: then
    the digest is that of the line before."""
    last = ledger.digest_of(lines[-1])
    before = ledger.digest_of(lines[-2]) if len(lines) > 1 else ""
    return last if written.strip() in ("", last, before) else written.strip()


def _take_loads(connection: sqlite3.Connection, folder: str) -> None:
    known = loads.loads(connection)
    for project, pin in (_decoded(bytes_in(path_of(folder, LOADED)), _PINS) or {}).items():
        if project not in known or known[project].at <= pin.at:
            loads.load(connection, project, pin)


def _take_marks_of(connection: sqlite3.Connection, path: str) -> None:
    """The marks in an archive that was not brought up to date yet; whoever does that takes them in, too."""
    if not os.path.exists(path):
        return
    try:
        archive = sqlite3.connect(f"file:{_as_address(path)}?mode=ro", uri=True, timeout=1.0)
    except sqlite3.Error:
        return
    try:
        rows = archive.execute("SELECT lesson, mark, why, at FROM marks").fetchall()
    except sqlite3.Error:  # no such table, or an archive that nobody can read
        return
    finally:
        archive.close()
    take_marks(connection, rows)


def _as_address(path: str) -> str:
    return "".join(f"%{ord(each):02x}" if each in "%?#" else each for each in path)


# Files.
def _values(folder: str, place: Place, decoder: "msgspec.json.Decoder[_Kind]") -> Iterator[_Kind]:
    """A line that was cut off, or that another version wrote otherwise, is passed over."""
    for line in bytes_in(path_of(folder, place)).splitlines():
        if (found := _decoded(line, decoder)) is not None:
            yield found


def _decoded(line: bytes, decoder: "msgspec.json.Decoder[_Kind]") -> _Kind | None:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
