"""How the sessions went that templates were handed to: finds them again in the archive.

A context carries its id, so the session that got it holds that id in a text that Preheat put there. Heavy to import
(queries): whoever has uses to follow imports it then.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator

from preheat.app.sessions.archive import has_archive, load
from preheat.archive.checks import last_checks
from preheat.archive.connect import connect
from preheat.archive.queries import sessions
from preheat.errors import UserError
from preheat.model.listing import Filter, Summary
from preheat.model.session import Other, Session, UserMessage
from preheat.model.template import Tracked, Use
from preheat.templates.uses import Found, tracked

_BEFORE, _AFTER = 3600.0, 86400.0
"""A session that got a context began at most an hour before it was handed out, or within a day after."""
_MOST = 200
"""Sessions that are looked into; of more uses than that, the newest are followed."""


def track_uses(folder: str, uses: Iterable[Use]) -> dict[str, Tracked]:
    """By the digest of a version: how often it was handed out, and how the sessions went."""
    by_version: defaultdict[str, list[Use]] = defaultdict(list)
    for use in uses:
        by_version[use.template].append(use)
    found = find_sessions(folder, [use for some in by_version.values() for use in some])
    return {digest: tracked(some, found) for digest, some in by_version.items()}


def find_sessions(folder: str, uses: list[Use]) -> dict[str, Found]:
    """By context: the session that got it, as far as the archive has it."""
    if not uses or not has_archive(folder):
        return {}
    connection = connect(folder)
    try:
        return _sessions_of(connection, sorted(uses, key=lambda use: (-use.at, use.context)))
    finally:
        connection.close()


def _sessions_of(connection: sqlite3.Connection, uses: list[Use]) -> dict[str, Found]:
    """By context. A session is looked into once, for all the contexts that it may have got."""
    since = min(use.at for use in uses) - _BEFORE
    known = [each for each in sessions(connection, Filter(since=since)) if each.started_at is not None]
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    order: dict[str, Summary] = {}
    for use in uses:
        for each in known:
            if _may_be(each, use):
                order[each.key] = each
                wanted[each.key].add(use.context)
    passed = last_checks(connection) if order else {}
    found: dict[str, Found] = {}
    for key in list(order)[:_MOST]:
        for context in _contexts_in(connection, key, wanted[key]):
            found.setdefault(context, Found(key, passed.get(key)))
    return found


def _may_be(session: Summary, use: Use) -> bool:
    started = session.started_at or 0.0
    return use.at - _BEFORE <= started <= use.at + _AFTER and use.agent in ("", session.agent)


def _contexts_in(connection: sqlite3.Connection, key: str, wanted: set[str]) -> set[str]:
    try:
        session = load(connection, key)
    except UserError:
        return set()  # it cannot be read any more: not found again
    return {context for context in wanted if any(context in text for text in _put_there(session))}


def _put_there(session: Session) -> Iterator[str]:
    """The texts that were not a person's own: a context is among them."""
    for event in session.events:
        if isinstance(event, UserMessage) and event.origin != "human":
            yield event.text
        elif isinstance(event, Other):
            yield str(event.raw)
