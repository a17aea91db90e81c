"""How an agent's program is started without a terminal: its arguments, its prompt, its set-up.

Frozen values. Knows no agent (see `agents`) and runs nothing.
"""

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

FileStamps: TypeAlias = Callable[[Mapping[str, str]], dict[str, str]]
"""Lists the files and databases that an agent keeps in an environment, with stamps, so that new sessions can be found."""


class Endpoint(NamedTuple):
    """A model behind an OpenAI-compatible address."""

    url: str
    """The address up to and with `/v1`."""
    model: str
    key: str = ""
    """The environment variable with the key; empty: none is needed. The key itself is never written to a file."""


class HeadlessSetup(NamedTuple):
    """The set-up of an agent in an empty home, so that it uses one endpoint and no other."""

    files: Mapping[str, str] = {}
    """Texts by path below the home."""
    environment: Mapping[str, str] = {}
    """Environment variables to set."""
    options: tuple[str, ...] = ()
    """Options of the agent's program."""
    model: str = ""
    """The model's name for the agent's option; empty where a file names it."""


class HeadlessRequest(NamedTuple):
    """What a headless run of an agent is asked to do."""

    prompt: str
    model: str = ""
    """The model to use; empty: the agent's default."""
    options: tuple[str, ...] = ()
    """Further options of the agent, from the person."""
    record: str = ""
    """Where the session is to be written, for an agent that has no place of its own for it."""
    turns: int = 0
    """The limit of turns, for agents that have one; 0: the agent's default."""


class HeadlessProgram(NamedTuple):
    """How one agent's program is started without a terminal."""

    program: str
    """The name of the program on the PATH."""
    arguments: Callable[[HeadlessRequest], list[str]]
    """Makes the arguments, with the prompt unless it is read from the input. They grant no more permissions than work in the
    folder needs, as far as the agent has such a setting."""
    reads_input: bool = False
    """The prompt is read from standard input, so it may be of any length and begin with a dash."""
    environment: Mapping[str, str] = {}
    """Environment variables to set."""
    tested_version: str = ""
    """The version of the program that training was tested with; empty: none."""
    set_up: Callable[[Endpoint, str, Mapping[str, str]], HeadlessSetup] | None = None
    """Sets it up for an endpoint, in a home, with an environment that has the key; None where that is not supported."""
    instructions_file: str = ""
    """The instructions file in the working folder that it reads at its start; empty: none."""
    answer_only: tuple[str, ...] = ()
    """Options with which it answers and may change nothing; empty: it has no such options."""
    out_of_turns: str = ""
    """What it prints when the limit of turns is reached; empty: it has no such limit."""
    record_suffix: str = ""
    """The suffix of the file that it is told to write its session to; empty: it has a place of its own."""

    def record_path(self, folder: str, name: str) -> str:
        """The path that a session is to be written to; empty where the agent has a place of its own."""
        return os.path.join(folder, f"{name}{self.record_suffix}") if self.record_suffix else ""
