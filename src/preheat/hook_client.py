"""The hook client for plugins, which do not know where Preheat's data and Python are: `preheat` with `hook` and an agent's name.

`preheat install` writes a quicker command into an agent's settings; both run the same client. Whatever happens here, the
agent gets the exit code 0 and at most an answer. Knows no agent.
"""

import os
import runpy
import sys

from preheat import __version__
from preheat.files import read_text
from preheat.settings import data_folder

_CLIENT, _START = "hook.py", os.path.join("live", "start")


def run_hook_client(agent: str) -> None:
    """Hand the hook on standard input to the daemon, and print the answer. Never returns and never raises."""
    try:
        folder = data_folder()
        client = os.path.join(folder, _CLIENT)
        if not os.path.exists(client) or _written_by(folder) != __version__:
            from preheat.daemon_client import write_client  # noqa: PLC0415 - only once for each version

            write_client(folder)
        sys.argv = [client, agent]
        runpy.run_path(client, run_name="__main__")
    except BaseException:  # noqa: BLE001, S110 - an agent must never notice
        pass
    os._exit(0)


def _written_by(folder: str) -> str:
    """The version of Preheat that wrote the client; empty if unknown."""
    try:
        return read_text(os.path.join(folder, _START)).partition("\n")[0]
    except OSError:
        return ""
