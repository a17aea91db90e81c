"""What is used instead of a program that the shell did not find: the same one, started otherwise, or another in its place.

Knows no session: it compares the call that failed with one that ran soon after.
"""

import re
from typing import Protocol

from preheat.commands.words import name_set
from preheat.lessons.typed_commands import TypedCommand, split_commands
from preheat.safe_text.command_slot import fit_command
from preheat.safe_text.reasons import junk_reason
from preheat.safe_text.words import CUT

_MOST_WORDS = 5
"""Words of a command among which the program stands."""
_ASKING = name_set(
    "which type command ls cat find grep rg fd head tail file stat echo brew apt apt-get dnf yum pacman apk winget choco"
    " whereis where mdfind locate man"
)
"""Programs that look for another, or install it, and do not run it."""
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_WITH_DASHES = frozenset(["mise", "nix", "devbox", "doppler"])
"""Programs that start another one only behind `--`; a name before it is that of a package."""
_INSTALLING = frozenset(["install", "add", "i", "uninstall", "remove", "update", "upgrade"])


class MissingProgram(Protocol):
    """A program that the shell did not find, with the text of the call."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...


def find_replacement(missing: MissingProgram, command: TypedCommand) -> str:
    """How a command starts a program that was missing, or what it runs in its place with the same arguments; empty if it does
    neither."""
    words = command.text.split()
    while words and _VARIABLE.match(words[0]):
        words = words[1:]
    if not words or words[0] == missing.name or words[0] in _ASKING or not _INSTALLING.isdisjoint(words[1:3]):
        return ""
    if words[:2] == ["mise", "x"]:
        words[1] = "exec"  # its long name
    # Before the dashes stand options, and what is to be installed.
    begin = words.index("--") + 1 if "--" in words[:_MOST_WORDS] else 0
    if words[0] in _WITH_DASHES and not begin:
        return ""
    for place, word in enumerate(words[: max(_MOST_WORDS, begin + 1)]):
        if place < begin:
            continue
        is_value = place > 0 and words[place - 1].startswith("--") and words[place - 1] != "--"
        if place == 1 and (words[0], word) == ("uv", "python"):  # it manages versions and runs nothing
            return ""
        if word.rpartition("/")[2].partition("@")[0] == missing.name and not is_value:
            found = " ".join(words[: place + 1])
            return "" if junk_reason(found) or found.startswith("/") or CUT in fit_command(found) else found
    return words[0] if _has_same_arguments(missing, words) and not words[0].startswith("/") else ""


_PLACE = re.compile(r"(?:/usr|/opt|/snap|/nix|~|\$HOME)/[\w./@+-]*[\w+-]")
"""Where a program may stand on more machines than one."""
_USUAL_PLACES = frozenset(("/usr/bin", "/usr/sbin", "/usr/local/bin"))
_PATH = re.compile(r"(?:^|[\s;&])PATH=(\"[^\"]*\"|[^\s;&]+)")


def find_place(missing: MissingProgram, command: TypedCommand, text: str) -> str:
    """Where a later call found a program that was missing: its path, or the assignment of `PATH` before it; empty for others."""
    words = command.text.split()
    while words and _VARIABLE.match(words[0]):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != missing.name:
        return ""
    if _PLACE.fullmatch(words[0]):
        return words[0]
    assigned = _PATH.search(text)
    if words[0] != missing.name or assigned is None:
        return ""
    folders = [each for each in assigned[1].strip('"').split(":") if _PLACE.fullmatch(each)]
    folders = [each for each in folders if each not in _USUAL_PLACES]
    return f"export PATH={':'.join(folders)}:$PATH" if folders else ""


def is_place(instead: str) -> bool:
    """Whether what is used instead is the same program at another place."""
    return instead.startswith("export PATH=") or _PLACE.fullmatch(instead) is not None


def _has_same_arguments(missing: MissingProgram, words: list[str]) -> bool:
    """Whether the program that was not found was called with the very arguments of a command."""
    return any(
        typed.program == missing.name and typed.text.split()[1:] == words[1:] != []
        for typed in split_commands(missing.text)
    )
