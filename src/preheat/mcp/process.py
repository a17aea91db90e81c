"""How the server's process ends, and where it logs. Knows nothing of MCP."""

import logging
import multiprocessing
import os
import sys


def leave(code: int) -> None:
    """End at once, also where calls still run: whatever they write is written whole or not at all."""
    for child in multiprocessing.active_children():
        child.terminate()
    os._exit(code)


def log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="preheat mcp: %(message)s")
