"""What the tests of the fleet share: a runner in this process, an object store on loopback, sources of recorded sessions."""

import logging
import os
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from moto.server import ThreadedMotoServer
from pyarrow import fs

from preheat.app.fleet.analysis import Run, make_request
from preheat.app.fleet.area import BATCH, MOST
from preheat.model.fleet import FleetRun
from tests.shared import FIXTURES

AGENTS = ("claude_code", "codex", "cline", "openhands", "opencode", "hermes", "cursor", "gemini", "pi", "specstory")
"""Agents whose recorded sessions the tests read: lines, documents, databases, folders of files, forks."""
KEY, SECRET = "AKIAFLEETTESTKEY0001", "a-secret-of-the-store-0123456789abcdefghij"


class Finished(NamedTuple):
    piece: Any
    result: bytes | None


class Here:
    """Runs work in this process, in any order; `lose` says which pieces no process survives."""

    def __init__(self, seed: int | None = None, lose: Callable[[Any], bool] = lambda piece: False) -> None:
        self.workers = 1
        self.pieces: list[Any] = []
        self._seed = seed
        self._lose = lose

    def run(self, work: Callable[[Any], bytes], pieces: Iterable[Any]) -> Iterator[Finished]:
        found = list(pieces)
        if self._seed is not None:
            random.Random(self._seed).shuffle(found)
        for piece in found:
            self.pieces.append(piece)
            yield Finished(piece, None if self._lose(piece) else work(piece))


def analyse(
    source: object,
    destination: object,
    runner: Here | None = None,
    *,
    batch: int = BATCH,
    most: int = MOST,
    memory: int = 0,
) -> FleetRun:
    """Run the fleet in this process."""
    request = make_request(str(source), str(destination), batch, most, memory)
    return Run(request, runner or Here()).analyse()


def copy_sessions(folder: Path, agents: Iterable[str] = AGENTS) -> Path:
    """A source with recorded sessions; old, so that their stamps are settled."""
    for agent in agents:
        shutil.copytree(os.path.join(FIXTURES, agent), folder / agent)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (1_700_000_000, 1_700_000_000))
    return folder


def files_of(destination: Path, *folders: str) -> dict[str, bytes]:
    """The files below some folders of a destination, by their paths."""
    return {
        str(path.relative_to(destination)): path.read_bytes()
        for name in folders
        for path in sorted((destination / name).rglob("*"))
        if path.is_file()
    }


class ObjectStore(NamedTuple):
    """A server that speaks S3, on loopback."""

    endpoint: str
    filesystem: fs.FileSystem

    def put(self, path: str, data: bytes) -> None:
        with self.filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)

    def put_folder(self, folder: Path, prefix: str) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes())


@contextmanager
def serve_objects() -> Iterator[ObjectStore]:
    """An object store with the buckets `runs` and `results`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        filesystem = fs.S3FileSystem(
            access_key=KEY,
            secret_key=SECRET,
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        for bucket in ("runs", "results"):
            filesystem.create_dir(bucket)
        yield ObjectStore(f"http://127.0.0.1:{port}", filesystem)
    finally:
        server.stop()


def store_variables(store: ObjectStore) -> dict[str, str]:
    """The variables by which programs find the store."""
    return {
        "AWS_ENDPOINT_URL": store.endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
