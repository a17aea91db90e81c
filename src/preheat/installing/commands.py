"""What the installed hooks call: the one place where that command is written down.

Knows no agent's settings. The client ends with 0 whatever happens to it; the shell around it does where the client or its
Python is gone: some hosts refuse a call when a hook of theirs fails.
"""

import os
import shlex
import sys

from preheat.agents.hooking import Client
from preheat.running.place import CLIENT, Address

OPTIONS = ("-I", "-S", "-E")
"""Nothing of the person's environment is imported: it starts faster, and nothing can be in its way."""


def client_of(agent: str, folder: str, at: Address | None = None) -> Client:
    """How an agent's hooks call us; `folder` is where Preheat keeps its things, `at` where the daemon takes posts."""
    script = os.path.join(os.path.abspath(folder), CLIENT[0])
    words = (sys.executable, *OPTIONS, script, agent)
    quoted = " ".join(f'"{word}"' if os.sep in word else word for word in words)
    python, called = shlex.quote(sys.executable), shlex.join(words)
    # With `exec` the host's time limit ends the client itself: some wait for a child of the shell that they have ended.
    command = f"test -x {python} && test -f {shlex.quote(script)} && exec {called}; true"
    return Client(
        command=quoted if sys.platform == "win32" else command,
        unfailing=f"{called} || true",
        powershell=f"& {quoted}; exit 0",
        arguments=words,
        address=f"{at.url}{agent}" if at else "",
        token=at.token if at else "",
    )


def missing(command: str) -> str:
    """A file that an installed command needs and that is gone; empty where all is there."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return next((word for word in words if os.sep in word and not os.path.exists(word)), "")
