"""A project: what a session says of the one that it worked in, and what the archive knows of all of them.

Nothing here reads or decides. A project has a `key`, by which it is known, and a name, which is for people and given once.
"""

import msgspec


class TreeFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What git's own files said of a folder when a session in it was read."""

    root: str
    """The root of the checkout."""
    main: str
    """The folder of the working tree that a linked worktree was made from; else the root."""
    remote: str = ""
    """The address of its main remote, normalised."""
    commits: tuple[str, ...] = ()
    """Its root commits."""
    package: str = ""
    """The folder below the root that has a manifest of its own and holds the place of work; empty for the root itself."""


class SessionPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session worked, as far as the session and the working tree say."""

    home: str = ""
    """The folder in which most of its calls were; empty if that is no project."""
    root: str = ""
    """The folder that stands for the project: of a worktree the folder of its repository; empty if there is no project."""
    remote: str = ""
    """The remote that the transcript states, normalised."""
    certain: bool = False
    """Whether the agent's program recorded the remote; else it is read from the outputs of calls."""
    former: str = ""
    """The remote under which the repository was known before it moved, where an output says so."""
    commit: str = ""
    """A commit of its repository."""
    manifest: str = ""
    """The name in the manifest at its root."""
    tree: TreeFacts | None = None
    """None if the folder was gone, or is in no repository."""


class ProjectCorrection(msgspec.Struct, frozen=True, kw_only=True):
    """A person's decision: what belongs to the project `into`. `what` is the key of a project, or `folder:` with a path; a folder
    that belongs to itself is a project of its own."""

    what: str
    into: str
    at: float


class ProjectFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder in which sessions of a project worked."""

    folder: str
    sessions: int
    exists: bool


class ProjectSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A project in the archive."""

    name: str
    key: str
    known_by: str
    """In words: its remote, its root commit, a folder."""
    sessions: int
    folders: tuple[ProjectFolder, ...]
    remotes: tuple[str, ...]
    last_at: float | None
    lessons: int
    corrections: tuple[ProjectCorrection, ...] = ()


class UnassignedFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder whose sessions belong to no project, and why."""

    folder: str
    sessions: int
    why: str


class ProjectList(msgspec.Struct, frozen=True, kw_only=True):
    """All projects of the archive, and the folders that are none."""

    projects: tuple[ProjectSummary, ...]
    unassigned: tuple[UnassignedFolder, ...]
