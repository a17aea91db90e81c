"""Setting up an agent in several steps, or in one of several ways: each described as a value.

Knows no agent and does nothing: `installing` carries the steps out, undoes them, and checks whether they are done.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias


class PackageStep(NamedTuple):
    """A step: install this Preheat as a package in another program's Python."""

    interpreter: str
    group: str
    """The group of entry points in which the program looks for plugins."""
    obstacle: str = ""
    """Why the package would not stay installed; empty if it would."""


class FolderStep(NamedTuple):
    """A step: create a folder that is wholly Preheat's."""

    path: str
    files: Mapping[str, bytes]
    """The files of the folder, by name."""
    marker_file: str
    """The name of the file by which the folder is recognised as Preheat's."""


class ListEntry(NamedTuple):
    """A step: add one entry to a list in the person's settings file."""

    path: str
    keys: tuple[str, ...]
    """The keys that lead to the list."""
    value: Any
    is_ours: Callable[[Any], bool]
    forbidding_lists: tuple[tuple[str, ...], ...] = ()
    """Lists whose entries forbid what this list allows, by their keys."""


InstallStep: TypeAlias = PackageStep | FolderStep | ListEntry


class InstallWay(NamedTuple):
    """One way to set up an agent, with its steps in order."""

    name: str
    steps: tuple[InstallStep, ...]
    description: str
    """What the way does, for the person."""
    next_steps: tuple[str, ...] = ()


class InstallContext(NamedTuple):
    """The surroundings that the steps depend on."""

    environment: Mapping[str, str]
    interpreter: str
    """The program's own Python; empty if the program was not found."""
    hook: tuple[str, ...]
    """The command that starts the hook client, as words."""
    folder: str
    """Where Preheat keeps its things."""


class InstallTarget(NamedTuple):
    """The program that is set up, as it was found on this machine."""

    title: str
    """The program's name with its version."""
    command: str
    interpreter: str
    version: str
    home: str
    settings: str
    """The program's settings file that says what to load."""
    notes: tuple[str, ...] = ()
    """What the person should know about this version or this installation."""


class InstallWays(NamedTuple):
    """An agent's ways to be set up."""

    names: tuple[str, ...]
    """Names of the ways; the one to try first comes first."""
    target: Callable[[Mapping[str, str]], InstallTarget]
    """Finds the program. Raises UserError if there is none that can be set up."""
    settings: Callable[[Mapping[str, str]], str]
    """The program's settings file that says what to load; the program need not exist."""
    ways: Callable[[InstallContext], tuple[InstallWay, ...]]
    """All ways, in the order of their names."""
    obstacle: Callable[[Mapping[str, str], str, Mapping[str, Any]], str] = lambda environment, how, said: ""
    """What keeps the program from running an installed way, by environment, way and settings; empty if nothing does."""
    notes: tuple[str, ...] = ()
    """Notes for the status that hold for every way."""
