"""Real agent programs, run headless in a clean home against a scripted model server.

This module finds a program, makes its surroundings and runs it; each agent has a module of its own for how
it is configured and called. Knows no agent.
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


LIMIT = 300.0
"""Seconds after which a program counts as hung. No measure of speed: a busy machine may take its time."""


class ProgramFailed(AssertionError):  # noqa: N818 - reads as a sentence in a test's report
    """A program did not end well, or not in time."""


class Finished(NamedTuple):
    """A program that has ended."""

    code: int
    output: str
    errors: str


def agents_folder() -> str:
    """Where `scripts/install-agents` puts programs: `PREHEAT_AGENTS`, or `.agents` of the checkout."""
    override = os.environ.get("PREHEAT_AGENTS")
    if override:
        return override
    checkout = os.path.abspath(__file__)
    for _ in range(5):  # src/preheat/testing/programs/__init__.py
        checkout = os.path.dirname(checkout)
    return os.path.join(checkout, ".agents")


def find(name: str, *below: str) -> str | None:
    """The program's path: below the agents folder, else on the PATH."""
    own = os.path.join(agents_folder(), *below)
    if os.access(own, os.X_OK):
        return own
    return shutil.which(name)


def clean_environment(home: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment with nothing of the person's in it, and no way out of the machine."""
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


def run(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    *,
    limit: float = LIMIT,
    expect: int | None = 0,
) -> Finished:
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
            end_group(process)
            output, errors = process.communicate()
            raise ProgramFailed(
                f"`{command[0]}` did not end within {limit:g} s\n{output[-2000:]}{errors[-2000:]}"
            ) from None
    if expect is not None and process.returncode != expect:
        raise ProgramFailed(
            f"`{command[0]}` ended with {process.returncode}, not {expect}\n{output[-2000:]}{errors[-2000:]}"
        )
    return Finished(process.returncode, output, errors)


def end_group(process: "subprocess.Popen[str]") -> None:
    """End a program and everything it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
