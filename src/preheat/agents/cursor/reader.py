"""Recognises what Cursor keeps: transcripts of its agent, and the editor's database. How they are read stands beside it."""

import os
import re
from collections.abc import Iterator

from preheat.agents.chat import mapping
from preheat.agents.cursor import database
from preheat.agents.cursor.composer import ComposerParser
from preheat.agents.cursor.places import DATABASE
from preheat.agents.cursor.transcript import TranscriptParser
from preheat.agents.databases import MAGIC
from preheat.agents.outline import CUT, beginning_of, outline
from preheat.agents.reader import DatabasePart, Framing, Parser
from preheat.errors import SourceUnreadable

_KEYS = frozenset(("role", "message"))
_CONTENT = re.compile(r'\{\s*"content"\s*:\s*["\[]')


class CursorReader:
    """Reads transcripts and `state.vscdb`."""

    agent = "cursor"

    def framing(self, path: str) -> Framing:
        return "database" if path.endswith(".vscdb") else "lines"

    def detect(self, head: bytes, path: str) -> bool:
        if self.framing(path) == "database":
            try:
                # The table may still be in the log beside the file, so its first bytes do not tell.
                return head.startswith(MAGIC) and database.is_cursor_database(path)
            except SourceUnreadable:
                return os.path.basename(path) == DATABASE
        first = outline(head)
        # Exactly these two: other formats have the same with further members.
        if first.keys() != _KEYS or first["role"] not in ("user", "assistant") or head.lstrip()[:1] != b"{":
            return False
        if first["message"] is CUT:  # a first message longer than what is looked at
            return _CONTENT.match(beginning_of(head, "message")) is not None
        message = mapping(first["message"])
        return isinstance(message.get("content"), list | str) and "role" not in message

    def parser(self, path: str, part: str = "") -> Parser:
        return ComposerParser(path) if self.framing(path) == "database" else TranscriptParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return database.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return database.dump(path, part)


READER = CursorReader()
