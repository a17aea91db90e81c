"""What a project's instruction files state: the commands and paths in them, so that nobody is told twice. Pure."""

import re
from typing import NamedTuple

from preheat.manifests.scripts import LARGEST

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(?P<block>.*?)^[ \t]*(?:```|~~~)[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`(?P<code>[^`\n]{2,200})`")
_PROMPT = re.compile(r"^(?:\$|>|%|❯)[ ]+")
_COMMENT = re.compile(r"\s+#\s.*$")
_PROGRAM = re.compile(r"[A-Za-z_./][\w./+@-]*(?:[ ].*)?$")
_NEVER = re.compile(r"(?i)\b(?:never|do not|don't|avoid|not)\b[^.`\n]{0,60}$")
_MOST = 500


class Statements(NamedTuple):
    """What instruction files state."""

    commands: frozenset[str] = frozenset()
    """Commands, with single blanks between their words."""
    forbidden: frozenset[str] = frozenset()
    """Commands that they advise against."""
    codes: frozenset[str] = frozenset()
    """Everything in backticks and blocks: paths and names too."""

    def states(self, command: str) -> bool:
        """Whether a command is stated, by itself or with more behind it."""
        words = " ".join(command.split())
        return any(each == words or each.startswith(f"{words} ") for each in self.commands)


NO_STATEMENTS = Statements()


def read_statements(*texts: str) -> Statements:
    """What these instruction files state together."""
    commands: dict[str, None] = {}
    forbidden: dict[str, None] = {}
    codes: dict[str, None] = {}
    for text in texts:
        text = text[:LARGEST]
        for block in _FENCE.finditer(text):
            for line in block["block"].splitlines():
                line = _COMMENT.sub("", _PROMPT.sub("", line.strip()))
                if line and not line.startswith("#"):
                    codes[" ".join(line.split())] = None
                    commands |= dict.fromkeys(_parts(line))
        rest = _FENCE.sub("", text)
        for found in _CODE.finditer(rest):
            code = " ".join(_PROMPT.sub("", found["code"]).split())
            codes[code] = None
            where = forbidden if _NEVER.search(rest[max(0, found.start() - 80) : found.start()]) else commands
            where |= dict.fromkeys(_parts(code))
    return Statements(
        frozenset(list(commands)[:_MOST]), frozenset(list(forbidden)[:_MOST]), frozenset(list(codes)[:_MOST])
    )


def _parts(line: str) -> list[str]:
    """The commands of a line."""
    parts = [part.strip() for part in re.split(r"&&|;|\|\|", line)]
    return [" ".join(part.split()) for part in parts if _PROGRAM.match(part)]
