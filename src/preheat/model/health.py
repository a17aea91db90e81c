"""The state of a machine: files of each agent, contents of the archive, and problems. Frozen values.

Knows nothing of how it is found out.
"""

import msgspec

from preheat.model.listing import AgentTotals


class ArchiveSummary(msgspec.Struct, frozen=True):
    """What the archive holds."""

    path: str
    sessions: int
    calls: int
    bytes: int
    """Size of the archive on disk."""
    first: float | None
    """When the earliest session began, in seconds since the epoch."""
    last: float | None
    """When the latest session ended, in seconds since the epoch."""


class AgentOverview(msgspec.Struct, frozen=True):
    """The files of one agent, and how many are not in the archive yet."""

    agent: str
    title: str
    """The agent's name for people."""
    files: int
    new: int
    """Files that are new or have changed since the last sync."""
    new_bytes: int
    """Size of these new or changed files."""
    places: list[str]
    """Folders that hold the files."""


class Overview(msgspec.Struct, frozen=True):
    """The files of all agents, and the archive if there is one."""

    agents: list[AgentOverview]
    archive: ArchiveSummary | None


class PlaceHealth(msgspec.Struct, frozen=True):
    """A folder in which an agent's files were looked for."""

    path: str
    state: str
    """`found`, `missing` or `unreadable`."""
    files: int = 0
    bytes: int = 0


class AgentHealth(msgspec.Struct, frozen=True):
    """The files of one agent, on disk and in the archive."""

    agent: str
    title: str
    """The agent's name for people."""
    state: str
    """`found`, `empty`, `missing`, `unreadable` or `import only`."""
    places: list[PlaceHealth]
    files: int
    waiting: int
    """Files that are new or have changed since the last sync."""
    newest: float | None
    """When the newest file was changed, in seconds since the epoch."""
    held: AgentTotals | None
    """What the archive holds of the agent; None: nothing."""
    gone: int
    """Files that the agent has deleted and the archive still has."""


class ArchiveHealth(msgspec.Struct, frozen=True):
    """The state of the archive."""

    path: str
    exists: bool
    bytes: int = 0
    """Size of the archive on disk."""
    source_bytes: int = 0
    """Size of the stored sources before compression."""
    schema: str = ""
    """The version of the tables."""
    redactions: dict[str, int] = {}
    """How many secrets were redacted, by kind."""
    free_bytes: int = 0
    """Free room on the disk."""
    verified: bool | None = None
    """Whether every stored byte has its hash; None: not checked."""


class SourceProblem(msgspec.Struct, frozen=True):
    """A line of a transcript that could not be read."""

    path: str
    line: int | None
    message: str


class HealthReport(msgspec.Struct, frozen=True):
    """The state of the agents' files and of the archive."""

    agents: list[AgentHealth]
    archive: ArchiveHealth
    findings: list[str]
    """What is wrong with files and archive, each with what to do."""
    problems: list[SourceProblem]
    """Some of the lines that could not be read."""
    problem_count: int
    """How many lines could not be read."""
    untrusted: str = ""
    """A line on a file of lessons in the repository around the current folder that is not trusted; empty if there is none."""


class Loss(msgspec.Struct, frozen=True):
    """A session that could not be saved whole from a damaged archive."""

    session: str
    """Its key; empty if no row told of it."""
    agent: str
    source: str
    """The file it was read from; empty if not known."""
    why: str
    partly: bool = False
    """A part of it was saved."""


class RepairReport(msgspec.Struct, frozen=True):
    """What a repair found and did."""

    path: str
    damage: str
    """What is wrong with the archive; empty: nothing."""
    sources: int = 0
    sessions: int = 0
    """Sessions that were saved; in a dry run those that can be."""
    bytes: int = 0
    lost: list[Loss] = []
    unknown_packs: int = 0
    """Parts whose bytes are whole, but nothing tells whose they are."""
    kept: str = ""
    """Where the damaged file is now; empty if it was not replaced."""
    state_damage: str = ""
    """What is wrong with the state; empty: nothing."""
    state_rows: dict[str, int] = {}
    """Rows of the state that were saved, by table."""
    state_lost: list[str] = []
    """Tables of the state of which something was lost."""
    state_kept: str = ""
    dry_run: bool = False


class SecretsReport(msgspec.Struct, frozen=True):
    """The secrets that were found in what is stored. Values are never said."""

    removed: bool
    """Whether they were taken out; else they were only looked for."""
    kinds: dict[str, int]
    """How many of each kind there were in the sources of sessions."""
    sessions: dict[str, dict[str, int]]
    """The same by the key of the session."""
    elsewhere: dict[str, dict[str, int]]
    """The same by table or file."""
    left: list[str]
    """Files with secrets that were not changed, each with what to do."""
