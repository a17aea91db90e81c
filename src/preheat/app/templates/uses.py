"""Finds the sessions that templates were handed out to in the archive, and whether they succeeded.

A context carries its id, so a session that got it contains that id in a text that Preheat added. Searching is slow.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from preheat.app.later import LazyModule
from preheat.archive.connect import connect
from preheat.errors import UserError
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.session import Other, Session, UserMessage
from preheat.model.template import TemplateResults, TemplateUse
from preheat.templates.uses import UsedSession, track

if TYPE_CHECKING:
    from preheat.app.sessions import archive as _sessions
    from preheat.archive import checks as _checks
    from preheat.archive import queries as _queries
else:  # the start of a session, which records a use, needs none of these
    _sessions = LazyModule("preheat.app.sessions.archive")
    _checks = LazyModule("preheat.archive.checks")
    _queries = LazyModule("preheat.archive.queries")

_BEFORE, _AFTER = 3600.0, 86400.0
"""A session that got a context began at most an hour before it was handed out, or within a day after."""
_MOST_SESSIONS = 200
"""The largest number of sessions that are searched; the newest come first."""


def track_uses(folder: str, uses: Iterable[TemplateUse]) -> dict[str, TemplateResults]:
    """By the digest of a version: how often it was handed out, and how many of the sessions succeeded."""
    by_version: defaultdict[str, list[TemplateUse]] = defaultdict(list)
    for use in uses:
        by_version[use.template].append(use)
    found = find_sessions(folder, [use for some in by_version.values() for use in some])
    return {digest: track(some, found) for digest, some in by_version.items()}


def find_sessions(folder: str, uses: list[TemplateUse]) -> dict[str, UsedSession]:
    """By context: the session that got it, if the archive has it."""
    if not uses or not _sessions.has_archive(folder):
        return {}
    with closing(connect(folder)) as connection:
        return _sessions_of(connection, sorted(uses, key=lambda use: (-use.at, use.context)))


def _sessions_of(connection: sqlite3.Connection, uses: list[TemplateUse]) -> dict[str, UsedSession]:
    """By context: the session that got it. A session is searched once, for all contexts that it may have got."""
    since = min(use.at for use in uses) - _BEFORE
    known = [
        each for each in _queries.list_sessions(connection, SessionFilter(since=since)) if each.started_at is not None
    ]
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    order: dict[str, SessionSummary] = {}
    for use in uses:
        for each in known:
            if _may_have_got(each, use):
                order[each.key] = each
                wanted[each.key].add(use.context)
    passed = _checks.load_last_checks(connection) if order else {}
    found: dict[str, UsedSession] = {}
    for key in list(order)[:_MOST_SESSIONS]:
        for context in _contexts_in(connection, key, wanted[key]):
            found.setdefault(context, UsedSession(key, passed.get(key)))
    return found


def _may_have_got(session: SessionSummary, use: TemplateUse) -> bool:
    started = session.started_at or 0.0
    return use.at - _BEFORE <= started <= use.at + _AFTER and use.agent in ("", session.agent)


def _contexts_in(connection: sqlite3.Connection, key: str, wanted: set[str]) -> set[str]:
    try:
        session = _sessions.load_session(connection, key)
    except UserError:
        return set()  # it cannot be read any more
    return {context for context in wanted if any(context in text for text in _added_texts(session))}


def _added_texts(session: Session) -> Iterator[str]:
    """The texts that no person wrote: a context is among them."""
    for event in session.events:
        if isinstance(event, UserMessage) and event.origin != "human":
            yield event.text
        elif isinstance(event, Other):
            yield str(event.raw)
