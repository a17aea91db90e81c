"""Reads a repository through git: what it prints, within a time and a size, and objects one after the other.

Nothing that a repository names is run (`preheat.programs`). Knows no index.
"""

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from preheat.programs import git_command, git_environment

_BLOCK = 1 << 16


class Repository(NamedTuple):
    """Where git finds a repository."""

    folder: str
    is_bare: bool = False
    """The folder is a repository without a working tree."""

    def command(self, *arguments: str) -> list[str]:
        """A command of git for it; empty if there is no git outside of it."""
        place = "--git-dir" if self.is_bare else "-C"
        inside_checkout = os.path.basename(self.folder) == ".git"
        outside = os.path.dirname(self.folder) if inside_checkout else self.folder
        return git_command(place, self.folder, *arguments, outside=outside)


def read_git(repository: Repository, *arguments: str, seconds: float) -> Iterator[bytes]:
    """What git prints, piece by piece, until it ends, the time is over, or the caller stops; nothing if it fails at once."""
    command = repository.command(*arguments)
    if not command:
        return
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
        )
    except OSError:
        return
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        while piece := os.read(process.stdout.fileno(), _BLOCK):
            yield piece
    finally:
        timer.cancel()
        process.kill()
        if process.stdout is not None:
            process.stdout.close()
        process.wait()


def read_records(repository: Repository, *arguments: str, seconds: float) -> Iterator[bytes]:
    """What git prints with `-z`, record by record; an incomplete last one is left out."""
    rest = b""
    for piece in read_git(repository, *arguments, seconds=seconds):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def ask(repository: Repository, *arguments: str, seconds: float = 5.0) -> str:
    """One short answer of git; empty if it fails."""
    return b"".join(read_git(repository, *arguments, seconds=seconds)).decode("utf-8", "replace").strip()


class ObjectReader:
    """Reads objects by their ids."""

    def __init__(self, repository: Repository) -> None:
        self._process = subprocess.Popen(
            repository.command("cat-file", "--batch"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
        )

    def read(self, name: str) -> bytes | None:
        """The contents of an object; None if the repository lacks it."""
        sender, receiver = self._process.stdin, self._process.stdout
        if sender is None or receiver is None:
            return None
        try:
            sender.write(f"{name}\n".encode())
            sender.flush()
            words = receiver.readline().split()
            if len(words) != 3 or not words[2].isdigit():
                return None
            data = receiver.read(int(words[2]))
            receiver.read(1)
        except OSError:
            return None
        return data

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.kill()
        self._process.wait()
