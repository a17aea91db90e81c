"""Queries of the archive: lists, finds and searches sessions, and counts what it holds.

Knows nothing of the bytes of a session: `raw.py` loads them, the readers parse them.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from sqlalchemy import ColumnElement, Dialect, Integer, Select, and_, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from preheat.archive.database import ArchiveConnection, DatabaseKind, Rows
from preheat.archive.packing import unpack_passages
from preheat.archive.schema import (
    CALLS,
    CONTENTS,
    JUDGEMENTS,
    PLACES,
    PROBLEMS,
    REDACTIONS,
    SEGMENTS,
    SESSIONS,
    SOURCES,
)
from preheat.archive.search_index import find_best
from preheat.errors import NotFound
from preheat.model.listing import AgentTotals, SearchHit, SessionFilter, SessionSummary

_COLUMNS = [SESSIONS.c[name] for name in SessionSummary.__struct_fields__]
_SHORT_ENOUGH = 24
"""Characters of an id that is never shortened."""
_DIALECTS: dict[DatabaseKind, Dialect] = {
    "sqlite": sqlite.dialect(paramstyle="named"),
    "postgresql": postgresql.dialect(paramstyle="named"),  # type: ignore[no-untyped-call]
}


def run_query(connection: ArchiveConnection, statement: Select[Any]) -> Rows:
    """Run a SQLAlchemy query on a connection to the archive."""
    compiled = statement.compile(dialect=_DIALECTS[connection.kind], compile_kwargs={"render_postcompile": True})
    return connection.execute(str(compiled), compiled.params)


class place_of(FunctionElement[int]):  # noqa: N801 - a function of SQL
    """Where a text stands in another one, counted from one; 0 where it does not."""

    inherit_cache = True
    type = Integer()


@compiles(place_of, "sqlite")
def _compile_for_sqlite(element: place_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"instr({compiler.process(element.clauses, **options)})"


@compiles(place_of, "postgresql")
def _compile_for_postgresql(element: place_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **options)})"


def filter_condition(chosen: SessionFilter) -> ColumnElement[bool]:
    """The SQL condition of a filter on the table `sessions`."""
    table = SESSIONS.c
    wanted: list[ColumnElement[bool]] = []
    for column, text in (
        (table.agent, chosen.agent),
        (table.project, chosen.project if not chosen.project_key else None),
        (table.model, chosen.model),
    ):
        if text is not None:
            wanted.append(place_of(func.lower(column), text.lower()) > 0)
    if chosen.project_key:
        wanted.append(table.id.in_(select(PLACES.c.session_id).where(PLACES.c.project == chosen.project_key)))
    if chosen.since is not None:
        wanted.append(table.ended_at >= chosen.since)
    if chosen.until is not None:
        wanted.append(table.started_at <= chosen.until)
    if chosen.min_messages is not None:
        wanted.append(table.messages >= chosen.min_messages)
    if chosen.max_messages is not None:
        wanted.append(table.messages <= chosen.max_messages)
    if not chosen.subagents:
        wanted.append(or_(table.relation.is_(None), table.relation != "subagent"))
    return and_(True, *wanted)


def list_sessions(
    connection: ArchiveConnection, chosen: SessionFilter, limit: int | None = None
) -> list[SessionSummary]:
    """Sessions, the newest first."""
    statement = (
        select(*_COLUMNS)
        .where(filter_condition(chosen))
        .order_by(SESSIONS.c.started_at.desc().nulls_last(), SESSIONS.c.key)
        .limit(limit)
    )
    return [_summary(row) for row in run_query(connection, statement)]


def count_sessions(connection: ArchiveConnection, chosen: SessionFilter) -> int:
    """How many sessions a filter chooses."""
    statement = select(func.count()).select_from(SESSIONS).where(filter_condition(chosen))
    return int(run_query(connection, statement).fetchone()[0])


def count_unanalysed(connection: ArchiveConnection) -> int:
    """How many sessions have no analysis of their present state, by any version."""
    statement = (
        select(func.count())
        .select_from(SESSIONS)
        .where(
            ~select(JUDGEMENTS.c.session_id)
            .where(
                JUDGEMENTS.c.session_id == SESSIONS.c.id,
                JUDGEMENTS.c.source_id == SESSIONS.c.source_id,
                JUDGEMENTS.c.generation == SESSIONS.c.generation,
                JUDGEMENTS.c.events == SESSIONS.c.events,
            )
            .exists()
        )
    )
    return int(run_query(connection, statement).fetchone()[0])


def _summary(row: tuple[Any, ...]) -> SessionSummary:
    return SessionSummary(**dict(zip(SessionSummary.__struct_fields__, row, strict=True)))


def find_session(connection: ArchiveConnection, name: str) -> SessionSummary:
    """The session by its key, its id or the beginning of either; `latest` is the newest, `AGENT:latest` the newest of an
    agent. Raises NotFound."""
    if name == "latest":
        found = list_sessions(connection, SessionFilter(subagents=False), 1)
    elif name.endswith(":latest"):
        agent = name.removesuffix(":latest")
        found = [
            each
            for each in list_sessions(connection, SessionFilter(agent=agent, subagents=False))
            if each.agent == agent
        ][:1]
    else:
        table = SESSIONS.c
        exact = select(*_COLUMNS).where(or_(table.key == name, table.session == name))
        found = [_summary(row) for row in run_query(connection, exact)]
        if not found and len(name) >= 3:
            size = len(name)
            begins = or_(
                func.substr(table.key, 1, size) == name,
                func.substr(table.session, 1, size) == name,
                place_of(table.session, f":{name}") > 0,
            )
            found = [_summary(row) for row in run_query(connection, select(*_COLUMNS).where(begins).limit(20))]
            mains = [summary for summary in found if summary.relation != "subagent"]
            found = mains if len(mains) == 1 else found
    if not found:
        raise NotFound(f"no session `{name}` in the archive; `preheat sessions list` shows them")
    if len(found) > 1:
        several = ", ".join(f"`{summary.key}`" for summary in found[:5])
        raise NotFound(f"`{name}` could be any of {several}; give more of the id")
    return found[0]


def list_children(connection: ArchiveConnection, summary: SessionSummary) -> list[SessionSummary]:
    """The sessions that came out of one: subagents, forks, continuations."""
    table = SESSIONS.c
    statement = (
        select(*_COLUMNS)
        .where(table.agent == summary.agent, table.parent == summary.session)
        .order_by(table.started_at.asc().nulls_first(), table.key)
    )
    return [_summary(row) for row in run_query(connection, statement)]


def short_names(connection: ArchiveConnection, summaries: Sequence[SessionSummary], least: int = 8) -> dict[str, str]:
    """By key: the shortest beginning of the session's id that is unique, which `find_session` understands."""
    return short_names_of_keys(connection, [summary.key for summary in summaries], least)


