"""Runs a program or a shell text for a task, in a fresh folder and with a time limit, and finds the files that it wrote.

Whatever the program started ends with it, and it ends with us. Knows no agent.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, NamedTuple

from preheat.errors import UserError
from preheat.files import make_private_folder
from preheat.processes import start_guarded
from preheat.safe_text.cleanup import ESCAPES

_TAIL = 4_000
_NOT_STARTED = 127
_NOTE = 400


class ProcessResult(NamedTuple):
    """How a program ended."""

    code: int | None
    """None: it ran out of time."""
    seconds: float
    output: str
    """The end of what it printed."""

    @property
    def note(self) -> str:
        """Why it did not end well, in a line: the end of what it printed, and whether it ran out of time."""
        late = [f"ran out of time after {self.seconds:.0f} s"] if self.code is None else []
        return "; ".join(filter(None, [one_line_end(self.output), *late]))


def run_program(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    stdin: str | None = None,
    on_start: Callable[[int], object] = lambda process: None,
    output_bytes: int = _TAIL,
) -> ProcessResult:
    """Run a program to its end. `on_start` is called with its process group; the last `output_bytes` of its output are kept. An
    interruption ends the program, too."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as read:
        if stdin is not None:
            read.write(stdin.encode("utf-8", "replace"))
            read.seek(0)
        try:
            process = start_guarded(
                command,
                cwd=folder,
                env=dict(environment),
                stdin=read if stdin is not None else subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
            )
        except (OSError, ValueError) as error:
            return ProcessResult(_NOT_STARTED, time.monotonic() - started, str(error))
        code: int | None = None
        try:
            on_start(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=seconds)
        finally:
            _end(process)
        return ProcessResult(code, time.monotonic() - started, _tail(printed, output_bytes))


def run_shell(text: str, folder: str, environment: Mapping[str, str], seconds: float) -> ProcessResult:
    """Run a shell text; the first command that fails ends it."""
    return run_program(["sh", "-e", "-c", text], folder, environment, seconds)


def one_line_end(text: str) -> str:
    """The end of a text, on one line and without colours."""
    return " ".join(ESCAPES.sub("", text).split())[-_NOTE:]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and everything it left behind: the group has no other members than those."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(printed: IO[bytes], most: int) -> str:
    size = printed.seek(0, os.SEEK_END)
    printed.seek(max(0, size - most))
    return printed.read().decode("utf-8", "replace").strip()


def make_folder(parent: str, project: str, task: str) -> str:
    """Make a new folder below `own`, which is emptied first, with a copy of the project if there is one. It has the project's
    name, by which lessons call it."""
    shutil.rmtree(parent, ignore_errors=True)
    folder = os.path.join(parent, os.path.basename(project) or "work")
    try:
        if project:
            shutil.copytree(project, folder, symlinks=True)
        else:
            make_private_folder(folder)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(parent, ignore_errors=True)
        raise UserError(f"`{project or folder}` cannot be copied for task `{task}`: {_first_fault(error)}") from error
    return folder


def _first_fault(error: Exception) -> str:
    """The first reason: copying a folder gathers all its faults in one list."""
    faults = error.args[0] if error.args else ""
    if isinstance(faults, list) and faults:
        source, _, why = faults[0]
        return f"`{source}`: {why}"
    return str(error)


def changed_files(before: Mapping[str, str], after: Mapping[str, str], record: str = "") -> list[str]:
    """The files that are new or changed; and `record`, the file that a program was told to write, if it exists."""
    found = [path for path, stamp in after.items() if before.get(path) != stamp]
    return sorted([*found, *([record] if record and os.path.exists(record) else [])])
