"""Which template version is loaded for a project, when templates were handed out, and whether the sessions that got them
succeeded.

A version is pinned: building the template again does not change what sessions get; loading it again does. Knows no lesson. Light:
the start of a session asks for what is loaded.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from preheat.app.lazy import LazyModule
from preheat.archive.address import has_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.errors import UserError
from preheat.model.listing import SessionFilter, SessionSummary
from preheat.model.session import Other, Session, UserMessage
from preheat.model.template import TemplatePin, TemplateResults, TemplateUse
from preheat.state import templates
from preheat.state.connect import reading, writing
from preheat.templates.store import TemplateStore

if TYPE_CHECKING:
    from preheat.app.sessions import archive as _sessions
    from preheat.archive import queries as _queries
    from preheat.archive import results as _checks
else:  # the start of a session, which records a use, needs none of these
    _sessions = LazyModule("preheat.app.sessions.archive")
    _checks = LazyModule("preheat.archive.results")
    _queries = LazyModule("preheat.archive.queries")


# The version that is loaded for a project.
class PinStatus(NamedTuple):
    """A loaded version, and whether it can be handed out."""

    pin: TemplatePin
    problem: str = ""
    """Why new sessions do not get it; empty if they do."""
    newer: str = ""
    """The digest of the template's current version, if that is another one."""


def load_pins(folder: str) -> dict[str, TemplatePin]:
    """The loaded versions, by project folder."""
    with reading(folder) as state:
        return templates.loads(state)


def load_template(folder: str, project: str, wanted: str, at: float) -> TemplatePin:
    """Load a version (`name`, `name@digest` or `name@-1`) for a project."""
    found = TemplateStore(folder).find(wanted)
    pin = TemplatePin(found.name, found.digest, at)
    with writing(folder) as state:
        templates.load_version(state, project, pin)
    return pin


def unload_template(folder: str, project: str) -> TemplatePin | None:
    """Unload the version of a project; the version, None if there was none."""
    if project not in load_pins(folder):
        return None
    with writing(folder) as state:
        return templates.unload_version(state, project)


def pin_status(folder: str, pin: TemplatePin) -> PinStatus:
    """The state of a loaded version."""
    store = TemplateStore(folder)
    try:
        store.find(pin.address)
        live = store.state(pin.name).live
    except (UserError, OSError) as error:
        return PinStatus(pin, str(error))
    return PinStatus(pin, newer=live if live and live != pin.digest else "")


def pin_problems(folder: str) -> list[str]:
    """Loaded versions that cannot be handed out, a sentence each with what to do."""
    try:
        found = load_pins(folder)
    except UserError:  # reported as a fault of the state itself
        return []
    return [
        f"`{pin.title}` is loaded for `{project}` but not handed out: {status.problem}; until then sessions there start "
        "with lessons, and `preheat templates load --none` there ends this"
        for project, pin in sorted(found.items())
        if (status := pin_status(folder, pin)).problem
    ]


# Uses.
def record_use(folder: str, use: TemplateUse) -> None:
    """Record that a version was handed out."""
    with writing(folder) as state:
        templates.record_use(state, use)


def load_uses(folder: str) -> list[TemplateUse]:
    """All recorded uses, the oldest first."""
    with reading(folder) as state:
        return templates.uses(state)


# The success of the sessions that got a template.
class UsedSession(msgspec.Struct, frozen=True):
    """A session that got a context."""

    session: str
    """Its key."""
    passed: bool | None
    """Whether its last check passed; None where it had none."""


def task_hash(task: str) -> str:
    """A hash of a task's words, which says nothing of them."""
    return blake2b(" ".join(task.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def track(uses: Iterable[TemplateUse], found: Mapping[str, Sequence[UsedSession]]) -> TemplateResults:
    """The uses and their success, with the sessions found by context id: several sessions with the same task are given the same
    context, and each of them counts. A session that got several contexts counts once."""
    number, sessions = 0, dict[str, bool | None]()
    for use in uses:
        number += 1
        sessions |= {each.session: each.passed for each in found.get(use.context, ())}
    results = list(sessions.values())
    return TemplateResults(
        uses=max(number, len(results)),
        sessions=len(results),
        succeeded=results.count(True),
        failed=results.count(False),
    )


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


def find_sessions(folder: str, uses: list[TemplateUse]) -> dict[str, list[UsedSession]]:
    """By context: the sessions that got it, as far as the archive has them."""
    if not uses or not has_archive(folder):
        return {}
    with closing(connect(folder)) as connection:
        return _sessions_of(connection, sorted(uses, key=lambda use: (-use.at, use.context)))


def _sessions_of(connection: ArchiveConnection, uses: list[TemplateUse]) -> dict[str, list[UsedSession]]:
    """By context: the sessions that got it. A session is searched once, for all contexts that it may have got."""
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
    found: defaultdict[str, list[UsedSession]] = defaultdict(list)
    for key in list(order)[:_MOST_SESSIONS]:
        for context in _contexts_in(connection, key, wanted[key]):
            found[context].append(UsedSession(key, passed.get(key)))
    return found


def _may_have_got(session: SessionSummary, use: TemplateUse) -> bool:
    started = session.started_at or 0.0
    return use.at - _BEFORE <= started <= use.at + _AFTER and use.agent in ("", session.agent)


def _contexts_in(connection: ArchiveConnection, key: str, wanted: set[str]) -> set[str]:
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