def short_names_of_keys(connection: ArchiveConnection, keys: Iterable[str], least: int = 8) -> dict[str, str]:
    """As `short_names`, for keys; a session that is not in the archive gets its key."""
    rows = connection.execute("SELECT key, session, relation FROM sessions").fetchall()
    known = {key: (session, relation) for key, session, relation in rows}
    everything = sorted(session for _, session, _ in rows)
    mains = sorted(session for _, session, relation in rows if relation != "subagent")
    endings = Counter(session.partition(":")[2] for _, session, _ in rows)
    names: dict[str, str] = {}
    for key in keys:
        session, relation = known.get(key, ("", None))
        ending = session.partition(":")[2]
        if not session:
            names[key] = key
        elif relation != "subagent":
            names[key] = _shortest(mains, session, least)
        elif ending and endings[ending] == 1:
            names[key] = ending
        else:
            names[key] = _shortest(everything, session, least)
    return names


def _shortest(ordered: list[str], name: str, least: int) -> str:
    place = bisect_left(ordered, name)
    shared = 0
    for near in (place - 1, place + 1):
        if 0 <= near < len(ordered):
            same = (left == right for left, right in zip(name, ordered[near], strict=False))
            shared = max(shared, sum(1 for _ in takewhile(bool, same)))
    return name if len(name) <= _SHORT_ENOUGH else name[: max(least, shared + 1)]


# Search.
def search(
    connection: ArchiveConnection, words: str, chosen: SessionFilter, kinds: tuple[str, ...] = (), limit: int = 20
) -> Iterator[SearchHit]:
    """Passages that hold all the words, the best first. Words in double quotes form a phrase; `*` ends a prefix."""
    known: dict[int, SessionSummary | None] = {}
    hits = 0
    for number, block, session in find_best(connection, words):
        if session not in known:
            statement = select(*_COLUMNS).where(SESSIONS.c.id == session, filter_condition(chosen))
            row = run_query(connection, statement).fetchone()
            known[session] = _summary(row) if row else None
        summary = known[session]
        if summary is None:
            continue
        packed = connection.execute("SELECT data FROM passages WHERE id = ?", (block,)).fetchone()[0]
        passage = unpack_passages(packed)[number - block]
        if kinds and passage.kind not in kinds:
            continue
        yield SearchHit(session=summary, line=passage.line, kind=passage.kind, text=passage.text)
        hits += 1
        if hits >= limit:
            return


