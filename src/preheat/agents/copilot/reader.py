"""Recognises the events of Copilot CLI; `events.py` reads them."""

from preheat.agents.chat import mapping, string
from preheat.agents.copilot.events import CopilotParser
from preheat.agents.parsing import decode_json
from preheat.agents.reader import Framing

_FIELDS = {"type", "data", "id", "timestamp", "parentId"}
_FAMILIES = ("session.", "user.", "assistant.", "tool.", "hook.", "system.", "subagent.")


class CopilotReader:
    """Reads `events.jsonl`."""

    agent = "copilot"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        for line in head.split(b"\n", 3)[:3]:
            try:
                record = mapping(decode_json(line))
            except (ValueError, RecursionError):
                continue
            kind, data = string(record.get("type")), record.get("data")
            if not isinstance(data, dict) or not kind.startswith(_FAMILIES):
                continue
            if record.keys() >= _FIELDS or (kind == "session.start" and "sessionId" in data):
                return True
        return False

    def parser(self, path: str, part: str = "") -> CopilotParser:
        return CopilotParser(path)


READER = CopilotReader()
