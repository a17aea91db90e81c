"""Which template version is loaded for a project, and when templates were handed out.

A version is pinned: building the template again does not change what sessions get; loading it again does. Knows no lesson. Light:
the start of a session asks for what is loaded.
"""

from typing import NamedTuple

from preheat.errors import UserError
from preheat.model.template import Pin, Use
from preheat.state import loads as _loads
from preheat.state import uses as _uses
from preheat.state.connect import reading, writing
from preheat.templates.store import Store


class Standing(NamedTuple):
    """A loaded version, and whether it can be handed out."""

    pin: Pin
    problem: str = ""
    """Why new sessions do not get it; empty if they do."""
    newer: str = ""
    """The digest of the template's current version, if that is another one."""


def pins(folder: str) -> dict[str, Pin]:
    """The loaded versions, by project folder."""
    with reading(folder) as state:
        return _loads.loads(state)


def load_for(folder: str, project: str, wanted: str, at: float) -> Pin:
    """Load a version (`name`, `name@digest` or `name@-1`) for a project."""
    found = Store(folder).find(wanted)
    pin = Pin(found.name, found.digest, at)
    with writing(folder) as state:
        _loads.load(state, project, pin)
    return pin


def unload(folder: str, project: str) -> Pin | None:
    """Unload the version of a project; the version, None if there was none."""
    if project not in pins(folder):
        return None
    with writing(folder) as state:
        return _loads.unload(state, project)


def standing(folder: str, pin: Pin) -> Standing:
    """The state of a loaded version."""
    store = Store(folder)
    try:
        store.find(pin.address)
        live = store.state(pin.name).live
    except (UserError, OSError) as error:
        return Standing(pin, str(error))
    return Standing(pin, newer=live if live and live != pin.digest else "")


def problems(folder: str) -> list[str]:
    """Loaded versions that cannot be handed out, a sentence each with what to do."""
    try:
        found = pins(folder)
    except UserError:  # reported as a fault of the state itself
        return []
    return [
        f"`{pin.title}` is loaded for `{project}` but not handed out: {stands.problem}; until then sessions there start "
        "with lessons, and `preheat warm load --none` there ends this"
        for project, pin in sorted(found.items())
        if (stands := standing(folder, pin)).problem
    ]


def record_use(folder: str, use: Use) -> None:
    """Record that a version was handed out."""
    with writing(folder) as state:
        _uses.record(state, use)


def uses(folder: str) -> list[Use]:
    """All recorded uses, the oldest first."""
    with reading(folder) as state:
        return _uses.uses(state)
