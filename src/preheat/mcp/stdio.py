"""Serves MCP over standard input and output. Knows nothing of the answers.

Only the protocol is written on standard output: the SDK redirects everything else while it serves.
"""

import signal

import anyio
from mcp.server.stdio import stdio_server

from preheat.mcp.server import exit_process, log_to_stderr, make_server

_INTERRUPTED = 130
_CLIENT_GONE = (BrokenPipeError, ConnectionResetError)


def serve_stdio(folder: str, cwd: str) -> int:
    """Serve until the client closes our input or a signal comes; then the process ends."""
    log_to_stderr()
    # A thread waits for input that may never come, so the whole process has to end.
    signal.signal(signal.SIGINT, lambda *_: exit_process(_INTERRUPTED))
    signal.signal(signal.SIGTERM, lambda *_: exit_process(0))
    try:
        anyio.run(_serve, folder, cwd)
    except* _CLIENT_GONE:
        pass  # the client went away
    exit_process(0)
    return 0


async def _serve(folder: str, cwd: str) -> None:
    mcp_server = make_server(folder, cwd)
    async with stdio_server() as (incoming, outgoing):
        await mcp_server.run(incoming, outgoing, mcp_server.create_initialization_options())
