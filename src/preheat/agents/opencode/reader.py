"""Recognises OpenCode's files and chooses how each is read. Knows nothing of what is inside."""

import os
import re
from collections.abc import Iterator

from preheat.agents.databases import MAGIC
from preheat.agents.opencode import database, tree
from preheat.agents.opencode.document import DocumentParser
from preheat.agents.opencode.parser import RowsParser
from preheat.agents.opencode.places import DATABASES, in_tree
from preheat.agents.reader import DatabasePart, Framing, Parser
from preheat.errors import SourceUnreadable

_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_SESSION = re.compile(rb'\s*\{[^{}]{0,400}?"id"\s*:\s*"ses_')


class OpenCodeReader:
    """Reads `opencode.db`, the older tree and exported sessions."""

    agent = "opencode"

    def framing(self, path: str) -> Framing:
        # Exports come under any name, also as `.jsonl`; a session of the tree is spread over many files.
        return "database" if path.endswith(DATABASES) or in_tree(path) else "document"

    def detect(self, head: bytes, path: str) -> bool:
        if path.endswith(DATABASES):
            try:
                # The tables may still be in the log beside the file, so its first bytes are not enough.
                return head.startswith(MAGIC) and database.is_opencode_database(path)
            except SourceUnreadable:
                return os.path.basename(path).startswith("opencode")
        return bool((_SESSION if in_tree(path) else _EXPORT).match(head))

    def parser(self, path: str, part: str = "") -> Parser:
        return DocumentParser(path) if self.framing(path) == "document" else RowsParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return tree.list_tree(path) if in_tree(path) else database.list_database(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return tree.dump_tree(path, part) if in_tree(path) else database.dump_database(path, part)


READER = OpenCodeReader()
