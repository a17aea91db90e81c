"""A session as JSON lines: first its heading, then one canonical event a line. Nothing is left out.

Knows nothing of files.
"""

from collections.abc import Iterator

import msgspec

from preheat.model.session import Session


def lines(session: Session) -> Iterator[bytes]:
    """The lines, without their ends; the heading has the type `session`, events have their own."""
    heading = {
        "type": "session",
        **{name: getattr(session, name) for name in session.__struct_fields__ if name != "events"},
    }
    yield msgspec.json.encode(heading)
    for event in session.events:
        yield msgspec.json.encode(event)
