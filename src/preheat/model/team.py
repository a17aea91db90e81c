"""A team: who is in it, what each machine pushes, what everybody may see of that. Frozen values.

Nothing here reads, writes or decides.
"""

from typing import Literal, TypeAlias

import msgspec

Level: TypeAlias = Literal["derived", "transcripts", "nothing"]
"""What a machine pushes of a project. `derived`: numbers, names of files, lessons; `transcripts`: also the sessions themselves,
without secrets; `nothing`: nothing, and what was pushed is deleted."""
LEVELS: tuple[Level, ...] = ("derived", "transcripts", "nothing")

TeamRole: TypeAlias = Literal["owner", "reviewer", "member", "reader"]
"""`reader` sees numbers of the team and approved lessons; `member` also pushes; `reviewer` also approves lessons; `owner` made
the team and invites and removes people."""
INVITED_ROLES: tuple[TeamRole, ...] = ("member", "reviewer", "reader")

NumberGrouping: TypeAlias = Literal["team", "repository", "agent", "model"]
NUMBER_GROUPINGS: tuple[NumberGrouping, ...] = ("team", "repository", "agent", "model")


class TeamAddress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a team's database is, and the login there; never the password."""

    host: str
    port: int
    database: str
    user: str
    sslmode: str = ""
    sslrootcert: str = ""

    def __str__(self) -> str:
        options = "&".join(
            f"{name}={value}" for name, value in (("sslmode", self.sslmode), ("sslrootcert", self.sslrootcert)) if value
        )
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgresql://{self.user}@{host}:{self.port}/{self.database}" + (f"?{options}" if options else "")


class TeamIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Who somebody is in a team, as its database says."""

    team: str
    name: str
    role: TeamRole
    least_people: int
    """Numbers of fewer people are not shown."""


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """A new login of a team. The password is nowhere else."""

    name: str
    role: TeamRole
    address: str
    """For `preheat team join`."""
    password: str
    """Empty if an existing login was let in."""


class TeamMember(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody in a team, for its owner."""

    name: str
    login: str
    role: TeamRole
    since: float


class TeamNumber(msgspec.Struct, frozen=True, kw_only=True):
    """What the sessions of several people come to."""

    name: str
    """The repository, agent or model; empty for those of too few people, together."""
    people: int
    sessions: int
    calls: int
    failed: int
    """Calls that failed."""
    mistakes: int
    """Calls that failed by the agent's own mistake."""
    tokens: int
    money: float
    """US dollars at list prices, of the sessions whose model has a price."""
    failed_money: float
    """The part of `money` that failed calls account for."""
    unpriced: int
    """Sessions without a price."""
    work_seconds: float


class PushedField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of what is pushed."""

    table: str
    name: str
    level: Level
    """The lowest level at which it is pushed."""
    about: str


class PushedTable(msgspec.Struct, frozen=True, kw_only=True):
    """What would be pushed of one kind: how many rows, and one of them as it is."""

    name: str
    rows: int
    sample: dict[str, str]
    """By field: its value in a real row."""


class ProjectPush(msgspec.Struct, frozen=True, kw_only=True):
    """A project as it is pushed, or would be."""

    key: str
    name: str
    repository: str
    """What the team knows it by; empty if nothing is pushed of it."""
    level: Level
    is_agreed: bool
    """Whether the person has agreed to this level, with these fields."""
    sessions: int
    """Sessions on this machine."""
    pushed: int | None = None
    """Sessions on the server; None if the server was not asked."""


class PushPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly what a push would send and delete."""

    team: str
    projects: tuple[ProjectPush, ...]
    tables: tuple[PushedTable, ...]
    deletions: int
    """Sessions that wait to be deleted from the server."""

    @property
    def unagreed(self) -> tuple[ProjectPush, ...]:
        """Projects of which something would be pushed that the person has not agreed to yet."""
        return tuple(each for each in self.projects if each.level != "nothing" and not each.is_agreed)


class PushReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a push did."""

    sessions: int
    """Sessions that were sent, new or changed."""
    unchanged: int
    deleted: int
    lessons: int
    """Lessons that are proposed now."""
    withdrawn: int
    waiting: tuple[str, ...] = ()
    """Names of projects that wait for the person's agreement."""


class ProposedLesson(msgspec.Struct, frozen=True, kw_only=True):
    """A lesson as the team has it."""

    digest: str
    """Of repository and content: what a reviewer approves is this and nothing else."""
    repository: str
    content: str
    """The lesson in the form of the shared file."""
    calls_for: int = 0
    sessions_for: int = 0
    calls_against: int = 0
    sessions_against: int = 0
    first_day: str = ""
    last_day: str = ""


class LessonReview(msgspec.Struct, frozen=True, kw_only=True):
    """Who decided what on a lesson, and when."""

    digest: str
    repository: str
    text: str
    """The lesson as a model would be told it; empty if nobody proposes it any more."""
    verdict: Literal["approved", "declined"]
    why: str
    reviewer: str
    at: float


class ReviewedProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A lesson that a reviewer looks at."""

    digest: str
    repository: str
    text: str
    """As a model would be told it; empty if nothing of it may be handed on."""
    calls_for: int
    sessions_for: int
    calls_against: int
    sessions_against: int


class PullReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came from the team."""

    lessons: int
    """Approved lessons that this machine has now."""
    added: int
    removed: int
    refused: int
    """Lessons of the server that are not what our grammar allows: not taken."""


class TeamStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A machine in its team."""

    joined: bool
    address: str = ""
    reachable: bool = False
    problem: str = ""
    """Why the server could not be asked."""
    team: str = ""
    name: str = ""
    role: str = ""
    machine: str = ""
    automatic: bool = False
    """Whether the daemon pushes and pulls in quiet times."""
    projects: tuple[ProjectPush, ...] = ()
    waiting_deletions: int = 0
    last_push: float | None = None
    """By the server's clock."""
    last_pull: float | None = None
    received_lessons: int = 0
    waiting_lessons: int = 0
    """Lessons that wait for a review."""
    approved_lessons: int = 0
    least_people: int = 0
    numbers: dict[str, tuple[TeamNumber, ...]] = {}
    """By grouping; without those of too few people."""
