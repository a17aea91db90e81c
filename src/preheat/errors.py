"""Every exception Preheat raises on purpose.

PreheatError
├── UserError            the person can fix this: one line, no traceback, exit code 2
│   ├── NotRecognised    no reader knows this file
│   ├── NotFound         no session (or several) by that name
│   ├── FolderRefused    others could change what is in Preheat's folder
│   ├── ArchiveBusy      another process holds the archive
│   ├── ArchiveUnusable  the archive is too new, or the disk is full
│   │   ├── ArchiveDamaged  a part of the archive is not as it was stored
│   │   └── ServerGone      the server with the archive is gone, too slow or full: what is new waits in the local archive
│   ├── StateUnusable    the state beside the archive is damaged, too new or held, or the disk is full
│   └── ReaderDied       a process that was reading was killed
└── SourceUnreadable     one source could not be read; the rest goes on
"""

_LONGEST_REASON = 200
"""Characters of what a database says of its damage."""


class PreheatError(Exception):
    """Anything Preheat raises on purpose."""


class UserError(PreheatError):
    """The person can fix this: what is wrong, where, and what to do next, in one line."""


class NotRecognised(UserError):  # noqa: N818 - reads as a sentence where it is raised
    """No reader knows this file."""


class NotFound(UserError):  # noqa: N818
    """No session has that name, or several have."""


class FolderRefused(UserError):  # noqa: N818
    """Preheat's folder is not the user's alone, so nothing in it is used."""


class ArchiveBusy(UserError):  # noqa: N818
    """Another process holds the archive."""


class ArchiveUnusable(UserError):  # noqa: N818
    """The archive cannot be used: of a newer version, or the disk is full; `ArchiveDamaged` says that it is damaged."""


class ArchiveDamaged(ArchiveUnusable):
    """The archive is not as it was stored. What reads a part of it does not know the path of the file: `at` adds that."""

    def __init__(self, why: str, path: str = "") -> None:
        why = " ".join(why.replace("***", "").split())[:_LONGEST_REASON]
        place = f"`{path}`" if path else "a part of the archive"
        super().__init__(f"{place} is damaged ({why}); `preheat admin doctor --repair` saves what is whole")
        self.why = why
        self.path = path

    def at(self, path: str) -> "ArchiveDamaged":
        """The same, with the path of the archive."""
        return self if self.path else ArchiveDamaged(self.why, path)


class ServerGone(ArchiveUnusable):
    """The server that keeps the archive cannot be reached, does not answer in time, or has no room: later it may."""


class StateUnusable(UserError):  # noqa: N818
    """The state beside the archive cannot be used: held by another process, damaged, of a newer version, or the disk is full."""


class ReaderDied(UserError):  # noqa: N818
    """A process that was reading was killed from outside."""


class SourceUnreadable(PreheatError):  # noqa: N818
    """One source could not be read; the others still are."""
