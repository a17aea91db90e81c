"""The names and titles of the agents that Preheat knows, for every surface.

Knows nothing of their sessions. Light: a sync that finds nothing new imports it.
"""

from preheat.agents import AGENTS, LIVE, WITH_HOOKS, places_of


def agent_names() -> tuple[str, ...]:
    """All agents: first those that keep sessions on a machine, then those whose files are only imported."""
    return AGENTS


def live_agents() -> tuple[str, ...]:
    """The agents that keep sessions in places of their own on a machine."""
    return LIVE


def hookable_agents() -> tuple[str, ...]:
    """The agents that can call Preheat's hooks while they run."""
    return WITH_HOOKS


def title_of(agent: str) -> str:
    """The agent's name as people write it; an unknown name is returned unchanged."""
    return places_of(agent).title if agent in AGENTS else agent
