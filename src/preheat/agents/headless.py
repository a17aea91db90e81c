"""How an agent is started without a terminal: which program, with which words, and how the prompt gets in.

Knows no agent: each that can be started so has a module `headless` in its folder. Nothing is run here.
"""

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from preheat.agents import AGENTS


class Endpoint(NamedTuple):
    """A model behind an address that speaks as OpenAI's does."""

    url: str
    """Up to `/v1`."""
    model: str
    key: str = ""
    """The environment variable that holds the key; empty: none is needed. The key itself is never written to a file."""


class Settled(NamedTuple):
    """What sets an agent up in an empty home, so that it asks one endpoint and nobody else."""

    files: Mapping[str, str] = {}
    """By their paths below the home."""
    environment: Mapping[str, str] = {}
    options: tuple[str, ...] = ()
    model: str = ""
    """The model as the agent calls it; empty where a file says it."""


class Asked(NamedTuple):
    """What an agent is to do."""

    prompt: str
    model: str = ""
    """Empty for the one that the agent takes by itself."""
    options: tuple[str, ...] = ()
    """More options of the agent's own, as the person gave them."""
    record: str = ""
    """Where the session is to be written, for an agent that has no place of its own for it."""
    turns: int = 0
    """How many turns it may take, where the agent can be told; 0 for what it takes by itself."""


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
    settle: Callable[[Endpoint, str, Mapping[str, str]], Settled] | None = None
    """Sets it up for an endpoint, in a home, with an environment that has the key; None where nobody has found out how."""
    file: str = ""
    """The file in its working folder that it reads by itself when it starts; empty: none."""
    out_of_turns: str = ""
    """What it prints when the turns that it was told are used up; empty: it cannot be told how many it may take."""
    recorded: str = ""
    """How the file ends that it is told to write its session to; empty: it has a place of its own."""

    def record(self, folder: str, name: str) -> str:
        """Where a session is to be written; empty where the agent knows by itself."""
        return os.path.join(folder, f"{name}{self.recorded}") if self.recorded else ""


def headless_agents() -> tuple[str, ...]:
    """The agents that can be started so."""
    return tuple(agent for agent in AGENTS if find_spec(f"preheat.agents.{agent}.headless"))


def settled_agents() -> tuple[str, ...]:
    """Those of them that can be set up for an endpoint."""
    return tuple(agent for agent in headless_agents() if (found := headless_of(agent)) and found.settle is not None)


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
