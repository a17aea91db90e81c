"""An agent that is set up in several steps, and in one of several ways: what each takes, as values.

Knows no agent, and does nothing: `installing` carries it out, takes it back, and looks whether it is there.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias


class Package(NamedTuple):
    """This Preheat as a package in another program's Python."""

    interpreter: str
    group: str
    """The entry points by which the program finds it."""
    kept: str = ""
    """Why it would not stay there; empty where it does."""


class Folder(NamedTuple):
    """A folder that is all ours."""

    path: str
    files: Mapping[str, bytes]
    """By their names in it."""
    mark: str
    """The one of them by which it is known to be ours."""


class Item(NamedTuple):
    """One item in a list of a settings file that is somebody else's."""

    path: str
    keys: tuple[str, ...]
    """The way to the list in the file."""
    item: Any
    ours: Callable[[Any], bool]
    not_in: tuple[tuple[str, ...], ...] = ()
    """Lists that forbid what this one allows."""


Step: TypeAlias = Package | Folder | Item


class Way(NamedTuple):
    """One of the ways, with its steps in order."""

    how: str
    steps: tuple[Step, ...]
    says: str
    """What it is, for the person."""
    next_steps: tuple[str, ...] = ()


class Around(NamedTuple):
    """What the steps depend on."""

    environment: Mapping[str, str]
    interpreter: str
    """The program's own; empty where the program was not found."""
    hook: tuple[str, ...]
    """The words that start the hook client."""
    folder: str
    """Where Preheat keeps its things."""


class Target(NamedTuple):
    """The program that is set up, as it was found."""

    title: str
    """With its version."""
    command: str
    interpreter: str
    version: str
    home: str
    settings: str
    """The file in which it is told what to load."""
    notes: tuple[str, ...] = ()
    """What the person should know of this version or this place."""


class Several(NamedTuple):
    """How an agent is set up in several ways."""

    hows: tuple[str, ...]
    """Their names, the one to be tried first in front."""
    target: Callable[[Mapping[str, str]], Target]
    """The program. Raises UserError where there is none that would do."""
    settings: Callable[[Mapping[str, str]], str]
    """The file in which it is told what to load, whether the program is there or not."""
    ways: Callable[[Around], tuple[Way, ...]]
    """Every way, in the order of their names."""
    allowed: Callable[[Mapping[str, str], str, Mapping[str, Any]], str] = lambda environment, how, said: ""
    """What keeps the program from running what is there, by the way and what its settings say; empty where nothing does."""
    always: tuple[str, ...] = ()
    """What is true of every way, for the status."""
