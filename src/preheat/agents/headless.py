"""How an agent is started without a terminal: which program, with which words, and how the prompt gets in.

Knows no agent: each that can be started so has a module `headless` in its folder. Nothing is run here.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from preheat.agents import LIVE


class Asked(NamedTuple):
    """What an agent is to do."""

    prompt: str
    model: str = ""
    """Empty for the one that the agent takes by itself."""
    options: tuple[str, ...] = ()
    """More options of the agent's own, as the person gave them."""


class Headless(NamedTuple):
    """How one agent is started."""

    program: str
    """Its name on the PATH."""
    arguments: Callable[[Asked], list[str]]
    """What follows the program's name, with the prompt if it is not read from the input. No agent is given more permissions
    than it takes to work in its folder, as far as it can tell the difference."""
    reads_input: bool = False
    """The prompt goes in by standard input: it may be as long as it likes, and begin with a dash."""
    environment: Mapping[str, str] = {}
    tried: str = ""
    """The version of the program that a training was tried with; empty where it was with none."""


def headless_agents() -> tuple[str, ...]:
    """The agents that can be started so."""
    return tuple(agent for agent in LIVE if find_spec(f"preheat.agents.{agent}.headless"))


def headless_of(agent: str) -> Headless | None:
    """How to start an agent, if that is known."""
    if agent not in headless_agents():
        return None
    found: Headless = import_module(f"preheat.agents.{agent}.headless").HEADLESS
    return found


def with_model(asked: Asked, option: str = "--model") -> list[str]:
    """The model, where one is asked for."""
    return [option, asked.model] if asked.model else []


def given(asked: Asked, *names: str) -> bool:
    """Whether the person gave one of these options already."""
    return any(word.partition("=")[0] in names for word in asked.options)
