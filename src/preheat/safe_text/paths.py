"""Paths in a text, written so that they mean something on another machine. Knows no session: two folders are all it is told."""

import re
from functools import lru_cache

HOME = re.compile(
    r"(?i)(?<![\w.])(?:/(?:Users|home)/[^/\s\"'`:]+|/root|[A-Z]:[\\/]Users[\\/][^\\/\s\"'`:]+)(?=[\\/\s\"'`:]|$)"
)
"""A person's home."""
_WORKTREE = re.compile(r"[\\/]\.(?:[\w-]+[\\/])?worktrees[\\/].*$")


@lru_cache(maxsize=256)
def _roots(root: str, folder: str) -> "re.Pattern[str] | None":
    """The ways in which the folders of a session may be written, the longest first."""
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
    return re.compile(rf"(?<![\w.-])(?i:{either})(?:(?P<below>[\\/]+)(?=[\w.@\[({{*~-])|[\\/]*(?![\w.-]))")


def relative(text: str, root: str, folder: str = "") -> str:
    """A text whose paths begin at the project, and at `~` where they lie elsewhere in a person's home."""
    found = _roots(root, folder)
    if found is not None and text:
        text = found.sub(lambda match: "" if match["below"] else ".", text)
    return HOME.sub("~", text)
