"""Paths in a text, written so that they mean something on another machine. Knows no session: two folders are all it is told."""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.memory import remembered
from preheat.safe_text.letters import in_small_letters

HOME = re.compile(
    r"(?i)(?<![\w.])(?:/(?:Users|home)/[^/\s\"'`:]+|/root|[A-Z]:[\\/]Users[\\/][^\\/\s\"'`:]+)(?=[\\/\s\"'`:]|$)"
)
"""A person's home."""
_WORKTREE = re.compile(r"[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].*$")
_IN_HOMES = ("/home/", "/root", "users/", "users\\")
"""What a text must have in small letters for `HOME` to be in it."""


class _Roots(NamedTuple):
    """The ways in which the folders of a session may be written."""

    pattern: "re.Pattern[str]"
    """The longest first."""
    small: tuple[str, ...]
    """In small letters, to know at a glance whether a text has any; nothing where that cannot be told so."""


@lru_cache(maxsize=256)
def _roots(root: str, folder: str) -> _Roots | None:
    names = {name.rstrip("/\\") for name in (root, folder, _WORKTREE.sub("", folder)) if len(name.rstrip("/\\")) > 3}
    for name in list(names):
        if "\\" in name:  # the same folder as other shells write it, and as it stands in a quoted text
            names.update((name.replace("\\", "/"), name.replace("\\", "\\\\")))
            if name[1:2] == ":":
                drive = f"/{name[0].lower()}{name[2:]}".replace("\\", "/")
                names.update((drive, f"/mnt{drive}", f"/cygdrive{drive}"))
    if not names:
        return None
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.-])(?i:{either})(?:(?P<below>[\\/]+)(?=[\w.@\[({{*~-])|[\\/]*(?![\w.-]))")
    plain = all(name.isascii() for name in names)
    return _Roots(pattern, tuple(name.lower() for name in names) if plain else ())


@remembered
def relative(text: str, root: str, folder: str = "") -> str:
    """A text whose paths begin at the project, and at `~` where they lie elsewhere in a person's home."""
    if not text:
        return text
    found = _roots(root, folder)
    small = in_small_letters(text)
    if found is not None and (small is None or not found.small or any(name in small for name in found.small)):
        text = found.pattern.sub(_below, text)
        small = None
    if small is not None and not any(part in small for part in _IN_HOMES):
        return text
    return HOME.sub("~", text)


def _below(match: "re.Match[str]") -> str:
    return "" if match["below"] else "."
