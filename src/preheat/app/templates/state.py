"""Which template the new sessions of a project start with, and when templates were handed out.

A version is pinned: building the name anew does not change what sessions get, loading it again does. Knows no lesson. Light: a
session's start may ask for what is loaded.
"""

from typing import NamedTuple

from preheat.errors import UserError
from preheat.model.template import Pin, Use
from preheat.state import loads as _loads
from preheat.state import uses as _uses
from preheat.state.connect import reading, writing
from preheat.templates.store import Store


class Standing(NamedTuple):
    """A loaded version as it is now."""

    pin: Pin
    problem: str = ""
    """Why new sessions do not get it; empty where they do."""
    newer: str = ""
    """The digest of the version that the name stands for now, where that is another one."""


def pins(folder: str) -> dict[str, Pin]:
    """What is loaded, by the projects' folders."""
    with reading(folder) as state:
        return _loads.loads(state)


def load_for(folder: str, project: str, wanted: str, at: float) -> Pin:
    """New sessions of a project start with this version from now on: `name`, `name@digest` or `name@-1`."""
    found = Store(folder).find(wanted)
    pin = Pin(found.name, found.digest, at)
    with writing(folder) as state:
        _loads.load(state, project, pin)
    return pin


def unload(folder: str, project: str) -> Pin | None:
    """New sessions of a project start with what was learned again. What was loaded."""
    if project not in pins(folder):
        return None
    with writing(folder) as state:
        return _loads.unload(state, project)


def standing(folder: str, pin: Pin) -> Standing:
    """How a loaded version stands."""
    store = Store(folder)
    try:
        store.find(pin.address)
        live = store.state(pin.name).live
    except (UserError, OSError) as error:
        return Standing(pin, str(error))
    return Standing(pin, newer=live if live and live != pin.digest else "")


def problems(folder: str) -> list[str]:
    """What is loaded and cannot be handed out, a line each with what to do."""
    try:
        found = pins(folder)
    except UserError:  # said of the state itself
        return []
    return [
        f"`{pin.title}` is loaded for `{project}` but not handed out: {stands.problem}; until then sessions there start "
        "with what was learned, and `preheat warm load --none` there ends this"
        for project, pin in sorted(found.items())
        if (stands := standing(folder, pin)).problem
    ]


def record_use(folder: str, use: Use) -> None:
    """Note that a version was handed out."""
    with writing(folder) as state:
        _uses.record(state, use)


def uses(folder: str) -> list[Use]:
    """Every use that was noted, in the order in which it was."""
    with reading(folder) as state:
        return _uses.uses(state)
