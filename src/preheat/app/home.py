"""The first screen as values, from the archive as it is: costs, mistakes to mend, what the next session gets, the next step.

What depends on the archive alone is kept beside it, so that the screen is there at once while nothing is new. Knows nothing of
how it is shown.
"""

import os
from contextlib import closing, suppress
from datetime import datetime
from shlex import quote

import msgspec

from preheat import __version__
from preheat.agents import LIVE, WITH_HOOKS, places_of
from preheat.app.context import approved_texts, provision
from preheat.app.lazy import LazyModule
from preheat.app.sharing.notice import describe_untrusted
from preheat.archive import source_list, summary_cache
from preheat.errors import UserError
from preheat.installing.ledger import load_ledger
from preheat.model.context import Context
from preheat.model.cost import Cost
from preheat.model.health import AgentOverview, ArchiveSummary
from preheat.model.home import HomeMistake, HomeSummary, NextSession, NextStep
from preheat.settings import archive_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from preheat.app import costs as _costs
    from preheat.app import learning as _learning
    from preheat.app import proposals as _proposals
    from preheat.app.analysis import reliability as _reliability
    from preheat.app.experiments import comparisons as _experiments
    from preheat.app.sessions import archive as _sessions
    from preheat.app.sessions import sources as _sources
    from preheat.app.sessions.archive import SyncReport
    from preheat.archive import connect as _connect
    from preheat.archive import lessons as _lessons
    from preheat.archive import queries as _queries
    from preheat.model import listing as _listing
    from preheat.model.lesson import Lesson
    from preheat.model.mistake import Mistake, Mistakes
    from preheat.model.progress import Progress
    from preheat.provisioning import lesson_text as _lesson_text
else:  # while nothing is new, none of these is needed
    _connect = LazyModule("preheat.archive.connect")
    _costs = LazyModule("preheat.app.costs")
    _experiments = LazyModule("preheat.app.experiments.comparisons")
    _learning = LazyModule("preheat.app.learning")
    _lessons = LazyModule("preheat.archive.lessons")
    _listing = LazyModule("preheat.model.listing")
    _lesson_text = LazyModule("preheat.provisioning.lesson_text")
    _proposals = LazyModule("preheat.app.proposals")
    _queries = LazyModule("preheat.archive.queries")
    _reliability = LazyModule("preheat.app.analysis.reliability")
    _sessions = LazyModule("preheat.app.sessions.archive")
    _sources = LazyModule("preheat.app.sessions.sources")

DAY = 86400.0
WEEK = 7 * DAY
_MISTAKES_OF = 30 * DAY
"""How far back mistakes are looked for."""
_MOST_MISTAKES = 3
_MOST_SENTENCES = 6
_TOKENS_PER_SECOND = 50.0
"""How many tokens are as dear as a second, for ranking mistakes: about what a model writes in one."""


class ArchiveFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the first screen shows of the archive, wherever it is asked for."""

    archive: ArchiveSummary
    week: Cost | None
    week_until: float | None
    week_is_current: bool
    week_before: Cost | None
    total: Cost
    price_list: str
    mistakes: tuple[HomeMistake, ...]
    repeated: int
    repeated_calls: int
    effect: str


def summarize_home(folder: str, where: str, now: float) -> HomeSummary:
    """Everything the first screen shows. Reads no new session, and changes nothing but what is kept beside the archive."""
    facts = _load_facts(folder, now) if os.path.exists(archive_path(folder)) else None
    agents = _survey_agents(folder)
    installed = tuple(dict.fromkeys(each.agent for each in load_ledger(folder).files))
    waiting = sorted((each for each in agents if each.files), key=lambda each: -each.files)
    installable = tuple(each.agent for each in waiting if each.agent in WITH_HOOKS and each.agent not in installed)
    following = _describe_next_session(folder, where, installed or installable)
    return HomeSummary(
        version=__version__,
        agents=agents,
        archive=facts.archive if facts else None,
        week=facts.week if facts else None,
        week_until=facts.week_until if facts else None,
        week_is_current=facts.week_is_current if facts else False,
        week_before=facts.week_before if facts else None,
        total=facts.total if facts else None,
        price_list=facts.price_list if facts else "",
        mistakes=facts.mistakes if facts else (),
        repeated=facts.repeated if facts else 0,
        repeated_calls=facts.repeated_calls if facts else 0,
        next_session=following,
        installed=installed,
        installable=installable,
        effect=(facts.effect if facts and installed else "Not known: no agent calls Preheat yet."),
        next_step=_choose_step(facts, agents, installed, installable),
        untrusted=_find_untrusted(folder, where),
    )


def _find_untrusted(folder: str, where: str) -> str:
    with suppress(UserError):  # a state that cannot be read is the doctor's finding
        return describe_untrusted(folder, where)
    return ""


# What depends on the archive alone.
def _load_facts(folder: str, now: float) -> ArchiveFacts:
    key = _cache_key(now)
    kept = summary_cache.load(folder, key)
    if kept is not None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(kept, type=ArchiveFacts)
    found = _find_facts(folder, now)
    summary_cache.save(folder, key, msgspec.json.encode(found))
    return found


def _cache_key(now: float) -> str:
    """What is kept is of one day and one version."""
    return f"{__version__} {datetime.fromtimestamp(now):%Y-%m-%d}"


def _find_facts(folder: str, now: float) -> ArchiveFacts:
    with closing(_connect.connect(folder)) as connection:
        rows = _queries.totals(connection)
        lessons = _lessons.load_lessons(connection)
    archive = _sources.summarize_archive(archive_path(folder), rows)
    last = archive.last
    is_current = last is not None and last >= now - WEEK
    until = now if is_current or last is None else last
    costs = _costs.add_up_periods(folder, [(until - WEEK, until), (until - 2 * WEEK, until - WEEK)])
    week, before = costs.periods
    found = _reliability.Reliability(folder, analyse=False).mistakes(
        _listing.SessionFilter(since=until - _MISTAKES_OF), by="tokens"
    )
    return ArchiveFacts(
        archive=archive,
        week=week if week.responses else None,
        week_until=until,
        week_is_current=is_current,
        week_before=before if before.responses else None,
        total=costs.total,
        price_list=costs.price_list,
        mistakes=_choose_mistakes(folder, found, lessons),
        repeated=len(found.mistakes),
        repeated_calls=found.calls,
        effect=_describe_effect(folder, now),
    )


def _choose_mistakes(folder: str, found: "Mistakes", lessons: "Iterable[Lesson]") -> tuple[HomeMistake, ...]:
    """The dearest mistakes that a person can do something about: one way out of them stands out."""
    mendable = [
        each for each in found.mistakes if each.repair is not None and 2 * each.repair.count >= max(4, each.recovered)
    ]
    mendable.sort(key=lambda each: (-(each.tokens + _TOKENS_PER_SECOND * each.seconds), each.id))
    known = [lesson for lesson in lessons if lesson.kind in ("repair", "dead_end") and lesson.status == "active"]
    acts = _Acts(folder)
    return tuple(_as_home_mistake(each, known, acts) for each in mendable[:_MOST_MISTAKES])


class _Acts:
    """What a person can do about a mistake, for as long as its lesson is known and nothing was done."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lines: dict[str, frozenset[str]] = {}
        self._approved = approved_texts(folder)

    def choose(self, mistake: "Mistake", lesson: "Lesson | None") -> str:
        """Approve a lesson that no session is given; else have it in the project's instructions file, where every agent reads it;
        else pin it."""
        if lesson is None or lesson.pinned:
            return f"preheat mistakes {mistake.id}"
        if not _lesson_text.describe_lesson(lesson, self._approved):
            return f"preheat lessons approve {lesson.id}"
        project = lesson.scope.project
        if project and lesson.id in self._lines_for(project):
            return f"preheat lessons propose --project {quote(project)}"
        return f"preheat lessons pin {lesson.id}"

    def _lines_for(self, project: str) -> frozenset[str]:
        """The lessons that the instructions file of a project lacks; none where its folder is not on this machine."""
        if project not in self._lines:
            try:
                found = _proposals.Proposals(self._folder).propose(project)
                self._lines[project] = frozenset(line.lesson for line in found.proposal.lines)
            except UserError:
                self._lines[project] = frozenset()
        return self._lines[project]


