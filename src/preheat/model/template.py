"""A template: an immutable version of chosen lessons, under a name with a history.

Frozen values; building, storing and comparing them is in `templates`. A version is identified by the hash of its contents.
"""

from typing import Literal, TypeAlias

import msgspec

from preheat.model.lesson import Lesson

TEMPLATE_FORMAT = 1
"""The version of the file format. Every earlier one is read; a newer one is refused with a clear message."""

SHORT_DIGEST_LENGTH = 10
"""Letters of a digest that people see; at least four that identify a version are accepted."""


def shorten_digest(digest: str) -> str:
    """The short form of a digest, for people."""
    return digest[:SHORT_DIGEST_LENGTH]


class UserPattern(msgspec.Struct, frozen=True):
    """How the person of these sessions writes."""

    style: str = "unknown"
    """One of `WritingStyle`."""
    feedback: str = "unknown"
    """How the person comments on results: `terse`, `detailed`, `corrections_only` or `unknown`."""
    domains: tuple[str, ...] = ()
    """What the sessions were about, in single words."""
    preferred_tools: tuple[str, ...] = ()


class TemplateOrigin(msgspec.Struct, frozen=True):
    """The sessions that a template was built from."""

    sessions: int = 0
    calls: int = 0
    error_rate: float | None = None
    mistake_rate: float | None = msgspec.field(default=None, name="misuse_rate")
    """Stored under the name of version 0.1.0: another name would change the digest of every template."""
    skipped: dict[str, int] = {}
    """Sessions that were left out, by reason."""
    settings: dict[str, str] = {}
    """The filters that the template was built with."""


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a template."""

    format: int = TEMPLATE_FORMAT
    name: str
    description: str = ""
    addendum: str = ""
    """A text by the person, placed before everything else."""
    lessons: tuple[Lesson, ...] = ()
    markers: tuple[str, ...] = ()
    """Paths, addresses and names that the sessions referred to."""
    user: UserPattern = UserPattern()
    tags: tuple[str, ...] = ()
    agent: str = ""
    project: str = ""
    sources: tuple[str, ...] = ()
    """Keys of the sessions that the template was built from."""
    extraction: TemplateOrigin = TemplateOrigin()
    parent: str | None = None
    """The digest of the version before; None for the first."""
    created_at: float | None = None


TemplateAction: TypeAlias = Literal[
    "built", "extracted", "trained", "imported", "accepted", "rejected", "rolled back", "deleted", "restored"
]
"""`imported`: waits for a review, which ends in `accepted` or `rejected`; until then the name keeps its earlier version."""


class TemplateHistoryEntry(msgspec.Struct, frozen=True):
    """One line of a template's history; the last one says which version the name has now."""

    digest: str
    at: float
    action: TemplateAction
    note: str = ""


class TemplateResults(msgspec.Struct, frozen=True):
    """How the sessions that got a template went, as far as they are in the archive."""

    uses: int = 0
    """How often the template was handed out; at least the sessions that got it."""
    sessions: int = 0
    """Sessions in the archive that got it."""
    succeeded: int = 0
    """Sessions in the archive whose last check passed."""
    failed: int = 0
    """Sessions in the archive whose last check failed. A session without any check counts as neither."""


class TemplatePin(msgspec.Struct, frozen=True):
    """The version of a template that new sessions of a project start with."""

    name: str
    digest: str
    at: float

    @property
    def address(self) -> str:
        """`name@` and the whole digest: how a version is asked for."""
        return f"{self.name}@{self.digest}"

    @property
    def title(self) -> str:
        """`name@3fa2b1c0d4`, for people."""
        return f"{self.name}@{shorten_digest(self.digest)}"


class TemplateUse(msgspec.Struct, frozen=True, kw_only=True):
    """One use of a template. The task itself is not stored, only a hash of it."""

    at: float
    template: str
    """The digest of the version."""
    context: str
    """The id of the context: the session carries it in its first lines."""
    agent: str = ""
    project: str = ""
    task: str = ""
    """A hash of the task."""
