"""Cline: where it keeps its sessions, below `~/.cline/data` (CLI) and in the editors' storage (extension, Roo, Kilo).

Light: every sync imports this. Knows nothing of what is inside the files.
"""

from __future__ import annotations

import os
import sys

from preheat.agents.places import Places, SourceFile, files_below, source_at, stamp_of
from preheat.settings import home_folder

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from preheat.agents.places import PathNames

MESSAGES = ".messages.json"
MANIFEST = ".json"
COMPACTION = ".compaction.json"
HISTORY = "api_conversation_history.json"
HISTORY_ITEM = "history_item.json"
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".cursor-server")


def roots(environment: Mapping[str, str]) -> list[str]:
    """The CLI's sessions (`CLINE_SESSION_DATA_DIR`, `CLINE_DATA_DIR`, `CLINE_DIR`), and the editors' task folders."""
    cline_folder = environment.get("CLINE_DIR") or os.path.join(home_folder(environment), ".cline")
    data = environment.get("CLINE_DATA_DIR") or os.path.join(cline_folder, "data")
    sessions = environment.get("CLINE_SESSION_DATA_DIR") or os.path.join(data, "sessions")
    stores = [os.path.join(_settings(environment), editor, "User", "globalStorage") for editor in _EDITORS]
    stores += [os.path.join(home_folder(environment), name, "data", "User", "globalStorage") for name in _SERVERS]
    # Only existing folders: `doctor` would list two dozen missing ones.
    tasks = [os.path.join(store, name, "tasks") for store in stores if os.path.isdir(store) for name in _EXTENSIONS]
    return [sessions, *filter(os.path.isdir, tasks)]


def _settings(environment: Mapping[str, str]) -> str:
    """The folder where editors keep a person's data."""
    if sys.platform == "win32":
        return environment.get("APPDATA") or os.path.join(home_folder(environment), "AppData", "Roaming")
    if sys.platform == "darwin":
        return os.path.join(home_folder(environment), "Library", "Application Support")
    return environment.get("XDG_CONFIG_HOME") or os.path.join(home_folder(environment), ".config")


def discover(root: str) -> Iterator[SourceFile]:
    """The messages file of every session; its stamp includes the files beside it."""
    for found in files_below(root, (MESSAGES, HISTORY), depth=1):
        yield _with_companions(found)


def locate(path: str) -> SourceFile | None:
    """One file that the person named, with the same stamp."""
    found = source_at(path)
    return _with_companions(found) if found is not None and path.endswith((MESSAGES, HISTORY)) else found


def _with_companions(found: SourceFile) -> SourceFile:
    return SourceFile(found.path, found.size, f"{found.stamp}{companions_stamp(found.path)}")


def companion_files(messages: str) -> list[str]:
    """The files beside the messages that describe the same session."""
    if messages.endswith(MESSAGES):
        stem = messages[: -len(MESSAGES)]
        return [f"{stem}{MANIFEST}", f"{stem}{COMPACTION}"]
    return [os.path.join(os.path.dirname(messages), HISTORY_ITEM)]


def companions_stamp(messages: str) -> str:
    """A stamp that changes when one of the companion files is written."""
    stamp = ""
    for path in companion_files(messages):
        try:
            stamp += f"+{stamp_of(os.stat(path))}"
        except OSError:
            continue
    return stamp


def companions(path: str, names: PathNames) -> list[str]:
    """The messages of a session and the files beside them that are there, with that of the session whose subagent it may be."""
    messages = _messages_of(path)
    if messages not in names:
        return []
    folder = path.rpartition("/")[0]
    beside = [messages, *(each.replace(os.sep, "/") for each in companion_files(messages))]
    parent = f"{folder}/{folder.rpartition('/')[2]}{MANIFEST}"
    return [each for each in dict.fromkeys((*beside, parent)) if each in names and each != path]


def _messages_of(path: str) -> str:
    """The file of messages of the session that a file belongs to; empty if it has no such name."""
    if path.endswith((MESSAGES, HISTORY)):
        return path
    if path.endswith(HISTORY_ITEM):
        return path.removesuffix(HISTORY_ITEM) + HISTORY
    return path.removesuffix(MANIFEST) + MESSAGES if path.endswith(MANIFEST) else ""


INSTRUCTIONS = (".clinerules", "AGENTS.md")
"""Files of a project that the program puts before its model by itself."""
PLACES = Places("cline", "Cline", 1, roots, discover, locate, companions)
