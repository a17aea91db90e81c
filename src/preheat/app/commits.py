"""Which session made a commit or a pull request: by the command that made it, by the files, by the time.

Asks git about the repository around a folder, and runs nothing that the repository names. Knows nothing of how it is shown.
"""

import re
from contextlib import closing
from typing import NamedTuple

from preheat.amounts import format_count
from preheat.app.project_assignment import assign_archive
from preheat.app.projects import find_project_at
from preheat.app.sessions.archive import load_session
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.notes import load_episodes
from preheat.archive.queries import find_session, list_sessions
from preheat.calls.commits import find_commits
from preheat.checkouts import find_checkout
from preheat.errors import NotFound, UserError
from preheat.model.commit import CommitMatch, CommitSessions, SessionCommits
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.programs import ask_git

_REQUEST = re.compile(r"(?:#|pr/|.*/(?:pull|pulls|merge_requests)/)(?P<number>\d{1,9})/?$", re.I)
_DAY = 86400.0
_BEFORE = 30 * _DAY
"""How long before a commit was written its session may have ended."""
_AFTER = 900.0
"""How long after the last event of a session somebody may have committed its work by hand."""
_MOST_READ = 60
"""Sessions that are read for their commands, the nearest in time first."""
_MOST_MATCHES = 10
_LEAST_SCORE = 0.15
_FILES_WEIGHT, _TIME_WEIGHT = 0.6, 0.3


class _Commit(NamedTuple):
    """What git says of a commit; a pull request may have none."""

    commit: str = ""
    subject: str = ""
    at: float | None = None
    files: tuple[str, ...] = ()


def find_sessions_of(folder: str, wanted: str, where: str) -> CommitSessions:
    """The sessions that may have made a commit of the repository around a folder, or a pull request (`#12`, or its address).
    Raises NotFound and UserError."""
    if not has_archive(folder):
        raise UserError(f"there is no archive in `{folder}` yet; `preheat sync` makes one")
    request = int(found["number"]) if (found := _REQUEST.match(wanted)) else 0
    commit = _find_request_commit(where, request) if request else _ask_commit(where, wanted)
    if not commit.commit and not request:
        raise NotFound(_explain_unknown(wanted, where))
    with closing(connect(folder)) as connection:
        assign_archive(connection)
        project = find_project_at(connection, where)
        chosen = SessionFilter(project_key=project.key if project is not None else "", subagents=False)
        sessions = _sort_by_time(list_sessions(connection, chosen), commit.at)
        made = _find_maker(connection, sessions, commit, request)
        matches = [made] if made is not None else _rank_by_files(connection, sessions, commit)
    return CommitSessions(
        wanted=wanted, commit=commit.commit, subject=commit.subject, at=commit.at, files=commit.files,
        matches=tuple(matches[:_MOST_MATCHES]),
    )  # fmt: skip


def _explain_unknown(wanted: str, where: str) -> str:
    if find_checkout(where) is None:
        return f"`{where}` is not in a git repository; go to the one with `{wanted}`, or give it with --project"
    return f"no commit `{wanted}` in the repository of `{where}`; give a hash, a branch, `HEAD~2`, or a pull request as `#12`"


