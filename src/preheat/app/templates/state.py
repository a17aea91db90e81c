"""Which template version is loaded for a project, and when templates were handed out.

A version is pinned: building the template again does not change what sessions get; loading it again does. Knows no lesson. Light:
the start of a session asks for what is loaded.
"""

from typing import NamedTuple

from preheat.errors import UserError
from preheat.model.template import TemplatePin, TemplateUse
from preheat.state import loads as _loads
from preheat.state import uses as _uses
from preheat.state.connect import reading, writing
from preheat.templates.store import TemplateStore


class PinStatus(NamedTuple):
    """A loaded version, and whether it can be handed out."""

    pin: TemplatePin
    problem: str = ""
    """Why new sessions do not get it; empty if they do."""
    newer: str = ""
    """The digest of the template's current version, if that is another one."""


def load_pins(folder: str) -> dict[str, TemplatePin]:
    """The loaded versions, by project folder."""
    with reading(folder) as state:
        return _loads.loads(state)


def load_template(folder: str, project: str, wanted: str, at: float) -> TemplatePin:
    """Load a version (`name`, `name@digest` or `name@-1`) for a project."""
    found = TemplateStore(folder).find(wanted)
    pin = TemplatePin(found.name, found.digest, at)
    with writing(folder) as state:
        _loads.load_version(state, project, pin)
    return pin


def unload_template(folder: str, project: str) -> TemplatePin | None:
    """Unload the version of a project; the version, None if there was none."""
    if project not in load_pins(folder):
        return None
    with writing(folder) as state:
        return _loads.unload_version(state, project)


def pin_status(folder: str, pin: TemplatePin) -> PinStatus:
    """The state of a loaded version."""
    store = TemplateStore(folder)
    try:
        store.find(pin.address)
        live = store.state(pin.name).live
    except (UserError, OSError) as error:
        return PinStatus(pin, str(error))
    return PinStatus(pin, newer=live if live and live != pin.digest else "")


def pin_problems(folder: str) -> list[str]:
    """Loaded versions that cannot be handed out, a sentence each with what to do."""
    try:
        found = load_pins(folder)
    except UserError:  # reported as a fault of the state itself
        return []
    return [
        f"`{pin.title}` is loaded for `{project}` but not handed out: {stands.problem}; until then sessions there start "
        "with lessons, and `preheat warm load --none` there ends this"
        for project, pin in sorted(found.items())
        if (stands := pin_status(folder, pin)).problem
    ]


def record_use(folder: str, use: TemplateUse) -> None:
    """Record that a version was handed out."""
    with writing(folder) as state:
        _uses.record_use(state, use)


def load_uses(folder: str) -> list[TemplateUse]:
    """All recorded uses, the oldest first."""
    with reading(folder) as state:
        return _uses.uses(state)
