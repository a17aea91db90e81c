"""Tools by their names: what a tool of any agent is for, and which names agents' own programs bring along.

A name that says nothing is `other`. Knows no session.
"""

import re
from functools import cache

from preheat.agents import WITH_TOOLS, part_of
from preheat.model.session import ToolKind

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_KINDS: tuple[tuple[ToolKind, frozenset[str]], ...] = (
    ("shell", frozenset(["bash", "shell", "terminal", "exec", "execute", "run", "command", "python"])),
    ("edit", frozenset(["edit", "patch", "replace"])),
    ("web", frozenset(["web", "browser", "browse", "fetch", "url", "webpage"])),
    ("write", frozenset(["write", "create", "save"])),
    ("search", frozenset(["search", "grep", "find", "glob", "list", "ls"])),
    ("read", frozenset(["read", "view", "open", "cat", "get"])),
    ("plan", frozenset(["plan", "think", "todo"])),
    ("delegate", frozenset(["delegate", "subagent"])),
)


def kind_by_name(tool: str) -> ToolKind:
    """What a tool is for, as far as its name says."""
    words = {word.lower() for word in _WORDS.findall(tool[:200])}
    return next((kind for kind, names in _KINDS if words & names), "other")


@cache
def well_known_tools() -> frozenset[str]:
    """The tools of all agents whose purpose is known."""
    # The table behind each agent's `kind_of`.
    return frozenset(tool for agent in WITH_TOOLS for tool in part_of(agent, "tools")._KINDS)
