"""An agent's program that is started without a terminal: with which words, how the prompt gets in, what sets it up.

Frozen values. Knows no agent: which ones can be started so is known in `agents`. Nothing is run here.
"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

Files: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]
"""The files and databases that an agent keeps, each with its stamp, in an environment: whoever runs a program looks before and
after."""


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
