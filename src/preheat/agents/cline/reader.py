"""Recognises Cline's files: by what they begin with, or (in editors' task folders) by their names."""

import os
import re
from collections.abc import Iterator

from preheat.agents.cline import store
from preheat.agents.cline.messages import ClineParser
from preheat.agents.cline.places import COMPACTION, HISTORY, HISTORY_ITEM
from preheat.agents.reader import DatabasePart, Framing

_MESSAGES = re.compile(
    rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,\s*"updated_at"\s*:\s*"[^"]*"\s*,\s*(?:"agent"\s*:\s*"[^"]*"\s*,\s*)?"sessionId"\s*:'
)
_MANIFEST = re.compile(rb'\A\s*\{\s*"version"\s*:\s*\d+\s*,\s*"session_id"\s*:\s*"[^"]*"\s*,\s*"source"\s*:')


class ClineReader:
    """Reads a session's messages together with the files beside them."""

    agent = "cline"

    def framing(self, path: str) -> Framing:
        return "database"

    def detect(self, head: bytes, path: str) -> bool:
        name = os.path.basename(path.replace("\\", "/"))
        if name == HISTORY:
            return head.lstrip().startswith(b"[") and (b'"role"' in head or not head.strip(b"[] \r\n\t"))
        if name == HISTORY_ITEM:
            return head.lstrip().startswith(b"{") and b'"task"' in head and b'"ts"' in head
        if name.endswith(COMPACTION):
            return b'"source_message_count"' in head
        return bool(_MESSAGES.match(head) or _MANIFEST.match(head))

    def parser(self, path: str, part: str = "") -> ClineParser:
        return ClineParser(path, part or store.session_name(path))

    def parts(self, path: str) -> list[DatabasePart]:
        return store.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return store.dump(path)


READER = ClineReader()
