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
    first: float | None
    last: float | None


class AgentOverview(msgspec.Struct, frozen=True):
    """The files of one agent, and how many are not in the archive yet."""

    agent: str
    title: str
    files: int
    new: int
    new_bytes: int
    places: list[str]


class Overview(msgspec.Struct, frozen=True):
    """All agents, and the archive if there is one."""

    agents: list[AgentOverview]
    archive: ArchiveSummary | None


class PlaceHealth(msgspec.Struct, frozen=True):
    """A folder that was looked at. `state`: found, missing or unreadable."""

    path: str
    state: str
    files: int = 0
    bytes: int = 0


class AgentHealth(msgspec.Struct, frozen=True):
    """The files of one agent. `state`: found, empty, missing, unreadable or import only."""

    agent: str
    title: str
    state: str
    places: list[PlaceHealth]
    files: int
    waiting: int
    """Files that are new or have changed since the last sync."""
    newest: float | None
    held: AgentTotals | None
    """What the archive holds of it."""
    gone: int
    """Files that the agent has deleted and the archive still has."""


class ArchiveHealth(msgspec.Struct, frozen=True):
    """The state of the archive."""

    path: str
    exists: bool
    bytes: int = 0
    source_bytes: int = 0
    schema: str = ""
    redactions: dict[str, int] = {}
    free_bytes: int = 0
    verified: bool | None = None


class SourceProblem(msgspec.Struct, frozen=True):
    """A line of a transcript that could not be read."""

    path: str
    line: int | None
    message: str


class HealthReport(msgspec.Struct, frozen=True):
    """The whole state. `findings`: what is wrong with files and archive, each with what to do."""

    agents: list[AgentHealth]
    archive: ArchiveHealth
    findings: list[str]
    problems: list[SourceProblem]
    problem_count: int
