"""The agents that Preheat knows, as every surface names them.

Knows nothing of their sessions. Light: a sync that finds nothing new prints with it.
"""

from preheat.agents import AGENTS, HOOKED, LIVE, places_of


def agent_names() -> tuple[str, ...]:
    """All of them: those that keep sessions on a machine, then those whose files are only imported."""
    return AGENTS


def live_agents() -> tuple[str, ...]:
    """Those that keep sessions in places of their own on a machine."""
    return LIVE


def hookable_agents() -> tuple[str, ...]:
    """Those that can call Preheat while they run."""
    return HOOKED


def title_of(agent: str) -> str:
    """The agent's name as people write it; an unknown one's stays as it is."""
    return places_of(agent).title if agent in AGENTS else agent
