"""Agents that can be started without a terminal: how, where their programs are, and which files they keep.

Knows no agent: how one is started is the value `HEADLESS` of its folder. Nothing is run here.
"""

import os
from collections.abc import Mapping

from preheat import programs
from preheat.agents import WITH_HEADLESS, part_of, places_of
from preheat.errors import UserError
from preheat.model.headless import HeadlessProgram, HeadlessRequest


def headless_agents() -> tuple[str, ...]:
    """The agents that can be started without a terminal."""
    return WITH_HEADLESS


def endpoint_agents() -> tuple[str, ...]:
    """The agents that can be started without a terminal and set up for an endpoint."""
    return tuple(agent for agent in WITH_HEADLESS if (found := headless_of(agent)) and found.set_up is not None)


def headless_of(agent: str) -> HeadlessProgram | None:
    """How the agent is started without a terminal; None where that is not known."""
    if agent not in WITH_HEADLESS:
        return None
    found: HeadlessProgram = part_of(agent, "headless").HEADLESS
    return found


def find_program(headless: HeadlessProgram, name_or_path: str = "") -> str:
    """The path of an agent's program, by the name or path that the person gave, else by its usual name. Raises UserError."""
    name = name_or_path or headless.program
    found = programs.find_program(os.path.expanduser(name))
    if found is None:
        raise UserError(f"`{name}` is not installed, or not on the PATH; `--program` says where it is")
    return os.path.abspath(found)


def session_files(agent: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The agent's session files and databases with their stamps."""
    places = places_of(agent)
    return {found.path: found.stamp for root in places.roots(environment) for found in places.discover(root)}


def model_option(request: HeadlessRequest, option: str = "--model") -> list[str]:
    """The option that chooses a model; empty if the request names none."""
    return [option, request.model] if request.model else []


def has_option(request: HeadlessRequest, *option_names: str) -> bool:
    """Whether the request already has one of these options."""
    return any(word.partition("=")[0] in option_names for word in request.options)
