"""Reads Gemini CLI's sessions: the journal, and the single document that older versions rewrote whole.

How the records are folded is `journal.py`'s business.
"""

import os
import re

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.gemini.journal import JournalParser
from preheat.agents.parsing import decode_json
from preheat.agents.reader import Framing, Parser
from preheat.model.session import Other, Session

AGENT = "gemini"
_BEGINNING = re.compile(rb'\s*\{\s*"sessionId"\s*:\s*"[^"]{1,200}"\s*,\s*"projectHash"\s*:')
_ENOUGH = 2_000


class JournalDocumentParser:
    """Reads a file whole: a document, or a journal under another name than the program's."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._journal = JournalParser(path)

    def feed(self, block: bytes, line: int) -> None:
        first, _, rest = block.strip().partition(b"\n")
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            if rest and _is_record(first):
                self._journal.feed(block, line)
            else:
                self._journal.add_problem(f"not a whole JSON document ({str(error)[:120]})", None)
            return
        if isinstance(document, dict) and "messages" in document:
            self._document(document)
        else:
            self._journal.feed(block, line)

    def _document(self, document: dict[str, object]) -> None:
        journal, messages = self._journal, document["messages"]
        journal.record({name: value for name, value in document.items() if name != "messages"}, 0)
        if not isinstance(messages, list):
            journal.add_problem("`messages` is no list; kept as it is", None)
            journal.draft().events.append(Other(line=0, name="messages", raw=messages))
        for number, message in enumerate(sequence(messages), 1):
            if string(mapping(message).get("id")):
                journal.read_message_safely(message, number)
            else:
                journal.add_problem("a message without an id; kept as it is", number)
                journal.draft().events.append(Other(line=number, name="unreadable", raw=message))

    def take(self) -> list[Session]:
        heading = self._journal.draft().heading
        heading.id = heading.id or os.path.basename(self._path.replace("\\", "/")).partition(".")[0] or AGENT
        return self._journal.take()

    def save(self) -> bytes | None:
        return None

    def load(self, state: bytes) -> None:
        """A document is always read whole."""


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(decode_json(line), dict)
    except (ValueError, RecursionError):
        return False


class GeminiReader:
    """Gemini CLI's sessions."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        folder, name = os.path.split(path.replace("\\", "/"))
        # A copy under another name may be a document in spite of its suffix.
        if name.endswith(".jsonl") and (name.startswith("session-") or "chats" in folder.split("/")[-2:]):
            return "lines"
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        return bool(_BEGINNING.match(head.removeprefix(b"\xef\xbb\xbf")[:_ENOUGH]))

    def parser(self, path: str, part: str = "") -> Parser:
        return JournalParser(path) if self.framing(path) == "lines" else JournalDocumentParser(path)


READER = GeminiReader()
