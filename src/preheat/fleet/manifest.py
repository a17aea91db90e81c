"""What a fleet has done so far: an entry for each batch of objects, and snapshots of everything that is made of them.

Below a destination:

    manifest/BATCH.json          written last by whoever read the batch: names its file of readings and every object
    readings/BATCH-….parquet     what was read, a row for each session
    tables/TABLE/project=…/day=…/DIGEST.parquet
    lessons/…  templates/…       by project and digest
    snapshots/NUMBER-….json      names every file of the tables and lessons; the newest counts

Object storage has no rename: a file that no entry and no snapshot names does not count, so whatever was cut off leaves nothing
behind but bytes. Knows nothing of what the rows mean.
"""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, TypeAlias

import msgspec

from preheat.errors import UserError
from preheat.fleet.storage import Storage

LAYOUT = 1
"""Raised when files are laid out or named differently: a destination of another layout is refused."""
READINGS, ENTRIES, SNAPSHOTS, TABLES = "readings", "manifest", "snapshots", "tables"
LESSONS, TEMPLATES = "lessons", "templates"
AT_ONCE = 16
"""Requests under way at a time where many small objects are read: each waits for the network, not for the processor."""
_UNUSED_SECONDS = 24 * 3600.0
"""Age from which a file that nothing names is deleted: another run may still be about to name a younger one."""

ObjectStatus: TypeAlias = Literal["read", "unchanged", "other", "failed"]
"""`unchanged`: written again with the same content. `other`: not a transcript of any agent that Preheat knows."""


class ObjectRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one object."""

    path: str
    stamp: str
    content: str
    """Hash of the content, with that of the objects that belong to it."""
    size: int
    status: ObjectStatus
    agent: str = ""
    sessions: int = 0
    calls: int = 0
    why: str = ""
    """Why it failed."""
    problems: tuple[tuple[int | None, str], ...] = ()
    """Lines that could not be read, and why."""
    redactions: dict[str, int] = {}


class BatchEntry(msgspec.Struct, frozen=True):
    """A batch that was read."""

    batch: str
    generation: int
    """The number of the snapshot that was to follow: a later reading of an object takes the place of an earlier one."""
    version: str
    """The version of the analysis."""
    file: str
    """The file of readings; empty if nothing was read."""
    objects: tuple[ObjectRecord, ...]
    requests: dict[str, int] = {}
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    """The most memory that the process which read it ever had."""


class TableFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a table: the rows of one project and one day."""

    table: str
    project: str
    day: str
    digest: str
    """Of the readings that it was made of: the same ones give the same bytes."""
    rows: int
    size: int
    counts: dict[str, int] = {}
    """Of a file of sessions: what they come to."""

    @property
    def path(self) -> str:
        return f"{TABLES}/{self.table}/{partition_path(self.project, self.day)}/{self.digest}.parquet"


class ProjectLessons(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was concluded for a project; with the name `""` for all of them."""

    project: str
    digest: str
    """Of the tables that it was concluded from."""
    lessons: str
    """The file with every lesson."""
    template: str = ""
    """The template with those that may be handed out; empty if none may."""
    counts: dict[str, int] = {}
    """Lessons by status."""


class Snapshot(msgspec.Struct, frozen=True):
    """Everything that a destination holds."""

    layout: int
    number: int
    version: str
    source: str
    entries: tuple[str, ...]
    """Batches that it was made of."""
    tables: tuple[TableFile, ...]
    lessons: tuple[ProjectLessons, ...]
    problems: tuple[tuple[str, int | None, str], ...]
    """Object, line and reason."""


_ENTRY = msgspec.json.Decoder(BatchEntry)
_SNAPSHOT = msgspec.json.Decoder(Snapshot)


def partition_path(project: str, day: str) -> str:
    """The folders of a partition, as Hive, Spark, DuckDB and pyarrow name them."""
    return f"project={partition_name(project)}/day={day}"


def partition_name(text: str) -> str:
    """A text as a part of a path."""
    kept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
    quoted = "".join(
        each if each in kept else "".join(f"%{byte:02X}" for byte in each.encode("utf-8", "replace")) for each in text
    )
    return quoted or "__HIVE_DEFAULT_PARTITION__"


# Writing.
def store_entry(storage: Storage, entry: BatchEntry) -> None:
    """Commit a batch."""
    storage.write(f"{ENTRIES}/{entry.batch}.json", msgspec.json.encode(entry))


def store_snapshot(storage: Storage, snapshot: Snapshot, mark: str) -> None:
    """Commit a snapshot; `mark` tells apart what two runs write at once."""
    storage.write(f"{SNAPSHOTS}/{snapshot.number:010d}-{mark}.json", msgspec.json.encode(snapshot))


# Reading.
def load_snapshot(storage: Storage) -> Snapshot | None:
    """The newest snapshot; None if there is none yet. Raises UserError for what this version cannot read."""
    names = sorted(each.path for each in storage.list(SNAPSHOTS) if each.path.endswith(".json"))
    if not names:
        return None
    try:
        found = _SNAPSHOT.decode(storage.read(names[-1]))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UserError(
            f"`{storage.name_of(names[-1])}` is damaged or of another version ({error}); delete it, and run `fleet analyse` again"
        ) from error
    if found.layout != LAYOUT:
        raise UserError(
            f"`{storage.location.url}` has layout {found.layout}, this Preheat writes layout {LAYOUT}; give another --out"
        )
    return found


def load_entries(storage: Storage) -> list[BatchEntry]:
    """Every batch that was read, the oldest first; a damaged entry does not count, so its objects are read again."""
    paths = [each.path for each in storage.list(ENTRIES) if each.path.endswith(".json")]
    with ThreadPoolExecutor(AT_ONCE) as readers:
        found = [entry for entry in readers.map(partial(_load_entry, storage), paths) if entry is not None]
    return sorted(found, key=lambda entry: (entry.generation, entry.batch))


def _load_entry(storage: Storage, path: str) -> BatchEntry | None:
    try:
        return _ENTRY.decode(storage.read(path))
    except (msgspec.DecodeError, UnicodeDecodeError, FileNotFoundError):
        return None


def known_objects(entries: Iterable[BatchEntry], version: str) -> dict[str, tuple[str, str]]:
    """By path: stamp and hash of every object that this version of the analysis has read. One that failed is tried again when it
    has changed."""
    found: dict[str, tuple[str, str]] = {}
    for entry in entries:
        if entry.version == version:
            found.update({each.path: (each.stamp, each.content) for each in entry.objects})
    return found


def delete_unused(storage: Storage, entries: Iterable[BatchEntry], snapshot: Snapshot) -> int:
    """Delete files that nothing names any more, and earlier snapshots; how many."""
    used = {entry.file for entry in entries} | {each.path for each in snapshot.tables}
    used |= {name for each in snapshot.lessons for name in (each.lessons, each.template)}
    before = time.time() - _UNUSED_SECONDS
    newest = f"{SNAPSHOTS}/{snapshot.number:010d}"
    deleted = 0
    for folder in (READINGS, TABLES, LESSONS, TEMPLATES, SNAPSHOTS):
        for each in storage.list(folder):
            is_used = each.path in used or (folder == SNAPSHOTS and each.path >= newest)
            if not is_used and each.changed_at < before:
                storage.delete(each.path)
                deleted += 1
    return deleted
