"""OpenCode: where it keeps its sessions, a database for each release channel and the tree of files of older versions.

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os

from preheat.agents.places import Places, SourceFile, file_status, source_at, stamp_of
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from preheat.agents.places import PathNames

DATABASES = (".db", ".sqlite", ".sqlite3")
"""Endings of a database's name; the name decides how a file is read."""


def roots(environment: Mapping[str, str]) -> list[str]:
    """The program's data folder, the same on every system; and the database that `OPENCODE_DB` names."""
    data = environment.get("XDG_DATA_HOME") or os.path.join(home_folder(environment), ".local", "share")
    folder = os.path.join(data, "opencode")
    named = environment.get("OPENCODE_DB") or ""
    if not named.endswith(DATABASES):  # also `:memory:`
        return [folder]
    return [folder, os.path.join(folder, named)]


def discover(root: str) -> Iterator[SourceFile]:
    """The root itself if it is a database; else every channel's database in the folder, and the sessions of the tree."""
    if root.endswith(DATABASES):
        found = source_at(root)
        if found is not None:
            yield found
        return
    for name in _names(root):
        if name.startswith("opencode") and name.endswith(DATABASES):
            found = source_at(os.path.join(root, name))
            if found is not None:
                yield found
    storage = os.path.join(root, "storage")
    sessions = os.path.join(storage, "session")
    for project in _names(sessions):
        for name in _names(os.path.join(sessions, project)):
            if name.startswith("ses_") and name.endswith(".json"):
                found = _session_in_tree(storage, os.path.join(sessions, project, name))
                if found is not None:
                    yield found


def in_tree(path: str) -> bool:
    """Whether a path is a session's own file in the tree, `storage/session/<project>/ses_….json`."""
    folders = path.replace("\\", "/").split("/")
    return folders[-4:-2] == ["storage", "session"] and folders[-1].startswith("ses_") and folders[-1].endswith(".json")


def locate(path: str) -> SourceFile | None:
    """One file that the person named, with the other files of its session if it is in the tree."""
    storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    return _session_in_tree(storage, path) if in_tree(path) else source_at(path)


def _session_in_tree(storage: str, path: str) -> SourceFile | None:
    """A session of the tree, with a stamp over the few files that show whether anything in it has changed.

    A new message changes the time of the folder of messages. Parts are rewritten in place only while their message is the
    newest, so only the files of the newest message are looked at one by one.
    """
    own = file_status(path)
    if own is None:
        return None
    size, stamp = own.st_size, stamp_of(own)
    messages = os.path.join(storage, "message", os.path.basename(path)[: -len(".json")])
    watched = [messages]
    for name in _names(messages)[-1:]:
        parts = os.path.join(storage, "part", name[: -len(".json")])
        watched += [os.path.join(messages, name), parts, *(os.path.join(parts, part) for part in _names(parts))]
    times = 0
    for place in watched:
        try:
            status = os.stat(place)
        except OSError:
            continue
        size, times = size + status.st_size, times + status.st_mtime_ns
    return SourceFile(path, size, f"{stamp}+{len(watched)}:{size}:{times}")


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def companions(path: str, names: PathNames) -> Iterator[str]:
    """The messages of a session in the tree, and their parts."""
    if not in_tree(path):
        return
    storage, _, name = path.rpartition("/session/")
    session = name.rpartition("/")[2].removesuffix(".json")
    for message in names.below(f"{storage}/message/{session}"):
        yield message
        yield from names.below(f"{storage}/part/{message.rpartition('/')[2].removesuffix('.json')}")


INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("opencode", "OpenCode", 1, roots, discover, locate, companions)
