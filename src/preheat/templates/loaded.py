"""Which template the new sessions of a project start with: one small file beside the templates. Knows no lesson.

    loaded.json   by the project's folder: the version, by its whole digest, and since when

A version is pinned: building the name anew does not change what sessions get, loading it again does. A file that is damaged
loads nothing, and whoever changes it is told; a session that starts is never held up by it.
"""

import os
from typing import NamedTuple

import msgspec

from preheat.errors import UserError
from preheat.model.template import short_digest
from preheat.templates.digest import canonical
from preheat.templates.files import locked, write_whole
from preheat.templates.store import Store

FILE = "loaded.json"


class Pin(msgspec.Struct, frozen=True):
    """One version that was loaded."""

    name: str
    digest: str
    at: float

    @property
    def address(self) -> str:
        """As `Store.find` takes it."""
        return f"{self.name}@{self.digest}"

    @property
    def title(self) -> str:
        """`name@3fa2b1c0d4`, for people."""
        return f"{self.name}@{short_digest(self.digest)}"


class Standing(NamedTuple):
    """A loaded version as it is now."""

    pin: Pin
    problem: str = ""
    """Why new sessions do not get it; empty where they do."""
    newer: str = ""
    """The digest of the version that the name stands for now, where that is another one."""


_PINS = msgspec.json.Decoder(dict[str, Pin])


def pins(folder: str) -> dict[str, Pin]:
    """What is loaded, by the projects' folders. Raises UserError where that cannot be read."""
    path = _path(folder)
    try:
        with open(path, "rb") as stream:
            return _PINS.decode(stream.read())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror or error}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(
            f"`{path}` is damaged ({error}); delete it, and `preheat warm load` what you want anew"
        ) from error


def load_for(folder: str, project: str, wanted: str, at: float) -> Pin:
    """New sessions of a project start with this version from now on: `name`, `name@digest` or `name@-1`."""
    store = Store(folder)
    found = store.find(wanted)
    with locked(store.folder):
        pin = Pin(found.name, found.digest, at)
        _write(folder, {**pins(folder), project: pin})
    return pin


def unload(folder: str, project: str) -> Pin | None:
    """New sessions of a project start with what was learned again. What was loaded."""
    if project not in pins(folder):
        return None
    with locked(Store(folder).folder):
        found = pins(folder)
        pin = found.pop(project, None)
        _write(folder, found)
    return pin


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
    except UserError as error:
        return [str(error)]
    return [
        f"`{pin.title}` is loaded for `{project}` but not handed out: {stands.problem}; until then sessions there start "
        "with what was learned, and `preheat warm load --none` there ends this"
        for project, pin in sorted(found.items())
        if (stands := standing(folder, pin)).problem
    ]


def _path(folder: str) -> str:
    return os.path.join(Store(folder).folder, FILE)


def _write(folder: str, found: dict[str, Pin]) -> None:
    write_whole(_path(folder), msgspec.json.format(canonical(found), indent=1))
