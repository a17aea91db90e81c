"""One simple command by its words: what it starts, and what that is for. Knows no shell syntax and no other command."""

from functools import lru_cache

import msgspec

from preheat.commands.purposes import purpose_of
from preheat.commands.values import Command
from preheat.commands.words import base_name
from preheat.commands.wrappers import SCRIPTED, script_of, unwrap

_FEW, _SHORT = 3, 100
"""Words, and characters, of a command that is remembered: `cd app` and `tail -5` come again, a long one hardly does."""


class SingleCommand(msgspec.Struct, frozen=True, gc=False):
    command: Command
    script: str | None
    """What a shell is started with: `bash -c SCRIPT`."""


def read_single(words: tuple[str, ...], writes: bool) -> SingleCommand:
    """The command that some words are. `writes`: its output goes into a file."""
    if len(words) <= _FEW and len("".join(words)) <= _SHORT:
        return _remembered_single(words, writes)
    return _single(words, writes)


def _single(words: tuple[str, ...], writes: bool) -> SingleCommand:
    words, wrappers = unwrap(words)
    program = base_name(words[0])
    purpose = purpose_of(words, writes, wrappers[-1] if wrappers else "", program)
    return SingleCommand(Command(program, words, purpose, wrappers), script_of(words) if program in SCRIPTED else None)


_remembered_single = lru_cache(maxsize=1024)(_single)
