"""Recognises Codex rollouts; `rollout.py` reads them."""

import re

from preheat.agents.chat import mapping
from preheat.agents.codex.rollout import ENVELOPES, CodexParser
from preheat.agents.parsing import decode_json
from preheat.agents.reader import Framing

_SESSION_META = re.compile(rb'\A\s*\{\s*"timestamp"[^{]{0,200}"type"\s*:\s*"session_meta"\s*,\s*"payload"\s*:')
"""The beginning of a first record, which can be longer than the bytes given to `detect`."""


class CodexReader:
    """Reads rollout files."""

    agent = "codex"

    def framing(self, path: str) -> Framing:
        return "lines"

    def detect(self, head: bytes, path: str) -> bool:
        if _SESSION_META.match(head):
            return True
        for place, line in enumerate(head.split(b"\n", 5)[:5]):
            try:
                record = mapping(decode_json(line))
            except (ValueError, RecursionError):
                continue
            if record.get("type") in ENVELOPES and isinstance(record.get("payload"), dict):
                return True
            if place == 0 and "type" not in record and {"id", "timestamp", "instructions"} <= record.keys():
                return True
        return False

    def parser(self, path: str, part: str = "") -> CodexParser:
        return CodexParser(path)


READER = CodexReader()
