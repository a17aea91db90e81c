"""Every exception Preheat raises on purpose.

PreheatError
├── UserError            the person can fix this: one line, no traceback, exit code 2
│   ├── NotRecognised    no reader knows this file
│   ├── NotFound         no session (or several) by that name
│   ├── ArchiveBusy      another process holds the archive
│   ├── ArchiveUnusable  the archive is damaged, too new, or the disk is full
│   ├── StateUnusable    the state beside the archive is damaged, too new or held, or the disk is full
│   └── ReaderDied       a process that was reading was killed
└── SourceUnreadable     one source could not be read; the rest goes on
"""


class PreheatError(Exception):
    """Anything Preheat raises on purpose."""


class UserError(PreheatError):
    """The person can fix this: what is wrong, where, and what to do next, in one line."""


class NotRecognised(UserError):  # noqa: N818 - reads as a sentence where it is raised
    """No reader knows this file."""


class NotFound(UserError):  # noqa: N818
    """No session has that name, or several have."""


class ArchiveBusy(UserError):  # noqa: N818
    """Another process holds the archive."""


class ArchiveUnusable(UserError):  # noqa: N818
    """The archive cannot be used: damaged, of a newer version, or the disk is full."""


class StateUnusable(UserError):  # noqa: N818
    """The state beside the archive cannot be used: held by another process, damaged, of a newer version, or the disk is full."""


class ReaderDied(UserError):  # noqa: N818
    """A process that was reading was killed from outside."""


class SourceUnreadable(PreheatError):  # noqa: N818
    """One source could not be read; the others still are."""
