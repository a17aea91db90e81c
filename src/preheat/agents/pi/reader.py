"""Recognises Pi's session files; how they are read stands in `entries.py`."""

from preheat.agents.chat import mapping
from preheat.agents.parsing import decode_json
from preheat.agents.pi.entries import PiParser
from preheat.agents.reader import Framing, Parser


class PiReader:
    """Reads session files of all three versions."""

    agent = "pi"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        try:
            first = mapping(decode_json(head.lstrip().partition(b"\n")[0]))
        except (ValueError, RecursionError):
            return False
        return first.get("type") == "session" and all(
            isinstance(first.get(name), str) for name in ("id", "timestamp", "cwd")
        )

    def parser(self, path: str, part: str = "") -> Parser:
        return PiParser(path)


READER = PiReader()
