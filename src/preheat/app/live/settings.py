"""The settings below `[live]` in `settings.toml`: thresholds of the signals, and opt-in actions.

Knows no signal and no agent.
"""

import os
import tomllib
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from preheat.errors import UserError
from preheat.live.signal import DEFAULTS, Thresholds

SETTINGS = "settings.toml"

Block: TypeAlias = Literal["never", "critical", "high"]
StartAs: TypeAlias = Literal["text", "messages"]


class OptInActions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Actions that a person must opt in to, and that the agent's program must support."""

    shorten_output: bool = False
    """Long outputs of commands are shortened for the model; `preheat output` prints the full text of one."""
    block: Block = "never"
    """Commands that match a safety rule of this severity, or of a worse one, are refused."""
    hold_stop: bool = False
    """An agent that stops with changes that no check has covered is sent back once."""
    start_as: StartAs = "text"
    """The context of a new session: a text, or messages in which example calls are real calls."""


NO_ACTIONS = OptInActions()
_ACTION_NAMES = frozenset(OptInActions.__struct_fields__)
_EARLIER_NAMES = {"trust_misuse": "trust_mistake"}
"""Settings by the names that version 0.1.0 had for them."""
_Settings = TypeVar("_Settings", bound=msgspec.Struct)


def load_thresholds(folder: str) -> Thresholds:
    """The thresholds in Preheat's folder, with defaults for the missing ones. Raises UserError."""
    thresholds = {
        _EARLIER_NAMES.get(name, name): value
        for name, value in _read_section(folder).items()
        if name not in _ACTION_NAMES
    }
    return _with_defaults(DEFAULTS, thresholds, folder)


def load_section(folder: str, name: str, defaults: _Settings) -> _Settings:
    """The settings below another heading, with defaults for the missing ones. Raises UserError."""
    return _with_defaults(defaults, _read_section(folder, name), folder, name)


def load_actions(folder: str) -> OptInActions:
    """The opt-in actions in Preheat's folder, read apart from the thresholds: a wrong threshold must not turn them off. Raises
    UserError."""
    choices = {name: value for name, value in _read_section(folder).items() if name in _ACTION_NAMES}
    return _with_defaults(NO_ACTIONS, choices, folder)


def _read_section(folder: str, name: str = "live") -> dict[str, Any]:
    path = os.path.join(folder, SETTINGS)
    try:
        with open(path, "rb") as stream:
            section = tomllib.load(stream).get(name, {})
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"`{path}` is no TOML: {error}") from error
    if not isinstance(section, dict):
        raise UserError(f"`{path}`: `{name}` is no table; the defaults are used until that is repaired")
    return section


def _with_defaults(defaults: _Settings, settings: dict[str, Any], folder: str, heading: str = "live") -> _Settings:
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
