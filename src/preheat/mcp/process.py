"""How the server's process ends, and where it logs. Knows nothing of MCP."""

import logging
import multiprocessing
import os
import sys


def exit_process(code: int) -> None:
    """End the process at once, also while calls run: files are written whole or not at all."""
    for child in multiprocessing.active_children():
        child.terminate()
    os._exit(code)


def log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="preheat mcp: %(message)s")
