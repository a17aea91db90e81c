"""Where the client works: the first of its roots that is a folder, where it has any and can be asked.

Newer versions of the protocol no longer have roots; what such a client is started in is the server's own folder.
"""

import os
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from pydantic import ValidationError

_SECONDS = 2.0
"""How long a client may take to answer; it is asked in the middle of a call."""


async def ask_client_folder(context: ServerRequestContext[Any, Any]) -> str:
    """Ask the client for its folder; empty if it has none."""
    session = context.session
    capabilities = session.client_capabilities
    if capabilities is None or capabilities.roots is None or not session.can_send_request:
        return ""
    try:
        found = await session.send_request(
            types.ListRootsRequest(),
            types.ListRootsResult,
            request_read_timeout_seconds=_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (MCPError, ValidationError, TimeoutError):  # it claims to have roots and does not answer
        return ""
    return next(filter(None, (folder_from_uri(str(root.uri)) for root in found.roots)), "")


def folder_from_uri(address: str) -> str:
    """The folder that a `file:` address stands for; empty for any other."""
    parts = urlparse(address)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return ""
    path = url2pathname(parts.path)
    return os.path.normpath(path) if os.path.isabs(path) else ""
