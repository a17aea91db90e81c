"""Reads a section of `settings.toml` in Preheat's folder, with defaults for what it does not set.

Knows no setting.
"""

import os
import tomllib
from typing import Any, TypeVar

import msgspec

from preheat.errors import UserError
from preheat.files import read_text

SETTINGS = "settings.toml"

_Settings = TypeVar("_Settings", bound=msgspec.Struct)


def load_section(folder: str, name: str, defaults: _Settings) -> _Settings:
    """The settings below a heading, with defaults for the missing ones. Raises UserError."""
    return with_defaults(defaults, read_section(folder, name), folder, name)


def read_section(folder: str, name: str) -> dict[str, Any]:
    """The settings below a heading, as they stand; none without a file. Raises UserError."""
    path = os.path.join(folder, SETTINGS)
    try:
        section = tomllib.loads(read_text(path)).get(name, {})
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror}") from error
    except RecursionError as error:
        raise UserError(f"`{path}` is nested too deeply to be read") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"`{path}` is no TOML: {error}") from error
    if not isinstance(section, dict):
        raise UserError(f"`{path}`: `{name}` is no table; the defaults are used until that is repaired")
    return section


def with_defaults(defaults: _Settings, settings: dict[str, Any], folder: str, heading: str) -> _Settings:
    """The defaults, with these settings in their place. Raises UserError."""
    known = msgspec.to_builtins(defaults)
    try:
        return msgspec.convert(
            {**known, **{name: _merge_phases(known.get(name), value) for name, value in settings.items()}},
            type(defaults),
        )
    except msgspec.ValidationError as error:
        path = os.path.join(folder, SETTINGS)
        raise UserError(
            f"`{path}`, below `[{heading}]`: {error}; the defaults are used until that is repaired"
        ) from error


def _merge_phases(default: object, value: object) -> object:
    """A setting with a number for each phase may be given for some phases only."""
    return {**default, **value} if isinstance(default, dict) and isinstance(value, dict) else value