# What git says.
def _ask_commit(where: str, wanted: str) -> _Commit:
    if not wanted or wanted.startswith("-") or any(letter.isspace() or ord(letter) < 32 for letter in wanted):
        return _Commit()
    full = ask_git(where, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
    return _describe_commit(where, full) if full else _Commit()


def _describe_commit(where: str, full: str) -> _Commit:
    about = ask_git(where, "show", "--no-show-signature", "-s", "--format=%at%n%s", full).split("\n", 1)
    at = float(about[0]) if about[0].isdigit() else None
    names = ask_git(
        where, "show", "--no-ext-diff", "--no-textconv", "-m", "--first-parent", "--name-only", "-z", "--format=", full
    )
    files = tuple(name for name in names.split("\0") if name.strip())
    return _Commit(full, about[1] if len(about) > 1 else "", at, files)


def _find_request_commit(where: str, number: int) -> _Commit:
    """The commit that merged a pull request, by what hosts write into its message."""
    for pattern in (f"[(]#{number}[)]$", f"^Merge pull request #{number} "):
        full = ask_git(where, "log", "--all", "-n", "1", "--format=%H", "-E", f"--grep={pattern}")
        if full:
            return _describe_commit(where, full)
    return _Commit()


# What sessions say.
def _sort_by_time(sessions: list[SessionSummary], at: float | None) -> list[SessionSummary]:
    """The sessions that may have made a commit of this time, the nearest first."""
    if at is None:
        return sessions
    near = [
        each
        for each in sessions
        if each.started_at is None
        or (each.started_at <= at + _DAY and (each.ended_at or each.started_at) >= at - _BEFORE)
    ]
    return sorted(near, key=lambda each: _distance(each, at))


def _distance(session: SessionSummary, at: float) -> float:
    """Seconds between a session and a time; 0 while it ran."""
    if session.started_at is None:
        return _BEFORE
    ended = session.ended_at or session.started_at
    return max(0.0, session.started_at - at, at - ended)


def _find_maker(
    connection: ArchiveConnection, sessions: list[SessionSummary], commit: _Commit, request: int
) -> CommitMatch | None:
    """The session whose own commands say that it made it; the nearest in time are read first."""
    for session in sessions[:_MOST_READ]:
        if session.calls and (reason := _find_proof(connection, session, commit, request)):
            return CommitMatch(session=session, made_it=True, score=1.0, reasons=(reason,))
    return None


def _rank_by_files(connection: ArchiveConnection, sessions: list[SessionSummary], commit: _Commit) -> list[CommitMatch]:
    """The sessions that changed files of the commit, the likeliest first."""
    found = [match for each in sessions if (match := _match(connection, each, commit)) is not None]
    return sorted(found, key=lambda each: (-each.score, -(each.session.ended_at or 0.0)))


def _match(connection: ArchiveConnection, session: SessionSummary, commit: _Commit) -> CommitMatch | None:
    shared = _shared_files(connection, session, commit.files)
    if not shared:  # many sessions run at any time
        return None
    score = _FILES_WEIGHT * len(shared) / len(commit.files)
    reasons = [f"changed {len(shared)} of its {format_count(len(commit.files), 'file')}"]
    if (
        commit.at is not None
        and session.started_at is not None
        and (distance := _distance(session, commit.at)) <= _AFTER
    ):
        score += _TIME_WEIGHT
        reasons.append("ended minutes before it was written" if distance else "ran when it was written")
    if score < _LEAST_SCORE:
        return None
    return CommitMatch(session=session, made_it=False, score=round(score, 3), reasons=tuple(reasons))


def _find_proof(connection: ArchiveConnection, session: SessionSummary, commit: _Commit, request: int) -> str:
    """Why a session is known to have made it; empty if it is not."""
    try:
        found = find_commits(load_session(connection, session.key))
    except UserError:
        return ""
    if request and any(each.number == request for each in found.requests):
        return f"opened the pull request #{request}"
    for each in found.commits:
        if commit.commit.startswith(each.commit):
            return f"`git commit` printed {each.commit}"
    for each in found.commits:
        near = each.at is not None and commit.at is not None and abs(each.at - commit.at) < _DAY
        if commit.subject and each.subject == commit.subject and near:
            return f"committed with the same words as {each.commit}, which was rewritten since"
    return ""


def _shared_files(connection: ArchiveConnection, session: SessionSummary, files: tuple[str, ...]) -> set[str]:
    if not files:
        return set()
    changed = {
        path
        for episode in load_episodes(connection, session.key)
        for path in episode.paths("changed", "made", "removed")
    }
    return changed & set(files)


def commits_of(folder: str, name: str) -> SessionCommits:
    """The commits that a session made, and the pull requests that it opened."""
    with closing(connect(folder)) as connection:
        return find_commits(load_session(connection, find_session(connection, name).key))
