"""Reads Hermes's sessions out of its database. Knows nothing of what the rows mean: `parser.py` does."""

import os
from collections.abc import Iterator

from preheat.agents.databases import MAGIC
from preheat.agents.hermes import database
from preheat.agents.hermes.parser import HermesParser
from preheat.agents.hermes.places import DATABASE
from preheat.agents.reader import DatabasePart, Framing, Parser
from preheat.errors import SourceUnreadable


class HermesReader:
    """Reads `state.db`."""

    agent = "hermes"

    def framing(self, path: str) -> Framing:
        return "database"

    def detect(self, head: bytes, path: str) -> bool:
        if not head.startswith(MAGIC):
            return False
        try:
            # The tables may still be in the log beside the file, so its first bytes are not enough.
            return database.is_hermes_database(path)
        except SourceUnreadable:
            return os.path.basename(path) == DATABASE

    def parser(self, path: str, part: str = "") -> Parser:
        return HermesParser(path)

    def parts(self, path: str) -> list[DatabasePart]:
        return database.parts(path)

    def dump(self, path: str, part: str) -> Iterator[bytes]:
        return database.dump(path, part)


READER = HermesReader()
