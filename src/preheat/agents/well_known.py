"""Names of tools that agents' own programs bring along: everybody's, unlike those of a server that one person added.

Knows no session.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from preheat.agents import AGENTS


@cache
def well_known_tools() -> frozenset[str]:
    """All of them, as far as their readers know what they are for."""
    found: set[str] = set()
    for agent in AGENTS:
        name = f"preheat.agents.{agent}.tools"
        if find_spec(name) is not None:
            found.update(import_module(name)._KINDS)  # the table behind each reader's `kind_of`
    return frozenset(found)
