"""What the person has set below `[live]` in `settings.toml`: the numbers that steer the signals, and what may be done beyond
speaking.

Knows none of the signals and no host.
"""

import os
import tomllib
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from preheat.errors import UserError
from preheat.live.thresholds import DEFAULTS, Thresholds

SETTINGS = "settings.toml"

Block: TypeAlias = Literal["never", "critical", "high"]
StartAs: TypeAlias = Literal["text", "messages"]


class Choices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done only where the person asks for it, and the agent's program lets us."""

    shorten_output: bool = False
    """Long outputs of commands go before the model in short; `preheat output` prints the whole of one."""
    block: Block = "never"
    """Commands that meet a safety rule of this severity, or a worse one, are refused."""
    hold_stop: bool = False
    """An agent that stops with files that no check has seen is sent back once."""
    start_as: StartAs = "text"
    """What a new session is given: a text, or messages in which calls that worked stand as calls."""


NOTHING_MORE = Choices()
_CHOICES = frozenset(Choices.__struct_fields__)
_EARLIER = {"trust_misuse": "trust_mistake"}
"""Settings by the names that version 0.1.0 had for them."""
_Any = TypeVar("_Any", bound=msgspec.Struct)


def thresholds_in(folder: str) -> Thresholds:
    """The numbers in Preheat's folder, the defaults for those that are not there. Raises UserError."""
    given = {_EARLIER.get(name, name): value for name, value in _given(folder).items() if name not in _CHOICES}
    return _over(DEFAULTS, given, folder)


def section(folder: str, name: str, usual: _Any) -> _Any:
    """What stands below another heading, over its defaults. Raises UserError."""
    return _over(usual, _given(folder, name), folder, name)


def choices_in(folder: str) -> Choices:
    """The choices in Preheat's folder. Apart from the numbers: a mistake in one of those takes nobody's guard away. Raises
    UserError."""
    given = {name: value for name, value in _given(folder).items() if name in _CHOICES}
    return _over(NOTHING_MORE, given, folder)


def _given(folder: str, name: str = "live") -> dict[str, Any]:
    path = os.path.join(folder, SETTINGS)
    try:
        with open(path, "rb") as stream:
            given = tomllib.load(stream).get(name, {})
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"`{path}` cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"`{path}` is no TOML: {error}") from error
    if not isinstance(given, dict):
        raise UserError(f"`{path}`: `{name}` is no table; the defaults are used until that is mended")
    return given


def _over(usual: _Any, given: dict[str, Any], folder: str, heading: str = "live") -> _Any:
    known = msgspec.to_builtins(usual)
    try:
        return msgspec.convert(
            {**known, **{name: _part(known.get(name), value) for name, value in given.items()}}, type(usual)
        )
    except msgspec.ValidationError as error:
        path = os.path.join(folder, SETTINGS)
        raise UserError(
            f"`{path}`, below `[{heading}]`: {error}; the defaults are used until that is mended"
        ) from error


def _part(usual: object, given: object) -> object:
    """A number for each phase may be given for some of them only."""
    return {**usual, **given} if isinstance(usual, dict) and isinstance(given, dict) else given
