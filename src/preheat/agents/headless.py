"""Agents that can be started without a terminal: how, where their programs are, and which files they keep.

Knows no agent: how one is started is the value `HEADLESS` of its folder. Nothing is run here.
"""

import os
import shutil
from collections.abc import Mapping

from preheat.agents import HEADLESS, part_of, places_of
from preheat.errors import UserError
from preheat.model.headless import Asked, Headless


def headless_agents() -> tuple[str, ...]:
    """The agents that can be started without a terminal."""
    return HEADLESS


def settled_agents() -> tuple[str, ...]:
    """The agents that can be started without a terminal and set up for an endpoint."""
    return tuple(agent for agent in HEADLESS if (found := headless_of(agent)) and found.settle is not None)


def headless_of(agent: str) -> Headless | None:
    """How the agent is started without a terminal; None where that is not known."""
    if agent not in HEADLESS:
        return None
    found: Headless = part_of(agent, "headless").HEADLESS
    return found


def program_of(headless: Headless, named: str = "") -> str:
    """The path of an agent's program, by the name or path that the person gave, else by its usual name. Raises UserError."""
    name = named or headless.program
    found = shutil.which(os.path.expanduser(name))
    if found is None:
        raise UserError(f"`{name}` is not installed, or not on the PATH; `--program` says where it is")
    return os.path.abspath(found)


def files_of(agent: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The agent's session files and databases with their stamps."""
    places = places_of(agent)
    return {found.path: found.stamp for root in places.roots(environment) for found in places.discover(root)}


def with_model(request: Asked, option: str = "--model") -> list[str]:
    """The option that chooses a model; empty if the request names none."""
    return [option, request.model] if request.model else []


def given(request: Asked, *option_names: str) -> bool:
    """Whether the request already has one of these options."""
    return any(word.partition("=")[0] in option_names for word in request.options)
