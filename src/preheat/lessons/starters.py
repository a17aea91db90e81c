"""Which programs a command starts by others: `npx vercel`, `corepack pnpm exec vitest`, `docker compose exec web pytest`.

Knows one command, and no session.
"""

import re

from preheat.commands.words import name_set

_STARTING = name_set("npx bunx uvx")
"""Programs that start the one after them."""
_BY_WORD = {
    "uv": "run", "poetry": "run", "pdm": "run", "pipenv": "run", "hatch": "run", "bundle": "exec", "mise": "exec", "pnpm": "exec",
    "yarn": "exec", "npm": "exec", "fnm": "exec", "asdf": "exec", "rbenv": "exec", "pyenv": "exec",
}  # fmt: skip
"""Programs that start the one after this word."""
_BY_DASHES = {"doppler": "run", "op": "run", "devbox": "run"}
"""Programs that start what stands after `--`."""
_BY_OPTION = {"nix": name_set("-c --command")}
_BY_PLACE = (
    ("docker", "compose", "exec"),
    ("docker-compose", "exec"),
    ("podman", "exec"),
    ("docker", "exec"),
    ("direnv", "exec"),
)
"""Words after which the place (a service, a container, a folder) stands, and then the program."""
_VALUED = name_set("--using --fnm-dir -e --env -u --user -w --workdir --index --package -p")
"""Options whose value is the next word."""
PACKAGE_MANAGERS = name_set("npm pnpm yarn")
_PROGRAM = re.compile(r"[a-z][\w-]{1,30}")
_MOST = 3


def find_starters(text: str) -> list[tuple[str, str]]:
    """The programs that a command starts by others, each with the words up to it: `vercel` and `npx --yes vercel@latest`."""
    words = text.split()
    found: list[tuple[str, str]] = []
    start = 0
    while len(found) < _MOST:
        place = _find_started(words, start)
        name = words[place].partition("@")[0] if place else ""
        if not _PROGRAM.fullmatch(name):
            break
        found.append((name, " ".join(words[: place + 1])))
        start = place
    return found


def _find_started(words: list[str], start: int) -> int:
    """Where the program stands that the one at `start` starts; 0 where it starts none."""
    first = words[start] if start < len(words) else ""
    second = words[start + 1] if start + 1 < len(words) else ""
    if first == "corepack":
        return start + 1 if second.partition("@")[0] in PACKAGE_MANAGERS else 0
    if first in _BY_OPTION or _BY_DASHES.get(first) == second != "":
        marks = _BY_OPTION.get(first, frozenset(("--",)))
        place = next((index for index in range(start + 1, len(words)) if words[index] in marks), len(words)) + 1
        return place if place < len(words) else 0
    for begin in _BY_PLACE:
        if tuple(words[start : start + len(begin)]) == begin:
            place = _skip_options(words, start + len(begin))
            return _skip_options(words, place + 1) if place else 0
    if first in _STARTING or _BY_WORD.get(first) == second != "":
        return _skip_options(words, start + (1 if first in _STARTING else 2))
    return 0


def _skip_options(words: list[str], start: int) -> int:
    """The first word from `start` on that is no option; 0 where there is none."""
    place = start
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _VALUED else 1
    return place if place < len(words) else 0
