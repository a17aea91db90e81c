"""Shortens long outputs of tools for a model, and keeps the full texts by id, readable by their owner only.

Knows no agent. An output that cannot be kept is not shortened. The oldest texts are deleted.
"""

import os
import re
import time

import zstandard

from preheat.errors import NotFound
from preheat.files import read_file, write_atomically
from preheat.ingest.redact import redact
from preheat.live.output import output_id, shorten
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.model.live import Phase
from preheat.settings import data_folder

FOLDER = "outputs"
MOST_FILES = 2_000
MOST_BYTES = 100_000_000
"""The size of all kept outputs on disk, compressed."""
MOST_DAYS = 14
LONGEST = 5_000_000
"""Characters; a longer output is not shortened."""
_ID = re.compile(r"[0-9a-f]{12}")


def shorten_output(
    text: str, exit_code: int | None, phase: Phase, thresholds: Thresholds = DEFAULTS, folder: str | None = None
) -> str | None:
    """An output in short, after its full text was stored; None if it stays as it is."""
    if len(text) > LONGEST:
        return None
    found = shorten(text, exit_code, int(thresholds.output_lines.of(phase)))
    if not found.id:
        return None
    try:
        store_output(text, folder)
    except OSError:
        return None
    return found.text


def store_output(text: str, folder: str | None = None) -> str:
    """Store the full text of an output, with secrets redacted; its id. Raises OSError."""
    place = os.path.join(folder or data_folder(), FOLDER)
    name = output_id(text)
    path = os.path.join(place, f"{name}.zst")
    data, _ = redact(text.encode("utf-8", "surrogatepass"))
    packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(data)
    write_atomically(path, packed, make_folders=True)
    _make_room(place, time.time())
    return name


def read_output(name: str, folder: str | None = None) -> bytes:
    """The full text of an output by its id."""
    if not _ID.fullmatch(name):
        raise NotFound(
            f"`{name}` is no id of an output; it has 12 digits and letters a to f, as the shortened output names it"
        )
    try:
        packed = read_file(os.path.join(folder or data_folder(), FOLDER, f"{name}.zst"))
        return zstandard.ZstdDecompressor().decompress(packed)
    except FileNotFoundError:
        raise NotFound(
            f"there is no output `{name}` any more; the last {MOST_FILES:,} are kept, for {MOST_DAYS} days at most"
        ) from None
    except zstandard.ZstdError:
        raise NotFound(f"the file of output `{name}` is damaged; run the command again to see it whole") from None


def _make_room(place: str, now: float) -> None:
    """Delete outputs that are too old or too many, the oldest first."""
    outputs = []
    for entry in os.scandir(place):
        try:
            status = entry.stat()
        except OSError:
            continue  # another process has deleted it
        outputs.append((status.st_mtime, status.st_size, entry.path))
    outputs.sort(reverse=True)
    size = 0
    for place_in_order, (at, bytes_, path) in enumerate(outputs):
        size += bytes_
        if place_in_order >= MOST_FILES or (place_in_order and size > MOST_BYTES) or now - at > MOST_DAYS * 86400:
            try:
                os.unlink(path)
            except OSError:
                continue
