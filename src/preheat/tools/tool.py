"""What a tool is: something a model asks of Preheat by name, with arguments, and gets a JSON answer for.

Knows no tool, and nothing of how one is reached (MCP, a plugin, `preheat tool`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from preheat.app import Preheat


class Asked(NamedTuple):
    """One question."""

    folder: str
    """Where Preheat keeps its things."""
    arguments: dict[str, Any]
    """As the schema wants them: checked, harmless differences in type made good, no key that it does not name."""
    cwd: str
    """The project that whoever asks works in, where it does not say another one."""

    @property
    def home(self) -> Preheat:
        """What answers."""
        return Preheat(self.folder)


class Tool(NamedTuple):
    """`run` gives what belongs into the answer; `success` is added. It raises UserError where the one who asked can do
    something about it: the line says what."""

    name: str
    description: str
    """For a model: what it gives, and when to use it."""
    schema: dict[str, Any]
    """JSON schema of the arguments, an object; small, because it costs tokens in every session."""
    run: Callable[[Asked], dict[str, Any]]
    reads_only: bool = True


MOST_TOKENS = 2000
"""Of an answer, unless the one who asks wants more; about what a session's start is given."""
