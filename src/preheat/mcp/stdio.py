"""Serves MCP over standard input and output. Knows nothing of what is answered.

On standard output nothing but the protocol is ever written: the SDK takes it away from everybody else while it serves.
"""

import signal

import anyio
from mcp.server.stdio import stdio_server

from preheat.mcp.process import leave, log_to_stderr
from preheat.mcp.server import server

_INTERRUPTED = 130
_GONE = (BrokenPipeError, ConnectionResetError)


def serve_stdio(folder: str, cwd: str) -> int:
    """Serve until the client closes our input, or somebody ends us. The process ends with it."""
    log_to_stderr()
    # A thread waits for input that may never come: only the process as a whole can be ended.
    signal.signal(signal.SIGINT, lambda *_: leave(_INTERRUPTED))
    signal.signal(signal.SIGTERM, lambda *_: leave(0))
    try:
        anyio.run(_serve, folder, cwd)
    except* _GONE:
        pass  # the client went away: nobody is left to be told
    leave(0)
    return 0


async def _serve(folder: str, cwd: str) -> None:
    answering = server(folder, cwd)
    async with stdio_server() as (incoming, outgoing):
        await answering.run(incoming, outgoing, answering.create_initialization_options())
