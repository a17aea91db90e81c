"""The native hook client: `plugins/hook.c`, built on the machine where it runs, beside the Python client that it stands before.

The package holds its source only, because it is the same file for every machine. Where there is no compiler, or what it makes
does not work, there is no native client, and agents run the Python one. Knows no agent and no daemon.
"""

import glob
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

import preheat
from preheat.files import OWNER_ONLY, make_private_folder, read_file, write_atomically
from preheat.programs import current_repository, find_program
from preheat.settings import home_folder

NATIVE_FILE, STAMP_FILE = "hook", "hook-built"
"""The program; and, in `live`, what was tried last: a digest of the source and the kind of machine."""
_STAMP_FILE = os.path.join("live", STAMP_FILE)
_OPTIONS = ("-O2", "-std=c11", "-o")
_EVERY_MACHINE = ("-arch", "arm64", "-arch", "x86_64") if sys.platform == "darwin" else ()
"""One file for both kinds of machine, where a home may move from one to the other."""
_SECONDS = 60.0
"""For compiling and for trying; generous, because machines may be busy."""


def native_path(folder: str) -> str:
    """Where the native client is in Preheat's folder, if it is there."""
    return os.path.join(os.path.abspath(folder), NATIVE_FILE)


def find_loader() -> str:
    """The program that starts others on this kind of machine, by whose absence a shell can tell that it runs on another kind;
    empty where there is none with the kind in its name."""
    if sys.platform != "linux":
        return ""
    kind = os.uname().machine.replace("_", "?")
    return next(iter(sorted(glob.glob(f"/lib*/ld-*{kind}*.so.*"))), "")


def make_prefix(folder: str, words: Sequence[str]) -> str:
    """What comes before a command of the Python client (`words`) in the text for a shell, ending it if the native client has done
    the work. A shell would run a file for another kind of machine as a script, so that is asked first."""
    loader, path = find_loader(), shlex.quote(native_path(folder))
    if sys.platform == "win32" or (sys.platform == "linux" and not loader):
        return ""
    first = f"test -x {shlex.quote(loader)} && " if loader else ""
    return f"{first}test -x {path} && {path} {shlex.join(words)} && exit; "


def without_prefix(command: str) -> str:
    """The command of the Python client in a text for a shell."""
    return command.rpartition(" && exit; ")[2]


# Building.
def build(folder: str, retry: bool = False) -> bool:
    """Build the native client of this version if there is none and that was not tried before (`retry`: even then); True if there
    is one now. Never raises: without it agents run the Python client."""
    path = native_path(folder)
    with suppress(OSError, subprocess.SubprocessError):
        if not remove_stale(folder) and (os.path.exists(path) or not retry):
            return os.path.exists(path)
        compiler = find_program("cc", outside=current_repository(home_folder(os.environ)))
        data = _compile(compiler, _source_path(), os.path.join(folder, "live")) if compiler else b""
        write_atomically(os.path.join(folder, _STAMP_FILE), _stamp(_source_path()))
        if data:
            write_atomically(path, data, mode=OWNER_ONLY | 0o100)
        return bool(data)
    return os.path.exists(path)


def remove_stale(folder: str) -> bool:
    """Delete a native client that is not of this version; True if none was tried for this version yet. Raises OSError."""
    try:
        if read_file(os.path.join(folder, _STAMP_FILE)) == _stamp(_source_path()):
            return False
    except FileNotFoundError:
        pass
    remove(folder)
    return True


def remove(folder: str) -> None:
    """Delete the native client. Raises OSError."""
    for path in (native_path(folder), os.path.join(folder, _STAMP_FILE)):
        with suppress(FileNotFoundError):
            os.unlink(path)


def _source_path() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(preheat.__file__)), "plugins", "hook.c")


def _stamp(source: str) -> bytes:
    machine = os.uname().machine if hasattr(os, "uname") else ""
    return hashlib.sha256(read_file(source) + machine.encode()).hexdigest().encode()


def _compile(compiler: str, source: str, live: str) -> bytes:
    """The program, if it can be made and works; else empty. Raises OSError and SubprocessError."""
    place = os.path.join(
        live, f"build-{os.getpid()}"
    )  # in our own folder: nothing may be run elsewhere on some machines
    make_private_folder(place)
    try:
        made = os.path.join(place, NATIVE_FILE)
        run = subprocess.run(
            [compiler, *_EVERY_MACHINE, *_OPTIONS, made, source],
            cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        return read_file(made) if run.returncode == 0 and _works(made) else b""
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _works(made: str) -> bool:
    """Whether the program runs here: without a daemon it leaves an event to the command that it is given."""
    echo = (sys.executable, "-I", "-S", "-c", "import sys; print(*sys.argv[1:3], sys.stdin.read())")
    run = subprocess.run(
        [made, *echo, "agent"], env={}, input=b"event", capture_output=True, timeout=_SECONDS, check=False
    )
    return (run.returncode, run.stdout) == (0, b"agent gone event\n")