def search_terms(words: str) -> list[str]:
    """The words and phrases of a search, for highlighting."""
    return [
        term.strip().rstrip("*")
        for index, piece in enumerate(words.split('"'))
        for term in ([piece] if index % 2 else piece.split())
        if term.strip("* ")
    ]


# Contents.
def totals(connection: ArchiveConnection) -> list[AgentTotals]:
    """What the archive holds, by agent."""
    by_agent: dict[str, dict[str, Any]] = {}

    def fill(statement: Select[Any], *names: str) -> None:
        for agent, *values in run_query(connection, statement):
            by_agent.setdefault(agent, {}).update(zip(names, values, strict=True))

    fill(select(SOURCES.c.agent, func.count()).group_by(SOURCES.c.agent), "sources")
    fill(
        select(
            SESSIONS.c.agent, func.count(), func.sum(SESSIONS.c.calls), func.sum(SESSIONS.c.messages),
            func.min(SESSIONS.c.started_at), func.max(SESSIONS.c.ended_at),
        ).group_by(SESSIONS.c.agent),
        "sessions", "calls", "messages", "first", "last",
    )  # fmt: skip
    for table, column, name in (
        (PROBLEMS, func.count(), "problems"),
        (REDACTIONS, func.sum(REDACTIONS.c.count), "redactions"),
        (SEGMENTS, func.sum(SEGMENTS.c.length), "source_bytes"),
    ):
        fill(
            select(SOURCES.c.agent, column)
            .select_from(table.join(SOURCES, table.c.source_id == SOURCES.c.id))
            .group_by(SOURCES.c.agent),
            name,
        )
    zero: dict[str, Any] = {name: 0 for name in AgentTotals.__struct_fields__ if name not in ("agent", "first", "last")}
    return [
        AgentTotals(**{"first": None, "last": None, **zero, **values, "agent": agent})
        for agent, values in sorted(by_agent.items())
    ]


def list_sources(connection: ArchiveConnection) -> list[tuple[str, str]]:
    """Agent and path of every source."""
    statement = select(SOURCES.c.agent, SOURCES.c.path).distinct().order_by(SOURCES.c.path)
    return list(run_query(connection, statement))


def list_source_paths(connection: ArchiveConnection, keys: Sequence[str]) -> list[str]:
    """The files and databases that hold these sessions, copies included."""
    found: set[str] = set()
    for key in keys:
        statement = (
            select(SOURCES.c.path)
            .select_from(CONTENTS.join(SOURCES, CONTENTS.c.source_id == SOURCES.c.id))
            .where(CONTENTS.c.key == key)
        )
        found |= {row[0] for row in run_query(connection, statement)}
    return sorted(found)


def list_keys_in_sources(connection: ArchiveConnection, paths: Sequence[str]) -> list[str]:
    """Keys of the sessions in these files and databases."""
    statement = (
        select(CONTENTS.c.key)
        .select_from(CONTENTS.join(SOURCES, CONTENTS.c.source_id == SOURCES.c.id))
        .where(SOURCES.c.path.in_(paths))
        .distinct()
        .order_by(CONTENTS.c.key)
    )
    return [row[0] for row in run_query(connection, statement)]


def count_redactions(connection: ArchiveConnection) -> dict[str, int]:
    """How many secrets were redacted, by kind."""
    statement = select(REDACTIONS.c.kind, func.sum(REDACTIONS.c.count)).group_by(REDACTIONS.c.kind)
    return {
        kind: int(number)
        for kind, number in run_query(connection, statement.order_by(func.sum(REDACTIONS.c.count).desc()))
    }


def list_problems(connection: ArchiveConnection, limit: int = 100) -> list[tuple[str, int | None, str]]:
    """Path, line and message of what could not be read in the sources."""
    statement = (
        select(SOURCES.c.path, PROBLEMS.c.line, PROBLEMS.c.message)
        .select_from(PROBLEMS.join(SOURCES, PROBLEMS.c.source_id == SOURCES.c.id))
        .order_by(SOURCES.c.path, PROBLEMS.c.line.asc().nulls_first())
        .limit(limit)
    )
    return list(run_query(connection, statement))


def count_calls_by_tool(connection: ArchiveConnection, key: str) -> list[tuple[str, int, int]]:
    """Calls and flagged errors of a session by tool."""
    statement = (
        select(CALLS.c.tool, func.count(), func.count().filter(or_(CALLS.c.is_error, CALLS.c.exit_code != 0)))
        .select_from(CALLS.join(SESSIONS, CALLS.c.session_id == SESSIONS.c.id))
        .where(SESSIONS.c.key == key)
        .group_by(CALLS.c.tool)
        .order_by(func.count().desc(), CALLS.c.tool)
    )
    return list(run_query(connection, statement))
