"""What a tool is: a model calls it by name with arguments, and gets a JSON answer.

Knows no tool, and not how tools are reached (MCP, a plugin, `preheat tool`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from preheat.app import Preheat


class ToolRequest(NamedTuple):
    """One call of a tool."""

    folder: str
    """Preheat's folder."""
    arguments: dict[str, Any]
    """Checked against the schema and converted to its types."""
    cwd: str
    """The folder that the agent works in; the project, unless the arguments name another."""

    @property
    def home(self) -> Preheat:
        """The application that answers."""
        return Preheat(self.folder)


class Tool(NamedTuple):
    """`run` returns the answer without `success`, which is added. It raises UserError for what the model can fix."""

    name: str
    description: str
    """For a model: what the tool gives, and when to use it."""
    schema: dict[str, Any]
    """JSON schema of the arguments; small, because it costs tokens in every session."""
    run: Callable[[ToolRequest], dict[str, Any]]
    reads_only: bool = True


MOST_TOKENS = 2000
"""Length of an answer unless more is asked for; about as much as a session gets at its start."""
