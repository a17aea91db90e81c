"""Shared by the tests of readers: reading a transcript whole and in pieces, which must give the same, and the events of one kind.

Knows no agent. A growing file is read in pieces, with the parser's state saved in between.
"""

from typing import TypeVar

import msgspec

from preheat.agents.reader import Reader
from preheat.model.session import Event, Session

E = TypeVar("E", bound=Event)


def read_whole_and_in_pieces(reader: Reader, data: bytes, path: str = "session.jsonl") -> Session:
    """The one session in these lines, after checking that reading line by line gives the same."""
    whole = reader.parser(path)
    whole.feed(data, 1)
    (session,) = whole.take()
    assert read_in_pieces(reader, data, path) == session
    return session


def read_in_pieces(reader: Reader, data: bytes, path: str = "session.jsonl") -> Session | None:
    """The session, each line read by a new parser from the saved state of the one before."""
    state: bytes | None = None
    session: Session | None = None
    unread: tuple[int, bytes] = (1, b"")
    for number, line in enumerate(data.split(b"\n"), 1):
        parser = reader.parser(path)
        if state is not None:
            parser.load(state)
        first, before = unread
        parser.feed(before + line + b"\n", first)
        pieces = parser.take()
        state = parser.save()
        if state is None:  # no session has begun: read from the start again when there is more
            unread = (1, before + line + b"\n")
            continue
        unread = (number + 1, b"")
        for piece in pieces:
            events = (*(session.events if session else ()), *piece.events)
            problems = (*(session.problems if session else ()), *piece.problems)
            session = msgspec.structs.replace(piece, events=events, problems=problems)
    return session


def events_of(session: Session, kind: type[E]) -> list[E]:
    """The events of one kind, in order."""
    return [event for event in session.events if isinstance(event, kind)]
