"""Commits and pull requests of sessions. Frozen values; how they are found is in `calls.commits` and `app.commits`."""

import msgspec

from preheat.model.listing import SessionSummary


class MadeCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that a session made, as git printed it."""

    commit: str
    """The beginning of its hash. It may have been amended or rebased since."""
    subject: str
    branch: str
    at: float | None
    seq: int
    """Number (from 0) of the call among the session's calls."""


class OpenedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pull request that a session opened, as the command printed it."""

    url: str
    number: int
    at: float | None
    seq: int


class SessionCommits(msgspec.Struct, frozen=True, kw_only=True):
    """What a session left in version control."""

    commits: tuple[MadeCommit, ...] = ()
    requests: tuple[OpenedRequest, ...] = ()


class CommitMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A session that made a commit, or may have."""

    session: SessionSummary
    made_it: bool
    """Its own `git commit` printed this hash, or it opened this pull request."""
    score: float
    """0 to 1: how much speaks for it."""
    reasons: tuple[str, ...]


class CommitSessions(msgspec.Struct, frozen=True, kw_only=True):
    """A commit or a pull request, and the sessions that may have made it, the likeliest first."""

    wanted: str
    """As it was asked for."""
    commit: str
    """The hash; empty for a pull request whose commit is not known."""
    subject: str
    at: float | None
    """When it was written."""
    files: tuple[str, ...]
    matches: tuple[CommitMatch, ...]
