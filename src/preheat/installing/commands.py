"""The command that installed hooks run: the only place where it is written down.

Knows no agent's settings. The client exits with 0 whatever happens, and so does the shell around it where the client or its
Python is missing: some hosts refuse a call when a hook fails.
"""

import os
import shlex
import sys

from preheat.agents.hooking import Client
from preheat.running.place import CLIENT_FILES, Address

PYTHON_OPTIONS = ("-I", "-S", "-E")
"""Ignore the person's Python environment: the client starts faster, and nothing in there can break it."""


def make_client(agent: str, folder: str, at: Address | None = None) -> Client:
    """How an agent's hooks call us; `folder` holds Preheat's data, `at` is where the daemon takes posts."""
    script = os.path.join(os.path.abspath(folder), CLIENT_FILES[0])
    words = (sys.executable, *PYTHON_OPTIONS, script, agent)
    quoted = " ".join(f'"{word}"' if os.sep in word else word for word in words)
    python, called = shlex.quote(sys.executable), shlex.join(words)
    # With `exec` the host's time limit ends the client itself: some wait for a child of the shell that they have ended.
    command = f"test -x {python} && test -f {shlex.quote(script)} && exec {called}; true"
    return Client(
        command=quoted if sys.platform == "win32" else command,
        safe_command=f"{called} || true",
        powershell=f"& {quoted}; exit 0",
        arguments=words,
        address=f"{at.url}{agent}" if at else "",
        token=at.token if at else "",
    )


def find_missing_file(command: str) -> str:
    """The first file that an installed command needs and that does not exist; empty where all exist."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return next((word for word in words if os.sep in word and not os.path.exists(word)), "")
