"""Every real session of the shared corpus and of the shared projects, each once."""

import os
import tarfile
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

import zstandard

from benchmarks.measuring import SHARED
from preheat.agents.sources import detect, read
from preheat.errors import NotRecognised
from preheat.model.session import Session

SKIPPED = ("INDEX.json", "outcomes.json", "SOURCES.md", "BASELINES.md")
CORPUS, PROJECTS = "corpus", "corpus-projects"


class Real(NamedTuple):
    """A session and where it stands; `file` is relative to the shared folder, an archive counts as a folder."""

    source: str
    file: str
    session: Session


def real_sessions(projects: bool = True) -> Iterator[Real]:
    """All of them; a session that stands in both parts counts where it is read first."""
    known: set[tuple[str, str]] = set()
    for found in _all(projects):
        key = (found.session.agent, found.session.id)
        if key not in known:
            known.add(key)
            yield found


def _all(projects: bool) -> Iterator[Real]:
    corpus = os.path.join(SHARED, CORPUS)
    for name in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, name)
        if os.path.isdir(folder) and name != "LICENSES":
            yield from _folder(folder, name, f"{CORPUS}/{name}")
    for archive in sorted(os.listdir(os.path.join(SHARED, PROJECTS))) if projects else ():
        with tempfile.TemporaryDirectory() as unpacked:
            unpack(os.path.join(SHARED, PROJECTS, archive), unpacked)
            name = archive.partition(".tar")[0]
            yield from _folder(os.path.join(unpacked, name), f"projects: {name}", f"{PROJECTS}/{archive}")


def _folder(folder: str, source: str, shown: str) -> Iterator[Real]:
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
                yield Real(source, f"{shown}/{os.path.relpath(path, folder)}", session)


def unpack(archive: str, target: str) -> None:
    with open(archive, "rb") as stream:
        plain = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(stream)
        with tarfile.open(fileobj=plain, mode="r|") as tar:
            tar.extractall(target, filter="data")
