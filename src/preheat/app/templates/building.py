"""Templates from the archive: which sessions, what they teach, and the template that is kept of it.

Knows nothing of how sessions are chosen (`templates.choice`) or what gets in (`templates.build`). Not light: whoever makes a
template imports this, and nothing else does.
"""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from typing import NamedTuple

from msgspec.structs import replace

from preheat.amounts import by_reason
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.learning.learning import study
from preheat.app.projects import projects
from preheat.archive.checks import last_checks
from preheat.archive.connect import connect
from preheat.archive.judgements import profiles
from preheat.archive.notes import folders
from preheat.archive.queries import find, sessions
from preheat.errors import UserError
from preheat.model.lesson import Lesson
from preheat.model.listing import Filter
from preheat.model.profile import SessionProfile
from preheat.model.template import Action
from preheat.safe_text.reasons import foreign, transient
from preheat.templates.build import Built, Request, build
from preheat.templates.choice import Best, Candidate, Choice, Group, Wanted, best, choose
from preheat.templates.names import LONGEST, check_name, name_from
from preheat.templates.store import Kept, Store

__all__ = [
    "Built", "Choice", "Group", "Made", "auto_templates", "best_sessions", "build_template", "candidates", "extract_template",
]  # fmt: skip

AUTO = "auto"
"""The tag of templates that nobody asked for by name."""


class Made(NamedTuple):
    """A template that was built and kept; its digest is empty where there was nothing in it to keep."""

    kept: Kept
    built: Built


# Three ways to make one.
def extract_template(
    folder: str, session: str, *, name: str = "", description: str = "", addendum: str = "", tags: tuple[str, ...] = ()
) -> Made:
    """From one session, whatever the support: a person chose it."""
    if name:
        check_name(name)
    with _judged(folder) as connection:
        summary = find(connection, session)
        wanted = Filter(agent=summary.agent, project=summary.project or None)
        found = [each for each in candidates(connection, wanted) if each.key == summary.key]
    if not found:
        raise UserError(f"`{summary.key}` could not be judged; `preheat sessions show {summary.session}` may say why")
    request = Request(
        name=name or name_from(f"{name_from(found[0].project or summary.agent)[:40]}-{summary.session[:8]}"),
        description=description,
        addendum=addendum,
        tags=tags,
        weak=True,
        filters={"session": summary.key},
    )
    return _worth_it(_make(folder, request, found, "extracted", f"from {summary.session[:24]}"))


def build_template(folder: str, request: Request, wanted: Filter, rule: Wanted) -> Made:
    """From the newest sessions that a filter lets through and that fit."""
    check_name(request.name)
    with _judged(folder) as connection:
        choice = choose(candidates(connection, wanted), rule)
    if not choice.chosen:
        why = f": {by_reason(choice.skipped)}" if choice.skipped else "; `preheat sessions list` shows what there is"
        raise UserError(f"no session fits{why}")
    asked = {name: str(getattr(rule, name)) for name in Wanted.__struct_fields__}
    request = replace(request, skipped=choice.skipped, filters={**request.filters, **asked})
    return _worth_it(_make(folder, request, choice.chosen, "built", f"{len(choice.chosen)} sessions"))


def best_sessions(folder: str, wanted: Filter, rule: Best) -> list[Group]:
    """The best sessions by project; projects that have too few are told of as well."""
    with _judged(folder) as connection:
        return best(candidates(connection, wanted), rule)


def auto_templates(folder: str, groups: Iterable[Group], rule: Best) -> list[Made]:
    """A template for each group that has enough sessions, in their order."""
    groups = [group for group in groups if group.enough]
    made = []
    for group, name in zip(groups, _names(Store(folder), groups), strict=True):
        request = Request(
            name=name,
            description=f"The best sessions of {group.project.replace(chr(92), '/').rpartition('/')[2]}",
            tags=(AUTO,),
            skipped=group.choice.skipped,
            filters={"min_calls": str(rule.min_calls), "max_mistakes": str(rule.max_mistakes)},
        )
        made.append(_make(folder, request, group.choice.chosen, "built", f"auto, {len(group.choice.chosen)} sessions"))
    return made


# What the archive knows.
def candidates(connection: sqlite3.Connection, wanted: Filter) -> list[Candidate]:
    """Every judged session that a filter lets through."""
    measured = {f"{profile.agent}:{profile.session}": profile for profile in profiles(connection, wanted)}
    passed = last_checks(connection)
    places = projects(folders(connection))  # of all sessions: a name depends on the others
    return [
        Candidate(
            key=each.key,
            profile=measured[each.key],
            project=places[each.project].name if each.project in places else "",
            ended_at=each.ended_at,
            starter=each.starter,
            delegated=each.relation == "subagent",
            passed=passed.get(each.key),
        )
        for each in sessions(connection, wanted)
        if each.key in measured
    ]


def _judged(folder: str) -> closing[sqlite3.Connection]:
    """The archive with every session judged."""
    analyse_archive(folder, need="rows")
    return closing(connect(folder))


def _make(folder: str, request: Request, chosen: Iterable[Candidate], action: Action, note: str) -> Made:
    """Study the sessions, those of each project by themselves, build the template and keep it, if there is anything in it."""
    by_project: defaultdict[str, list[str]] = defaultdict(list)
    for each in chosen:
        by_project[each.project].append(each.key)
    lessons: list[Lesson] = []
    measured: dict[str, SessionProfile] = {}
    for _, keys in sorted(by_project.items()):
        studied = study(folder, sorted(keys))
        lessons += studied.lessons
        measured |= studied.profiles
    project = next(iter(by_project)) if len(by_project) == 1 else ""
    now = time.time()
    request = replace(request, created_at=now, project=project)
    built = build(request, lessons, measured, lambda text: foreign(text) or transient(text))
    if not built.template.lessons:
        return Made(Kept("", False), built)
    return Made(Store(folder).keep(built.template, action, now, note), built)


def _worth_it(made: Made) -> Made:
    """What was asked for by name must have something in it."""
    if not made.kept.digest:
        left_out, sessions_of = made.built.left_out, made.built.template.extraction.sessions
        why = f" ({by_reason(left_out)})" if left_out else ""
        advice = "; `--weak` takes what has little support too" if left_out.get("weak") else ""
        noun = "session" if sessions_of == 1 else "sessions"
        raise UserError(f"{sessions_of} {noun} taught nothing that is worth a template{why}{advice}; nothing was kept")
    return made


def _names(store: Store, groups: list[Group]) -> list[str]:
    """A name for each: two projects never share one, and what a person built under it is left alone."""
    given: list[str] = []
    taken = {name.casefold() for name in store.names() if not _is_auto(store, name)}
    for group in groups:
        name, number = name_from(group.project), 1
        while name.casefold() in taken:
            number += 1
            name = f"{name_from(group.project)[: LONGEST - 8]}-{AUTO}" + (f"-{number}" if number > 2 else "")
        taken.add(name.casefold())
        given.append(name)
    return given


def _is_auto(store: Store, name: str) -> bool:
    try:
        return AUTO in store.find(name).template.tags
    except UserError:
        return False
