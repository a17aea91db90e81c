"""The settings below `[live]` in `settings.toml`: thresholds of the signals, and opt-in actions.

Knows no signal and no agent.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.live.signal import DEFAULTS, Thresholds
from preheat.settings_file import SETTINGS as SETTINGS
from preheat.settings_file import read_section, with_defaults

Block: TypeAlias = Literal["never", "critical", "high"]
StartAs: TypeAlias = Literal["text", "messages"]


class OptInActions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Actions that a person must opt in to, and that the agent's program must support."""

    shorten_output: bool = False
    """Long outputs of commands are shortened for the model; `preheat admin output` prints the full text of one."""
    block: Block = "never"
    """Commands that match a safety rule of this severity, or of a worse one, are refused."""
    hold_stop: bool = False
    """An agent that stops with changes that no check has covered is sent back once."""
    hold: bool = False
    """A call that is known to fail here is held once, with the reason and what works; the same call then passes."""
    start_as: StartAs = "text"
    """The context of a new session: a text, or messages in which example calls are real calls."""
    orientation: bool = True
    """Files that a prompt may need are named with it; on unless it is turned off."""
    receipt_line: bool = True
    """At the end of a turn a line says what the session was told and what came of it, if that is new; on unless turned off."""


NO_ACTIONS = OptInActions()
_ACTION_NAMES = frozenset(OptInActions.__struct_fields__)
_EARLIER_NAMES = {"trust_misuse": "trust_mistake"}
"""Settings by the names that version 0.1.0 had for them."""


def load_thresholds(folder: str) -> Thresholds:
    """The thresholds in Preheat's folder, with defaults for the missing ones. Raises UserError."""
    thresholds = {
        _EARLIER_NAMES.get(name, name): value
        for name, value in read_section(folder, "live").items()
        if name not in _ACTION_NAMES
    }
    return with_defaults(DEFAULTS, thresholds, folder, "live")


def load_actions(folder: str) -> OptInActions:
    """The opt-in actions in Preheat's folder, read apart from the thresholds: a wrong threshold must not turn them off. Raises
    UserError."""
    choices = {name: value for name, value in read_section(folder, "live").items() if name in _ACTION_NAMES}
    return with_defaults(NO_ACTIONS, choices, folder, "live")
