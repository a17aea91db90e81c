"""Object storage: a local folder, or a bucket that speaks S3 (`s3://bucket/prefix`), through pyarrow.

Knows nothing of what the objects are. An endpoint and a region come from the usual variables of the environment; credentials too,
on each machine by itself: they are in no value that travels, no message and no file. Every request is counted.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pyarrow import fs

from preheat.agents.places import storable_path
from preheat.errors import UserError
from preheat.files import make_private_folder, open_file, stream_atomically, write_atomically
from preheat.ingest.redact import redact

SCHEME = "s3://"
CHUNK = 64 * 1024 * 1024
"""Bytes of one request. What is read with one request is of one version of the object."""
_VERSION_CONTROL = (".git", ".hg", ".svn")
_ATTEMPTS = 5
_LONGEST_REASON = 200


class Location(NamedTuple):
    """Where objects are; sent to other machines, so it holds no credentials."""

    url: str
    """An absolute path, or `s3://bucket/prefix`."""
    endpoint: str = ""
    """The address of the server that speaks S3; empty: the usual one."""
    region: str = ""


class ObjectInfo(NamedTuple):
    """An object below a location, as a listing names it."""

    path: str
    """Relative to the location, with `/`."""
    size: int
    changed_at: float
    stamp: str
    """Changes when the object is written again, if that is more than a second later or changes the size."""


def locate(url: str, environment: Mapping[str, str] | None = None) -> Location:
    """The location that a person names. Raises UserError."""
    variables = os.environ if environment is None else environment
    if "://" not in url:
        return Location(os.path.abspath(os.path.expanduser(url)))
    if not url.startswith(SCHEME):
        scheme = url.partition("://")[0]
        raise UserError(f"`{scheme}://` is no storage that Preheat knows; give a folder, or `s3://bucket/prefix`")
    name = url.removeprefix(SCHEME).strip("/")
    bucket = name.partition("/")[0]
    if "@" in bucket or "?" in url:
        raise UserError(
            "an address of storage holds no key; set `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` instead"
        )
    if not bucket:
        raise UserError(f"`{url}` names no bucket; write `s3://bucket/prefix`")
    endpoint = variables.get("AWS_ENDPOINT_URL_S3") or variables.get("AWS_ENDPOINT_URL") or ""
    region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION") or "us-east-1"
    return Location(f"{SCHEME}{name}", endpoint, region)


def is_remote(location: Location) -> bool:
    return location.url.startswith(SCHEME)


class Storage:
    """The objects below a location."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.requests: Counter[str] = Counter()
        """Requests so far, by kind: `list`, `get`, `put`, `head`, `delete`. A local folder counts the same operations."""
        self._is_remote = is_remote(location)
        self._base = location.url.removeprefix(SCHEME)
        self.filesystem: fs.FileSystem = _connect(location) if self._is_remote else fs.LocalFileSystem()

    def name_of(self, path: str) -> str:
        """What a source is called: its whole path, or its address."""
        return f"{self.location.url}/{path}" if self._is_remote else storable_path(self.full_path(path))

    def full_path(self, path: str) -> str:
        """The path of an object for `filesystem`."""
        return f"{self._base}/{path}" if self._is_remote else os.path.join(self._base, *path.split("/"))

    # Listing.
    def list(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Every object below a prefix (a folder), in no order; none where there is no such folder. Raises UserError."""
        if not self._is_remote:
            yield from _list_folder(os.path.join(self._base, prefix) if prefix else self._base, self._base)
            return
        selector = fs.FileSelector(
            f"{self._base}/{prefix}" if prefix else self._base, allow_not_found=True, recursive=True
        )
        try:
            found = self.filesystem.get_file_info(selector)
        except OSError as error:
            raise self.explain(error) from error
        self.requests["list"] += 1 + len(found) // 1000
        for each in found:
            if each.type == fs.FileType.File:
                changed = each.mtime_ns or 0
                path = each.path[len(self._base) + 1 :]
                yield ObjectInfo(path, each.size, changed / 1e9, f"{each.size}:{changed}")

    def require(self) -> None:
        """Raise UserError if there is no such folder or bucket."""
        if not self._is_remote:
            if not os.path.isdir(self._base):
                raise UserError(f"`{self.location.url}` is not a folder; give the folder in which the transcripts are")
            return
        self.requests["head"] += 1
        try:
            found = self.filesystem.get_file_info(self._base.partition("/")[0])
        except OSError as error:
            raise self.explain(error) from error
        if found.type == fs.FileType.NotFound:
            raise UserError(f"there is no bucket `{self._base.partition('/')[0]}`; make it first, or check the address")

    # Objects.
    def look_at(self, path: str) -> ObjectInfo | None:
        """An object as it is now; None if there is none."""
        if not self._is_remote:
            return _info_of(self.full_path(path), path)
        self.requests["head"] += 1
        found = self.filesystem.get_file_info(self.full_path(path))
        if found.type != fs.FileType.File:
            return None
        changed = found.mtime_ns or 0
        return ObjectInfo(path, found.size, changed / 1e9, f"{found.size}:{changed}")

    def read(self, path: str) -> bytes:
        """The bytes of an object. Raises OSError."""
        self.requests["get"] += 1
        if not self._is_remote:
            with open_file(self.full_path(path)) as file:
                return file.read()
        with self.filesystem.open_input_file(self.full_path(path)) as stream:
            data: bytes = stream.read()
        return data

    def download(self, path: str, to: str, size: int) -> bool:
        """Copy an object of this size into a file; whether all of it is surely of one version. Raises OSError."""
        make_private_folder(os.path.dirname(to))
        with self.filesystem.open_input_file(self.full_path(path)) as stream:
            chunks = _chunks_of(stream, self.requests)
            stream_atomically(to, lambda file: [file.write(chunk) for chunk in chunks])
        if size <= CHUNK:
            return True
        now = self.look_at(path)
        return now is not None and now.size == size == os.path.getsize(to)

    def write(self, path: str, data: bytes) -> None:
        """Write an object; readers see it whole or not at all. Raises OSError."""
        self.requests["put"] += 1
        if self._is_remote:
            with self.filesystem.open_output_stream(self.full_path(path), compression=None) as stream:
                stream.write(data)
            return
        target = self.full_path(path)
        make_private_folder(os.path.dirname(target))
        write_atomically(target, data)

    def delete(self, path: str) -> None:
        """Delete an object, if it is there."""
        self.requests["delete"] += 1
        try:
            self.filesystem.delete_file(self.full_path(path))
        except FileNotFoundError:
            return

    def explain(self, error: Exception) -> UserError:
        """An error of the storage for a person, without anything secret."""
        text, _ = redact(" ".join(str(error).split()).encode("utf-8", "replace"))
        why = text.decode("utf-8", "replace")[:_LONGEST_REASON]
        advice = (
            "check the address, `AWS_ENDPOINT_URL` and the credentials in the environment" if self._is_remote else ""
        )
        return UserError(f"`{self.location.url}` cannot be used ({why}){'; ' if advice else ''}{advice}")


def _connect(location: Location) -> fs.FileSystem:
    endpoint = location.endpoint
    return fs.S3FileSystem(
        region=location.region or None,
        endpoint_override=endpoint.partition("://")[2] or endpoint or None,
        scheme="http" if endpoint.startswith("http://") else "https",
        connect_timeout=5,
        request_timeout=60,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        allow_delayed_open=True,  # one request for a small object instead of three
        background_writes=False,
    )


def _chunks_of(stream: fs.FileSystem, requests: Counter[str]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        requests["get"] += 1
        yield chunk


def _list_folder(folder: str, base: str) -> Iterator[ObjectInfo]:
    """Every plain file below a folder, without the folders of version control."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _VERSION_CONTROL)
        for name in sorted(names):
            whole = os.path.join(parent, name)
            found = _info_of(whole, os.path.relpath(whole, base).replace(os.sep, "/"))
            if found is not None:
                yield found


def _info_of(whole: str, path: str) -> ObjectInfo | None:
    try:
        status = os.stat(whole)
    except (OSError, ValueError):
        return None
    if not os.path.isfile(whole):
        return None
    return ObjectInfo(path, status.st_size, status.st_mtime, f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}")
