"""Every real session of the shared corpus and of the shared projects, or of another folder of data, each once.

A folder of data is laid out as the shared one, `corpus/` with a folder for each source and `corpus-projects/` with an archive
(`.tar.zst`) or a folder for each project; or it holds the projects themselves. `labels/` in it are its own labels.
"""

import os
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import zstandard

from benchmarks.measuring import SHARED
from preheat.agents.sources import detect, read
from preheat.errors import NotRecognised
from preheat.model.session import Session

SKIPPED = ("INDEX.json", "outcomes.json", "SOURCES.md", "BASELINES.md")
CORPUS, PROJECTS = "corpus", "corpus-projects"
ALL_PARTS = (CORPUS, PROJECTS, "corpus-projects-2")
HELD_OUT = frozenset(
    [
        "projects: entire__Viniciuscarvalho+FitToday", "projects: entire__theogbrand+napoli-matcha", "projects: entire__jdx+hk",
        "codex_exec__SWE-PolyBench-pando", "entire__savekirk+session-bridge",
    ]
)  # fmt: skip
"""Sources whose errors nobody looked at while the rules of version 3 of the judge were made (docs/concepts/outcomes.md)."""
PACKED = ".tar.zst"
PROJECT = "projects: "
"""Before the name of a project, among the names of sources."""
_NO_SOURCES = ("LICENSES", "labels")
_TRANSCRIPTS = (".jsonl", ".json", ".db")


class Real(NamedTuple):
    """A session and where it stands; `file` is relative to the shared folder, an archive counts as a folder."""

    source: str
    file: str
    session: Session
    path: str = ""
    """Where the file is now; of an archive only until the next session is asked for."""
    folder: str = ""
    """The folder of its source, likewise."""


class Source(NamedTuple):
    """Sessions that belong together."""

    name: str
    path: str
    """A folder or an archive."""
    shown: str
    """What stands before the names of its files, in labels."""
    is_project: bool


def sources(data: str = "", wanted: Sequence[str] = (CORPUS, PROJECTS)) -> list[Source]:
    """Where the sessions are; of these parts of the shared folder unless another folder is given. Transcripts that stand in a
    folder by themselves are a source of its name."""
    folder = data or SHARED
    found = []
    parts = [part for part in wanted if os.path.isdir(os.path.join(folder, part))]
    for part in parts or [""]:
        for name in sorted(os.listdir(os.path.join(folder, part))):
            path = os.path.join(folder, part, name)
            packed = name.endswith(PACKED)
            if packed or (os.path.isdir(path) and name not in _NO_SOURCES):
                found.append(Source(name.removesuffix(PACKED), path, os.path.join(part, name), part != CORPUS))
    if not parts and any(name.endswith(_TRANSCRIPTS) for name in os.listdir(folder)):
        found.append(Source(os.path.basename(os.path.abspath(folder)), folder, "", True))
    if not found:
        raise SystemExit(f"benchmarks: there are no sessions in `{folder}`: no folder, and no archive (`{PACKED}`)")
    return found


def project_folders(work: str, data: str = "") -> list[str]:
    """Folders with all of the sessions, for a sync; what is packed is unpacked below `work`."""
    found = []
    for source in sources(data):
        if source.path.endswith(PACKED):
            unpack(source.path, os.path.join(work, "unpacked"))
        else:
            found.append(source.path)
    return found + [os.path.join(work, "unpacked")] * os.path.isdir(os.path.join(work, "unpacked"))


def real_sessions(projects: bool = True, data: str = "", wanted: Sequence[str] = (CORPUS, PROJECTS)) -> Iterator[Real]:
    """All of them; a session that stands in several parts counts where it is read first. Without the `projects` only the rest,
    where there is a rest."""
    known: set[tuple[str, str]] = set()
    for found in _all(projects, data, wanted):
        key = (found.session.agent, found.session.id)
        if key not in known:
            known.add(key)
            yield found


def _all(projects: bool, data: str, wanted: Sequence[str]) -> Iterator[Real]:
    all_of_them = sources(data, wanted)
    rest = [source for source in all_of_them if not source.is_project]
    for source in all_of_them if projects or not rest else rest:
        name = f"{PROJECT}{source.name}" if source.is_project else source.name
        if not source.path.endswith(PACKED):
            yield from _folder(source.path, name, source.shown)
            continue
        with tempfile.TemporaryDirectory() as unpacked:
            unpack(source.path, unpacked)
            yield from _folder(os.path.join(unpacked, source.name), name, source.shown)


def _folder(folder: str, source: str, title: str) -> Iterator[Real]:
    for parent, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(parent, name)
            if name in SKIPPED:
                continue
            try:
                reader = detect(path)
            except NotRecognised:
                continue
            for session in read(path, reader):
                yield Real(source, f"{title}/{os.path.relpath(path, folder)}", session, path, folder)


def unpack(archive: str, target: str) -> None:
    with open(archive, "rb") as stream:
        plain = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(stream)
        with tarfile.open(fileobj=plain, mode="r|") as tar:
            tar.extractall(target, filter="data")
