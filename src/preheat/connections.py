"""A limit on open connections and on the bytes that they hold: nobody who only connects can keep others out.

When there are too many, the one that has waited longest for its request is closed; one that is being answered never is. Knows no
protocol.
"""

from __future__ import annotations

import os
import socket
import struct
from typing import Protocol


class Connection(Protocol):
    """Something that can be closed at once."""

    def drop(self) -> None: ...


class ConnectionLimit:
    """The open connections of one server."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._waiting: dict[Connection, None] = {}
        """Those without a whole request, in the order in which they began to wait."""
        self._answering: set[Connection] = set()
        self._bytes: dict[Connection, int] = {}
        self._total = 0
        self.dropped = 0
        """How many were closed for others."""

    def __len__(self) -> int:
        return len(self._waiting) + len(self._answering)

    def add(self, connection: Connection) -> None:
        """Take a new one in; if there are too many, the one that has waited longest is closed, and this one if all are being
        answered."""
        self._waiting[connection] = None
        if len(self) > self._most:
            oldest = next(iter(self._waiting))
            self.remove(oldest)
            self.dropped += 1
            oldest.drop()

    def note_request(self, connection: Connection) -> None:
        """It has sent a whole request, which is being answered."""
        if self._waiting.pop(connection, self) is None:
            self._answering.add(connection)

    def note_answer(self, connection: Connection) -> None:
        """It was answered, and may send another request."""
        self.free(connection)
        if connection in self._answering:
            self._answering.discard(connection)
            self._waiting[connection] = None

    def remove(self, connection: Connection) -> None:
        """It was closed."""
        self.free(connection)
        self._waiting.pop(connection, None)
        self._answering.discard(connection)

    def hold(self, connection: Connection, size: int) -> bool:
        """Count bytes that are kept for it; False, and they are not counted, if that is too much for all of them together."""
        if self._total + size > self._most_bytes:
            return False
        self._total += size
        self._bytes[connection] = self._bytes.get(connection, 0) + size
        return True

    def free(self, connection: Connection) -> None:
        """Count no bytes of it any more."""
        self._total -= self._bytes.pop(connection, 0)


def is_own_peer(connection: socket.socket) -> bool:
    """Whether a program of the same user is at the other end of a Unix socket; True where the system does not say, because the
    folder of the socket is the user's alone."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return bool(user == os.geteuid())