def _as_home_mistake(mistake: "Mistake", lessons: "list[Lesson]", acts: _Acts) -> HomeMistake:
    repair = mistake.repair
    form = repair.form if repair is not None else ""
    instead = repair.instead if repair is not None else ""
    alike = [
        lesson
        for lesson in lessons
        if (lesson.use == instead if instead else lesson.difference == form)
        and not frozenset(lesson.signatures).isdisjoint(mistake.signatures)
    ]
    lesson = max(alike, key=lambda each: (each.support.calls_for, each.id), default=None)
    return HomeMistake(
        id=mistake.id,
        title=mistake.title,
        calls=mistake.calls,
        sessions=len(mistake.sessions),
        seconds=mistake.seconds,
        tokens=mistake.tokens,
        projects=mistake.projects,
        last_seen=mistake.last_seen,
        repair=form,
        worked=repair.count if repair is not None else 0,
        lesson=lesson.id if lesson is not None else "",
        command=acts.choose(mistake, lesson),
    )


def _describe_effect(folder: str, now: float) -> str:
    try:
        reports = _experiments.Experiments(folder).status(now).reports
    except UserError as error:
        return str(error)
    return reports[0].sentence if reports else ""


# What depends on the machine and on the folder.
def _survey_agents(folder: str) -> tuple[AgentOverview, ...]:
    """The agents that keep sessions on a machine, with their files; those that are new by the list beside the archive."""
    known = source_list.load(folder, archive_path(folder))
    found = []
    for agent in LIVE:
        places = places_of(agent)
        files = new = size = 0
        roots = places.roots(os.environ)
        for root in roots:
            with suppress(Exception):  # `preheat admin doctor` says what is wrong with a place
                for each in places.discover(root):
                    files += 1
                    if known is None or known.get(each.path) != source_list.list_entry(
                        each.stamp, places.reader_version
                    ):
                        new, size = new + 1, size + each.size
        found.append(AgentOverview(agent, places.title, files, new, size, roots))
    return tuple(found)


def _describe_next_session(folder: str, where: str, agents: "tuple[str, ...]") -> NextSession:
    """What a session of the first of the agents would be told, as its hook asks for it."""
    try:
        context = provision(folder, "", agent=agents[0] if agents else "", project=where, resuming=True, loaded=True)
    except UserError:  # no session ran here before: general lessons
        context = _provision_general(folder, where, agents)
    sentences = tuple(item.text for item in context.items[:_MOST_SENTENCES])
    return NextSession(
        folder=where,
        project=context.project,
        sentences=sentences,
        tokens=context.tokens,
        reason=context.reason,
    )


def _provision_general(folder: str, where: str, agents: "tuple[str, ...]") -> Context:
    return provision(folder, "", agent=agents[0] if agents else "", cwd=where)


def _choose_step(
    facts: ArchiveFacts | None,
    agents: "tuple[AgentOverview, ...]",
    installed: "tuple[str, ...]",
    installable: "tuple[str, ...]",
) -> NextStep:
    """The one command that brings most now."""
    if facts is None or not facts.archive.sessions:
        if any(agent.new for agent in agents):
            return NextStep(command="preheat sync", why="reads the sessions that were found")
        return NextStep(command="preheat demo", why="shows Preheat at work on sample sessions")
    if installable and not installed:
        others = f"; then the same for {', '.join(installable[1:])}" if installable[1:] else ""
        return NextStep(
            command=f"preheat install {installable[0]}", why=f"new sessions of it are told what was learned{others}"
        )
    if installable:
        return NextStep(
            command=f"preheat install {installable[0]}", why="it is used here and does not call Preheat yet"
        )
    if not installed:
        return NextStep(command='preheat start --task "…"', why="prints what a new session should know, for any agent")
    return NextStep(command="preheat report --week", why="says what is new, better and worse")


# Reading what is new.
def read_news(folder: str, progress: "Progress", now: float) -> "SyncReport | None":
    """Read what is new into the archive and learn from it; None if no file is new. An archive is made only for a session."""
    path = archive_path(folder)
    report = None
    if any(agent.new for agent in _survey_agents(folder)):
        report = _sessions.sync(folder, progress=progress)
    if os.path.exists(path) and summary_cache.load(folder, _cache_key(now)) is None:
        with closing(_connect.connect(folder)) as connection:
            if not any(row.sessions for row in _queries.totals(connection)):
                return report
        _learning.learn(folder, progress=progress)
        _sessions.sync(folder)  # the list of files that it keeps is good for the archive as it is only
    return report
