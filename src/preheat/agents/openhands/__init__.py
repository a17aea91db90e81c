"""OpenHands: where it keeps its conversations, a folder each, with the state beside a folder of events.

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

STATE = "base_state.json"
EVENTS = "events"
SUBAGENTS = "subagents"


def roots(environment: Mapping[str, str]) -> list[str]:
    """`OPENHANDS_CONVERSATIONS_DIR`, else `conversations` in the program's folder."""
    override = environment.get("OPENHANDS_CONVERSATIONS_DIR")
    if override:
        return [override]
    openhands_folder = environment.get("OPENHANDS_PERSISTENCE_DIR") or os.path.join(
        home_folder(environment), ".openhands"
    )
    return [os.path.join(openhands_folder, "conversations")]


def discover(root: str) -> Iterator[SourceFile]:
    """The state of every conversation, and of its subagents' conversations."""
    folders = _folders(root, links=True)
    while folders:
        folder = folders.pop()
        found = conversation_at(folder)
        if found is not None:
            yield found
        folders += _folders(os.path.join(folder, SUBAGENTS))


def conversation_at(folder: str) -> SourceFile | None:
    """One conversation; its stamp changes when its state is written or an event is added."""
    path = os.path.join(folder, STATE)
    status = file_status(path)
    if status is None:
        return None
    size, stamp = status.st_size, stamp_of(status)
    for name in (EVENTS, SUBAGENTS):
        try:
            added = os.stat(os.path.join(folder, name))
        except OSError:
            continue
        # A folder's time changes with every new file; event files are never rewritten.
        size, stamp = size + added.st_size, f"{stamp}+{added.st_mtime_ns}"
    return SourceFile(path, size, stamp)


def _folders(root: str, links: bool = False) -> list[str]:
    """The folders in one; `links`: also those that links lead to, which further down could lead round and round."""
    try:
        with os.scandir(root) as entries:
            return sorted((entry.path for entry in entries if entry.is_dir(follow_symlinks=links)), reverse=True)
    except OSError:
        return []


def locate(path: str) -> SourceFile | None:
    """A conversation by the file of its state; any other file by itself."""
    return conversation_at(os.path.dirname(path)) if os.path.basename(path) == STATE else source_at(path)


def companions(path: str, names: PathNames) -> Iterator[str]:
    """The events of a conversation, and the states of its subagents' conversations and of the one that it is a subagent of."""
    folder, _, name = path.rpartition("/")
    if name != STATE:
        return
    yield from names.below(f"{folder}/{EVENTS}")
    for each in names.below(f"{folder}/{SUBAGENTS}"):
        if each.endswith(f"/{STATE}") and each.count("/") == folder.count("/") + 3:
            yield each
    above, _, group = folder.rpartition("/")[0].rpartition("/")
    if group == SUBAGENTS and f"{above}/{STATE}" in names:
        yield f"{above}/{STATE}"


INSTRUCTIONS = ("AGENTS.md", ".openhands/microagents/repo.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("openhands", "OpenHands", 1, roots, discover, locate, companions)
