"""Looks through everything that is stored with today's rules for secrets, and takes out what it finds, for good.

The archive, the state beside it, and the files in Preheat's folder. Identities (ids and paths of sources, hashes of what was
read) stay, so the next sync neither reads a source again nor stores it twice.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from preheat.archive.address import has_archive
from preheat.archive.cleaning import Found, clean_archive, clean_rows
from preheat.archive.connect import connect, connect_local, hold_sync_lock
from preheat.archive.database import ArchiveConnection
from preheat.archive.packing import FRAME_START, compress, decompress
from preheat.archive.sqlite import open_sqlite
from preheat.daemon_client import CLIENT_FILES, find_daemon
from preheat.errors import ArchiveUnusable, UserError
from preheat.files import read_file, write_atomically
from preheat.ingest.secret_cleaner import SecretCleaner
from preheat.model.health import SecretsReport
from preheat.model.progress import Progress
from preheat.native_client import NATIVE_FILE, STAMP_FILE
from preheat.settings import archive_path, state_path

_PATIENCE = 60.0
_OWN_FILES = frozenset(("address.json", "start", "settings.toml", NATIVE_FILE, STAMP_FILE, *CLIENT_FILES))
"""Files that hold what Preheat itself needs, or that a person wrote."""
_LARGEST = 256_000_000


def remove_secrets(folder: str, keep: bool, progress: Progress) -> SecretsReport:
    """Take out every secret; with `keep` only look. Raises UserError."""
    if not keep and find_daemon(folder) is not None:
        raise UserError("the daemon runs and writes what is to be cleaned; `preheat admin serve --stop` first")
    cleaner = SecretCleaner()
    found: Found = {}
    left: list[str] = []
    if has_archive(folder):
        with (
            hold_sync_lock(folder, _PATIENCE, lambda: progress.wait("a sync is at work")),
            closing(connect(folder)) as archive,
        ):
            found = _clean_archive(archive, cleaner, keep, progress)
            if archive.kind != "sqlite":  # what waits for the server, and the lessons that hooks hand out
                with closing(connect_local(folder)) as local:
                    found |= _clean_archive(local, cleaner, keep, progress)
    if os.path.exists(state_path(folder)):
        with closing(open_sqlite(state_path(folder), _PATIENCE)) as state:
            in_state: Found = {}
            clean_rows(state, cleaner.clean, keep, in_state)
            if in_state and not keep:
                state.overwrite_free_pages()
            found |= {f"state: {table}": counts for table, counts in in_state.items()}
    for path in _files(folder):
        if counts := _clean_file(path, folder, cleaner, keep, left):
            found[os.path.relpath(path, folder)] = counts
    return _report(found, keep, left)


def _clean_archive(archive: ArchiveConnection, cleaner: SecretCleaner, keep: bool, progress: Progress) -> Found:
    total = archive.execute("SELECT coalesce(sum(length), 0) FROM segments").fetchone()[0]
    archive.begin_secure_deletion()
    progress.begin("Looking for secrets", 2 * total, "bytes")
    try:
        found = clean_archive(archive, cleaner.look, cleaner.clean, keep, progress.advance)
    finally:
        progress.end()
    if found and not keep:
        archive.overwrite_free_pages()
    return found


def _files(folder: str) -> Iterator[str]:
    databases = tuple(os.path.basename(path) for path in (archive_path(folder), state_path(folder)))
    for at, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(at, name)
            if name in _OWN_FILES or name.startswith(databases) or name.endswith(".lock") or os.path.islink(path):
                continue
            if os.path.isfile(path) and 0 < os.path.getsize(path) <= _LARGEST:
                yield path


def _clean_file(path: str, folder: str, cleaner: SecretCleaner, keep: bool, left: list[str]) -> Counter[str]:
    data = read_file(path, _LARGEST)
    is_compressed = data.startswith(FRAME_START)
    try:
        plain = decompress(data) if is_compressed else data
    except ArchiveUnusable:
        return Counter()
    cleaned, counts = cleaner.clean(plain)
    if not counts or keep:
        return Counter(counts)
    if os.path.relpath(path, folder).split(os.sep)[0] == "templates":
        # A version is known by the hash of its bytes.
        left.append(
            f"`{path}` is a version of a template; `preheat templates delete` takes it away and `preheat templates build` "
            "makes another"
        )
        return Counter(counts)
    write_atomically(path, compress(cleaned) if is_compressed else cleaned)
    return Counter(counts)


def _report(found: Found, keep: bool, left: list[str]) -> SecretsReport:
    sessions = {key: dict(counts) for key, counts in found.items() if ":" in key and not key.startswith("state: ")}
    kinds: Counter[str] = Counter()
    for counts in sessions.values():
        kinds.update(counts)
    elsewhere = {key: dict(counts) for key, counts in found.items() if key not in sessions}
    return SecretsReport(not keep, dict(kinds.most_common()), sessions, elsewhere, left)
