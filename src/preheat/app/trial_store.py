"""Where a trial is kept: files below `experiments/` in Preheat's folder, outside the archive, which may be rebuilt.

    key             the secret that lots are drawn with; made once, when the person was told of them
    plans.jsonl     every plan, and when it was stopped
    lots.jsonl      every lot that was drawn and what was given, as it happened
    ratings.jsonl   what a person thought of sessions
    ledger.jsonl    what came of it: only ever longer, each line with the digest of the one before
    ledger.head     the digest of its last line, so that the last one cannot change unseen either

Knows nothing of how a lot is drawn or what it shows. Light: it is on the way of a session's start.
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TypeVar

import msgspec

from preheat.errors import UserError
from preheat.experiments.plan import called
from preheat.locking import held
from preheat.model.experiment import Assignment, LedgerEntry, Lot, Plan, Rating

FOLDER = "experiments"
_KEY = 32
"""Bytes of a key."""
_PATIENCE, _MOMENT = 30.0, 0.02
"""Seconds that a command, and a hook, waits for another writer."""


class Stopped(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="stopped"):
    """A plan that runs no more."""

    experiment: str
    at: float


class Started(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    """A plan that runs from then on."""

    experiment: str
    plan: Plan


_LOT = msgspec.json.Decoder(Lot)
_PLAN = msgspec.json.Decoder(Started | Stopped)
_RATING = msgspec.json.Decoder(Rating)
_LEDGER = msgspec.json.Decoder(LedgerEntry)
_encode = msgspec.json.Encoder().encode
_Kind = TypeVar("_Kind")


def path_of(folder: str, name: str) -> str:
    return os.path.join(folder, FOLDER, name)


# The key.
def key(folder: str) -> bytes | None:
    """The secret, if there is one: without it no lot is drawn."""
    try:
        with open(path_of(folder, "key"), "rb") as stream:
            found = bytes.fromhex(stream.read().decode("ascii", "replace").strip())
    except (OSError, ValueError):
        return None
    return found if len(found) == _KEY else None


def make_key(folder: str) -> bool:
    """Make the secret unless there is one; whether it is new. Never over another one: lots would be drawn anew."""
    place = path_of(folder, "key")
    try:
        _private(os.path.dirname(place))
        new = f"{place}.new-{os.getpid()}"
        with open(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
            stream.write(os.urandom(_KEY).hex().encode())
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(new, place)
        except FileExistsError:
            if key(folder) is None:
                raise UserError(
                    f"`{place}` is damaged, so no lot can be drawn; put it back from a backup, or delete it: then lots are"
                    " drawn anew, and sessions from before are told apart from those after"
                ) from None
            return False
        finally:
            os.unlink(new)
    except OSError as error:
        raise UserError(f"`{place}` could not be written ({error.strerror or error})") from error
    return True


# Plans.
def plans(folder: str) -> list[tuple[str, Plan, float | None]]:
    """Every plan by its name with digest, and when it was stopped; the oldest first."""
    found: dict[str, tuple[Plan, float | None]] = {}
    for each in _read(path_of(folder, "plans.jsonl"), _PLAN):
        if isinstance(each, Started):
            found[each.experiment] = (each.plan, None)
        elif each.experiment in found:
            found[each.experiment] = (found[each.experiment][0], each.at)
    return [(name, plan, at) for name, (plan, at) in found.items()]


def plans_stamp(folder: str) -> tuple[int, int] | None:
    """Changes whenever a plan is started or stopped."""
    try:
        found = os.stat(path_of(folder, "plans.jsonl"))
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def start(folder: str, experiment: str, plan: Plan) -> None:
    _append(folder, "plans.jsonl", Started(experiment=experiment, plan=plan))


def stop(folder: str, experiment: str, at: float) -> None:
    _append(folder, "plans.jsonl", Stopped(experiment=experiment, at=at))


def plans_damage(folder: str) -> list[str]:
    """What is wrong with the plans, a sentence each: their digests tell whether somebody changed one."""
    said = []
    path = path_of(folder, "plans.jsonl")
    for number, line in enumerate(_bytes(path).splitlines(), 1):
        found = list(_decoded([line], _PLAN))
        if line and not found:
            said.append(f"line {number} of `{path}` cannot be read and does not count")
        elif found and isinstance(found[0], Started) and found[0].experiment != called(found[0].plan):
            said.append(
                f"the plan `{found[0].plan.name}` was changed after it was written down (line {number} of `{path}`)"
            )
    return said


# Lots.
def keep_lots(folder: str, lots: Iterable[Lot]) -> None:
    """Write lots down. Raises OSError: whoever draws one must not act on it then."""
    data = b"".join(_encode(each) + b"\n" for each in lots)
    if data:
        with _writing(folder, "lots.jsonl", _MOMENT) as descriptor:
            _write(descriptor, data)


def keep_missing(folder: str, lots: Iterable[Lot]) -> None:
    """Write those lots down that are not there yet. Raises OSError."""
    lines = dict.fromkeys(_encode(each) for each in lots)
    if not lines:
        return
    with _writing(folder, "lots.jsonl", _MOMENT) as descriptor:
        with open(path_of(folder, "lots.jsonl"), "rb") as stream:
            for line in stream:
                lines.pop(line.rstrip(b"\n"), None)
        if lines:
            _write(descriptor, b"".join(line + b"\n" for line in lines))


def lots(folder: str, after: int = 0) -> tuple[list[Lot], int]:
    """The lots that stand after a place in the file, and the place where they end."""
    path = path_of(folder, "lots.jsonl")
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if after > size:  # another file than it was
                after = 0
            stream.seek(after)
            data = stream.read()
    except OSError:
        return [], 0
    whole = data[: data.rfind(b"\n") + 1]
    return list(_decoded(whole.splitlines(), _LOT)), after + len(whole)


def assignment_of(folder: str, session: str) -> Assignment | None:
    """The first assignment of a session, by its key."""
    needle = _encode(session)
    try:
        with open(path_of(folder, "lots.jsonl"), "rb") as stream:
            for each in _decoded((line for line in stream if needle in line), _LOT):
                if isinstance(each, Assignment) and each.session == session:
                    return each
    except OSError:
        return None
    return None


def forget(folder: str, sessions: Iterable[str]) -> None:
    """Take away all that was written down of sessions."""
    gone = frozenset(sessions)
    for name, decoder in (("lots.jsonl", _LOT), ("ratings.jsonl", _RATING)):
        path = path_of(folder, name)
        if not gone or not os.path.exists(path):
            continue
        with _writing(folder, name) as descriptor, open(path, "rb") as stream:
            lines = stream.read().splitlines()
            kept = [line for line in lines if not _tells_of(line, decoder, gone)]
            if len(kept) < len(lines):
                os.ftruncate(descriptor, 0)
                _write(descriptor, b"".join(line + b"\n" for line in kept))


def _tells_of(line: bytes, decoder: "msgspec.json.Decoder[_Kind]", sessions: frozenset[str]) -> bool:
    return any(
        getattr(each, "session", "") in sessions or getattr(each, "root", "") in sessions
        for each in _decoded([line], decoder)
    )


# What a person said.
def rate(folder: str, rating: Rating) -> None:
    _append(folder, "ratings.jsonl", rating)


def ratings(folder: str) -> dict[str, Rating]:
    """The last word on each session."""
    return {each.session: each for each in _read(path_of(folder, "ratings.jsonl"), _RATING)}


# The ledger.
def ledger(folder: str) -> list[LedgerEntry]:
    """Every line, the oldest first."""
    return list(_read(path_of(folder, "ledger.jsonl"), _LEDGER))


def enter(folder: str, entry: LedgerEntry) -> LedgerEntry:
    """One more line; as it stands there."""
    path = path_of(folder, "ledger.jsonl")
    try:
        with _writing(folder, "ledger.jsonl") as descriptor:
            before = ""
            with suppress(FileNotFoundError), open(path, "rb") as stream:
                lines = [line for line in stream.read().splitlines() if line]
                before = _line_digest(lines[-1]) if lines else ""
            entry = msgspec.structs.replace(entry, before=before)
            line = _encode(entry)
            _write(descriptor, line + b"\n")
            os.fsync(descriptor)
            _replace(path_of(folder, "ledger.head"), _line_digest(line).encode())
    except OSError as error:
        raise UserError(f"`{path}` could not be written ({error.strerror or error}); nothing was entered") from error
    return entry


def ledger_damage(folder: str) -> list[int]:
    """The lines (from 1) that do not fit the one before them, or cannot be read: somebody changed the ledger."""
    lines = [line for line in _bytes(path_of(folder, "ledger.jsonl")).splitlines() if line]
    wrong = []
    before = last = ""
    for number, line in enumerate(lines, 1):
        found = list(_decoded([line], _LEDGER))
        if not found or found[0].before != before:
            wrong.append(number)
        last, before = before, _line_digest(line)
    head = _bytes(path_of(folder, "ledger.head")).decode("ascii", "replace").strip()
    # A crash may come between the line and its digest: then the digest is that of the line before.
    if head and head not in (before, last) and len(lines) not in wrong:
        wrong.append(max(1, len(lines)))
    return wrong


def _line_digest(line: bytes) -> str:
    return blake2b(line, digest_size=12).hexdigest()


# Files.
def _append(folder: str, name: str, value: object) -> None:
    try:
        with _writing(folder, name) as descriptor:
            _write(descriptor, _encode(value) + b"\n")
            os.fsync(descriptor)
    except OSError as error:
        path = path_of(folder, name)
        raise UserError(f"`{path}` could not be written ({error.strerror or error}); nothing was changed") from error


@contextmanager
def _writing(folder: str, name: str, wait: float = _PATIENCE) -> Iterator[int]:
    """A file for one writer at a time; the daemon and a command may both want it, each for a moment. Raises OSError."""
    path = path_of(folder, name)
    _private(os.path.dirname(path))
    with held(path_of(folder, "lock"), wait, OSError(errno.EBUSY, "another program writes there")):
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    """Whole lines or nothing; half a line that a crash left stays one of its own."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        data = b"\n" + data
    if os.write(descriptor, data) < len(data):
        os.ftruncate(descriptor, size)
        raise OSError(errno.ENOSPC, "the disk is full")


def _replace(path: str, data: bytes) -> None:
    new = f"{path}.new-{os.getpid()}"
    with open(os.open(new, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(data)
    os.replace(new, path)


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def _private(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)


def _read(path: str, decoder: "msgspec.json.Decoder[_Kind]") -> Iterator[_Kind]:
    try:
        with open(path, "rb") as stream:
            yield from _decoded(stream.read().splitlines(), decoder)
    except OSError:
        return


def _decoded(lines: Iterable[bytes], decoder: "msgspec.json.Decoder[_Kind]") -> Iterator[_Kind]:
    """A line that was cut off, or that another version wrote otherwise, is passed over."""
    for line in lines:
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield decoder.decode(line)
