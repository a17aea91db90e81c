"""Reads what `opencode export` writes, one JSON document a session, as the rows that the database would give.

Knows nothing of what the rows mean.
"""

from collections.abc import Iterator
from typing import Any

from preheat.agents.chat import mapping, sequence
from preheat.agents.opencode.parser import RowsParser
from preheat.agents.opencode.state import Record
from preheat.agents.parsing import decode_json


class DocumentParser(RowsParser):
    """Reads one document as one session; each message and part counts as a line."""

    def feed(self, block: bytes, line: int) -> None:
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"not a whole JSON document ({str(error)[:120]})", line)
            return
        if not isinstance(mapping(document).get("info"), dict) or not isinstance(document.get("messages"), list):
            self.add_problem("an exported session without `info` and `messages`", line)
            return
        for number, (table, row) in enumerate(_rows(document), line):
            self._value = {"table": table, "row": row}
            if isinstance(row, dict):
                self._fold_safely(Record(table, row), number)
            else:
                self.add_problem(f"a {table} that is no object; kept as it is", number)
                self.keep_record(table, number)
        self._value = None

    def save(self) -> bytes | None:
        return None


def _rows(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "session", document["info"]
    for message in document["messages"]:
        yield "message", mapping(message).get("info")
        for part in sequence(mapping(message).get("parts")):
            yield "part", part
    yield "end", {}
