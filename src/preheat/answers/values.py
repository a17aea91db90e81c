"""What the rules of this stage get and give: a call, what may be looked at, what the session did, an answer. Decides nothing."""

from posixpath import isabs, join, normpath, relpath
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from preheat.model.session import ToolKind

PathKind: TypeAlias = Literal["file", "folder", "none", "unknown"]
"""What is at a path; `unknown` where it must not or could not be looked at. `none` is said only when it is sure."""

RuleName: TypeAlias = Literal[
    "missing path", "edit text", "script", "flag", "program", "module", "folder", "lock", "port", "commit hook",
    "known failure", "quotes",
]  # fmt: skip


class Listener(NamedTuple):
    """The process that listens on a port of this machine."""

    process: int = 0
    """Its number; 0: none does."""
    program: str = ""
    folder: str = ""
    """Where it runs, absolute."""


class ProjectFiles(Protocol):
    """What may be looked at. Each answer is quick and bounded; where a limit is reached it is `unknown`, None or empty."""

    @property
    def root(self) -> str:
        """The project's folder, absolute."""

    def kind(self, path: str) -> PathKind:
        """What is at an absolute path."""

    def find_dead_link(self, path: str) -> str:
        """What a link at an absolute path points to, absolute, where nothing is there; empty for all else."""

    def names_in(self, folder: str) -> tuple[str, ...] | None:
        """The names in a folder (absolute); None if it cannot be listed, or has too many."""

    def find(self, name: str) -> tuple[str, ...]:
        """Absolute paths of files and folders of the project with this name, in any case."""

    def find_stem(self, stem: str) -> tuple[str, ...]:
        """Absolute paths of files of the project with this name before the ending, in any case."""

    def read_text(self, path: str) -> str | None:
        """The text of a file as it is now; None if it is too large, no text or cannot be read."""

    def find_program(self, name: str) -> str:
        """Where a program is on this machine, outside of the project, in a folder in which installers put programs; empty if in
        none. Below the person's home folder it begins with `~`."""

    def find_listener(self, port: int) -> Listener | None:
        """Who listens on a port; None where that cannot be told."""


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that is about to be made, or was."""

    kind: ToolKind
    tool: str
    arguments: dict[str, Any]
    folder: str
    """Where it runs, absolute; empty if it is not known."""

    def absolute(self, path: str) -> str:
        """A path of the call, absolute; empty if that cannot be said."""
        if isabs(path):
            return normpath(path)
        return normpath(join(self.folder, path)) if isabs(self.folder) else ""

    def show(self, path: str) -> str:
        """An absolute path as one would type it in the call's folder."""
        return relpath(path, self.folder) if isabs(self.folder) else path


class Failure(msgspec.Struct, frozen=True):
    """A call that failed, and what came back."""

    call: PlannedCall
    text: str


class SessionFacts(msgspec.Struct, frozen=True):
    """What the session itself did so far, by its calls."""

    edits: dict[str, int] = {}
    """By file, relative to the project: how often it was changed."""
    refuses_patterns: bool = False
    """A command was refused because a pattern of it matched no file."""
    files: tuple[str, ...] = ()
    """Files that it read, changed or made, relative to the project, the latest last."""
    moves: dict[str, str] = {}
    """Where it moved a file, by the path that the file had."""
    absent: tuple[str, ...] = ()
    """Files and folders that it removed, or could not write, relative to the project: that these are missing is no news to it."""
    missing_programs: frozenset[str] = frozenset()
    """Programs that the shell did not find, and that did not run since."""
    uses: dict[str, str] = {}
    """How a program was started that worked by a path or by another program (`target/debug/tool`), by its name."""
    moved: bool = False
    """A command went to another folder, where a shell that goes on from call to call stays."""


class Answer(msgspec.Struct, frozen=True):
    """A text for the agent."""

    rule: RuleName
    text: str
    """A sentence of our grammar."""
    about: str
    """What it is about: equal for the same thing, so that it is said once."""
    remedies: tuple[str, ...] = ()
    """What it names to use instead: absolute paths, scripts, flags, commands, or `FIRST-LAST` for lines of a file."""
    is_certain: bool = True
    """Whether it is sure enough to be said before the call, and the call to be held for it."""


def is_below(path: str, folder: str) -> bool:
    """Whether an absolute path lies in a folder, or is it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
