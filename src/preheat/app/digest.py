"""The weekly digest: what is new, better, worse, prevented, learned, and what waits for a person.

Counts of mistakes are counts, and say nothing of why; only what was assigned at random is called prevented, what receipts saw is
called seen. Knows nothing of how it is shown.
"""

from collections.abc import Iterable, Sequence
from contextlib import closing

from preheat.amounts import format_count
from preheat.app.analysis.reliability import Reliability
from preheat.app.costs import add_up_periods
from preheat.app.experiments.comparisons import Experiments
from preheat.app.home import WEEK
from preheat.app.lessons import Lessons
from preheat.app.live.receipts import collect_receipts
from preheat.app.project_assignment import Projects
from preheat.app.templates.library import Templates
from preheat.archive.connect import connect
from preheat.archive.lessons import load_lessons
from preheat.archive.queries import list_sessions
from preheat.errors import UserError
from preheat.model.digest import DigestForm, LearnedFact, MistakeTrend, WeeklyDigest
from preheat.model.lesson import Lesson
from preheat.model.listing import SessionFilter
from preheat.model.mistake import Mistake
from preheat.model.project import ProjectSummary
from preheat.receipts import add_up, describe_seen
from preheat.reports import render_digest_markdown, render_digest_page, render_digest_text

_MOST = 8
_LEAST_CHANGE = 2
"""Calls by which the numbers of two weeks must differ."""
_MOST_LEARNED = 10


def make_digest(folder: str, now: float, project: str = "") -> WeeklyDigest:
    """The digest of the last seven days, or of the last seven with a session; of one project (name or folder), or of all.
    Raises NotFound for an unknown project."""
    shown = Projects(folder).show(project) if project else None
    chosen = SessionFilter(project_key=shown.key) if shown is not None else SessionFilter()
    with closing(connect(folder)) as connection:
        ends = [each.ended_at for each in list_sessions(connection, chosen) if each.ended_at is not None]
        lessons = load_lessons(connection)
    last = max(ends, default=now)
    is_current = last >= now - WEEK
    until = now if is_current else last + 1
    since = until - WEEK
    costs = add_up_periods(folder, [(since, until), (since - WEEK, since)], chosen)
    repeated = Reliability(folder, analyse=False).mistakes(chosen).mistakes
    trends = [(each, _trend(each, since, until)) for each in repeated]
    prevented, not_shown = _find_prevented(folder, now)
    learned = [each for each in _new_lessons(lessons, since, until) if shown is None or each.project == shown.name]
    return WeeklyDigest(
        since=since,
        until=until,
        is_current=is_current,
        project=shown.name if shown is not None else "",
        week=costs.periods[0],
        before=costs.periods[1],
        price_list=costs.price_list,
        new=_choose(trend for each, trend in trends if trend.calls and (each.first_seen or 0.0) >= since),
        worse=_choose(
            trend
            for each, trend in trends
            if trend.calls - trend.calls_before >= _LEAST_CHANGE and (each.first_seen or 0.0) < since
        ),
        better=_choose(trend for _, trend in trends if trend.calls_before - trend.calls >= _LEAST_CHANGE),
        prevented=prevented,
        not_shown=not_shown,
        learned=tuple(learned[:_MOST_LEARNED]),
        learned_in_all=len(learned),
        seen=_find_seen(folder, since, until, shown),
        waiting=_find_waiting(folder, lessons, since, shown.name if shown is not None else None),
    )


def _trend(mistake: Mistake, since: float, until: float) -> MistakeTrend:
    times = [each.at for each in mistake.occurrences if each.at is not None]
    return MistakeTrend(
        id=mistake.id,
        title=mistake.title,
        calls=sum(since <= at < until for at in times),
        calls_before=sum(since - WEEK <= at < since for at in times),
        repair=mistake.repair.form if mistake.repair is not None else "",
    )


def _choose(trends: Iterable[MistakeTrend]) -> tuple[MistakeTrend, ...]:
    """Those with the greatest change."""
    ordered = sorted(trends, key=lambda each: (-abs(each.calls - each.calls_before), each.id))
    return tuple(ordered[:_MOST])


def _new_lessons(lessons: Sequence[Lesson], since: float, until: float) -> list[LearnedFact]:
    """Active lessons whose first evidence is of this span; where a session ended is not a lesson to tell of."""
    found = [
        each
        for each in lessons
        if each.status == "active"
        and each.packet is None
        and each.first_seen is not None
        and since <= each.first_seen < until
    ]
    found.sort(key=lambda each: (-each.support.sessions_for, each.id))
    return [LearnedFact(id=each.id, project=each.scope.project, text=each.text) for each in found]


def _find_prevented(folder: str, now: float) -> tuple[tuple[str, ...], str]:
    """What random assignment shows to help, and why nothing is known where nothing does."""
    try:
        reports = Experiments(folder).status(now).reports
    except UserError as error:
        return (), str(error)
    helps = tuple(each.sentence for each in reports if each.verdict == "helps")
    return helps, "" if helps else (reports[0].sentence if reports else "Nothing was assigned at random yet.")


def _find_seen(folder: str, since: float, until: float, project: ProjectSummary | None) -> tuple[str, ...]:
    """What the receipts of these days show, of one project or of all."""
    folders = [each.folder for each in project.folders] if project is not None else []
    return describe_seen(
        add_up(
            [
                each
                for each in collect_receipts(folder, since=since).sessions
                if each.last_at < until and (project is None or _holds_any(each.project, folders))
            ]
        )
    )


def _holds_any(root: str, folders: Iterable[str]) -> bool:
    """Whether one of the folders is this one, or in it."""
    return any(folder == root or folder.startswith(f"{root}/") for folder in folders)


def _find_waiting(folder: str, lessons: Sequence[Lesson], since: float, project: str | None) -> tuple[str, ...]:
    found = []
    undecided = [each.lesson for each in Lessons(folder).review(project)]
    proposed = sum(each.status == "waiting" for each in undecided)
    if proposed:
        found.append(
            f"{format_count(proposed, 'lesson')} of your own agent, given to nobody before you say so: `preheat lessons review`"
        )
    new = sum(each.status != "waiting" and (each.first_seen or 0.0) >= since for each in undecided)
    if new:
        found.append(f"{format_count(new, 'new lesson')} to keep, edit or drop: `preheat lessons review`")
    doubtful = sum(each.status == "quarantined" for each in lessons)
    if doubtful:
        found.append(
            f"{format_count(doubtful, 'lesson')} that could be instructions, given to nobody: `preheat lessons list --all`"
        )
    found += [
        f"the imported template `{each.name}`: `preheat templates review {each.name}`"
        for each in Templates(folder).summaries()
        if each.waiting
    ]
    return tuple(found)


def render(digest: WeeklyDigest, form: DigestForm, width: int) -> str:
    """A digest as text of a width, as Markdown, or as a page."""
    if form == "markdown":
        return render_digest_markdown(digest)
    return render_digest_page(digest) if form == "html" else render_digest_text(digest, width)
