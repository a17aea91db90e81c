"""A small working tree in memory, as the rules may look at it."""

from posixpath import basename, dirname, join, splitext

from preheat.answers import PlannedCall
from preheat.answers.values import Listener, PathKind, is_below

ROOT = "/work/shop"


class MemoryTree:
    """Files of a project by path, relative to it, with their texts; `hidden` ones cannot be looked at."""

    def __init__(self, files: dict[str, str], hidden: frozenset[str] = frozenset()) -> None:
        self.root = ROOT
        self.files = {join(ROOT, path): text for path, text in files.items()}
        self.folders = {ROOT}
        for path in self.files:
            while (path := dirname(path)) not in self.folders:
                self.folders.add(path)
        self.hidden = hidden
        self.dead_links: dict[str, str] = {}
        self.listeners: dict[int, Listener] = {}
        self.programs: dict[str, str] = {}

    def kind(self, path: str) -> PathKind:
        if path in self.hidden or path in self.dead_links or not is_below(path, ROOT):
            return "unknown"
        return "file" if path in self.files else "folder" if path in self.folders else "none"

    def find_dead_link(self, path: str) -> str:
        return self.dead_links.get(path, "")

    def names_in(self, folder: str) -> tuple[str, ...] | None:
        if folder not in self.folders:
            return None
        below = [
            path[len(folder) + 1 :]
            for path in (*self.files, *self.folders, *self.dead_links)
            if path.startswith(f"{folder}/")
        ]
        return tuple(sorted({path.split("/")[0] for path in below}))

    def find(self, name: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in (*self.files, *self.folders) if basename(path).lower() == name.lower()))

    def find_stem(self, stem: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if splitext(basename(path))[0].lower() == stem.lower()))

    def find_program(self, name: str) -> str:
        return self.programs.get(name, "")

    def find_listener(self, port: int) -> Listener | None:
        return self.listeners.get(port)

    def read_text(self, path: str) -> str | None:
        return self.files.get(path)


def shell(command: str, folder: str = ROOT) -> PlannedCall:
    return PlannedCall("shell", "Bash", {"command": command}, folder)


def reading(path: str) -> PlannedCall:
    return PlannedCall("read", "Read", {"file_path": path}, ROOT)


def editing(path: str, old: str, new: str = "new text") -> PlannedCall:
    return PlannedCall("edit", "Edit", {"file_path": path, "old_string": old, "new_string": new}, ROOT)
