"""Real agent programs, run headless in a clean home against a scripted model server.

Finds a program, makes its environment and runs it. Knows no agent: each has a module of its own for how it is configured
and called.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

NO_PROXY = "127.0.0.1,localhost,::1"
DEAD_PROXY = "http://127.0.0.1:9"
"""Nothing listens on the discard port: what a program sends anywhere but to loopback fails at once."""


TIME_LIMIT = 300.0
"""Seconds after which a program counts as hung; generous, because machines may be busy."""


class ProgramFailed(AssertionError):  # noqa: N818 - reads as a sentence in a test's report
    """A program did not end well, or not in time."""


class FinishedProgram(NamedTuple):
    """A program that has ended."""

    code: int
    output: str
    errors: str


def agents_folder() -> str:
    """Where `scripts/install-agents` puts programs: `PREHEAT_AGENTS`, or `.agents` of the checkout."""
    override = os.environ.get("PREHEAT_AGENTS")
    if override:
        return override
    return os.path.join(checkout(), ".agents")


def checkout() -> str:
    """The folder of the checkout: the nearest one above with a `pyproject.toml`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    while not os.path.exists(os.path.join(folder, "pyproject.toml")):
        above = os.path.dirname(folder)
        if above == folder:
            raise ProgramFailed("agent programs are run from a checkout only")
        folder = above
    return folder


def find_program(name: str, *below: str) -> str | None:
    """The program's path: below the agents folder, else on the PATH."""
    own = os.path.join(agents_folder(), *below)
    if os.access(own, os.X_OK):
        return own
    return shutil.which(name)


def clean_environment(home: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment with nothing of the person's in it, and without a network."""
    folders = [os.path.dirname(path) for name in ("node", "python3", "git") if (path := shutil.which(name))]
    path = os.pathsep.join(dict.fromkeys([*folders, "/usr/local/bin", "/usr/bin", "/bin"]))
    environment = {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CONFIG_HOME": os.path.join(home, ".config"),
        "XDG_DATA_HOME": os.path.join(home, ".local", "share"),
        "XDG_CACHE_HOME": os.path.join(home, ".cache"),
        "PATH": path,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TZ": "UTC",
        "NO_COLOR": "1",
    }
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        environment[name] = environment[name.lower()] = DEAD_PROXY
    environment["NO_PROXY"] = environment["no_proxy"] = NO_PROXY
    environment.update(more or {})
    return environment


def run_program(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    *,
    limit: float = TIME_LIMIT,
    expect: int | None = 0,
) -> FinishedProgram:
    """Run a program to its end. Raises ProgramFailed after `limit` seconds, or for an exit code not expected.

    The program leads a process group of its own, so that whatever it started ends with it.
    """
    with subprocess.Popen(
        list(command),
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end_process_group(process)
            output, errors = process.communicate()
            raise ProgramFailed(
                f"`{command[0]}` did not end within {limit:g} s\n{output[-2000:]}{errors[-2000:]}"
            ) from None
    if expect is not None and process.returncode != expect:
        raise ProgramFailed(
            f"`{command[0]}` ended with {process.returncode}, not {expect}\n{output[-2000:]}{errors[-2000:]}"
        )
    return FinishedProgram(process.returncode, output, errors)


def end_process_group(process: "subprocess.Popen[str]") -> None:
    """End a program and everything it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
