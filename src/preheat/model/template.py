"""A template: an immutable version of a chosen set of lessons, under a name with a history.

Frozen values; building, storing and comparing them is in `templates`. What a version is called is the hash of what is in it.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.lesson import Lesson

FORMAT = 1
"""The form of the files. A newer Preheat reads every earlier one; a newer form is refused with a clear message."""

SHORT = 10
"""Letters of a digest that people see; any four that no other version of the name begins with will do."""


def short_digest(digest: str) -> str:
    """What a version is called where people read it."""
    return digest[:SHORT]


class UserPattern(msgspec.Struct, frozen=True):
    """How the person whose sessions these are asks and answers."""

    style: str = "unknown"
    feedback: str = "unknown"
    """`terse`, `detailed`, `corrections_only`."""
    domains: tuple[str, ...] = ()
    preferred_tools: tuple[str, ...] = ()


class Extraction(msgspec.Struct, frozen=True):
    """What a template was built from."""

    sessions: int = 0
    calls: int = 0
    error_rate: float | None = None
    mistake_rate: float | None = msgspec.field(default=None, name="misuse_rate")
    """Stored under the name of version 0.1.0: another name would change the digest of every template."""
    skipped: dict[str, int] = {}
    """Sessions left out, by reason."""
    settings: dict[str, str] = {}
    """The filters it was built with."""


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One version."""

    format: int = FORMAT
    name: str
    description: str = ""
    addendum: str = ""
    """A text of the person's own that stands before everything else."""
    lessons: tuple[Lesson, ...] = ()
    markers: tuple[str, ...] = ()
    """Paths, addresses and names that the sessions referred to."""
    user: UserPattern = UserPattern()
    tags: tuple[str, ...] = ()
    agent: str = ""
    project: str = ""
    sources: tuple[str, ...] = ()
    """Keys of the sessions it was built from."""
    extraction: Extraction = Extraction()
    parent: str | None = None
    """The digest of the version before."""
    created_at: float | None = None


Action: TypeAlias = Literal[
    "built", "extracted", "trained", "imported", "accepted", "rejected", "rolled back", "deleted", "restored"
]
"""`imported`: waits for a review, which ends in `accepted` or `rejected`; until then the name stands for what it stood for."""


class Entry(msgspec.Struct, frozen=True):
    """One line of a template's history; the last one says what the name stands for now."""

    digest: str
    at: float
    action: Action
    note: str = ""


class Tracked(msgspec.Struct, frozen=True):
    """How the sessions went that a template was handed to, as far as they are in the archive."""

    uses: int = 0
    sessions: int = 0
    """Uses whose session was found again."""
    succeeded: int = 0
    """Of those, the ones whose last check passed."""
    failed: int = 0
    """…and failed. A session without any check counts as neither."""


class Pin(msgspec.Struct, frozen=True):
    """One version that new sessions of a project start with."""

    name: str
    digest: str
    at: float

    @property
    def address(self) -> str:
        """As `Store.find` takes it."""
        return f"{self.name}@{self.digest}"

    @property
    def title(self) -> str:
        """`name@3fa2b1c0d4`, for people."""
        return f"{self.name}@{short_digest(self.digest)}"


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One handing-out. The task itself is not kept, only what makes it known again."""

    at: float
    template: str
    """The digest of the version."""
    context: str
    """The id of the context: the session carries it in its first lines."""
    agent: str = ""
    project: str = ""
    task: str = ""
    """A hash."""
