"""Makes the paths in a text relative, so that they are valid on another machine. Knows two folders and no session."""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.safe_text.cleanup import lower_if_plain
from preheat.text_cache import cache_short_texts

HOME = re.compile(
    r"(?i)(?<![\w.])(?:/(?:Users|home)/[^/\s\"'`:]+|/root|[A-Z]:[\\/]Users[\\/][^\\/\s\"'`:]+)(?=[\\/\s\"'`:]|$)"
)
"""A home folder."""
_WORKTREE = re.compile(r"[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].*$")
_HOME_HINTS = ("/home/", "/root", "users/", "users\\")
"""Texts of which a lower-case text has one if `HOME` can match in it."""


class _FolderSpellings(NamedTuple):
    """The spellings of a session's folders."""

    pattern: "re.Pattern[str]"
    """Matches any spelling, the longest first."""
    small: tuple[str, ...]
    """The spellings in lower case, for a quick check; empty if they are not ASCII."""


@lru_cache(maxsize=256)
def _folder_spellings(root: str, folder: str) -> _FolderSpellings | None:
    names = {name.rstrip("/\\") for name in (root, folder, _WORKTREE.sub("", folder)) if len(name.rstrip("/\\")) > 3}
    for name in list(names):
        if "\\" in name:  # the spellings of other shells and of quoted texts
            names.update((name.replace("\\", "/"), name.replace("\\", "\\\\")))
            if name[1:2] == ":":
                drive = f"/{name[0].lower()}{name[2:]}".replace("\\", "/")
                names.update((drive, f"/mnt{drive}", f"/cygdrive{drive}"))
    if not names:
        return None
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w.-])(?i:{either})(?:(?P<below>[\\/]+)(?=[\w.@\[({{*~-])|[\\/]*(?![\w.-]))")
    plain = all(name.isascii() for name in names)
    return _FolderSpellings(pattern, tuple(name.lower() for name in names) if plain else ())


@cache_short_texts
def make_paths_relative(text: str, root: str, folder: str = "") -> str:
    """A text with paths relative to the project, and to `~` elsewhere in a home folder."""
    if not text:
        return text
    found = _folder_spellings(root, folder)
    small = lower_if_plain(text)
    if found is not None and (small is None or not found.small or any(name in small for name in found.small)):
        text = found.pattern.sub(_below, text)
        small = None
    if small is not None and not any(part in small for part in _HOME_HINTS):
        return text
    return HOME.sub("~", text)


def _below(match: "re.Match[str]") -> str:
    return "" if match["below"] else "."
