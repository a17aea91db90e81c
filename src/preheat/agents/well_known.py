"""Names of tools that agents' own programs bring along: everybody has them, unlike the tools of a server that one person added.

Knows no session.
"""

from functools import cache

from preheat.agents import WITH_TOOLS, part_of


@cache
def well_known_tools() -> frozenset[str]:
    """The tools of all agents whose purpose is known."""
    # The table behind each agent's `kind_of`.
    return frozenset(tool for agent in WITH_TOOLS for tool in part_of(agent, "tools")._KINDS)
