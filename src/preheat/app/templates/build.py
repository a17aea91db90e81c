"""Builds templates from the archive: chooses sessions, learns from them, and stores the template.

Knows nothing of how sessions are chosen (`templates.choice`) or which lessons get in (`templates.build`). Heavy: only building a
template imports it.
"""

import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from typing import NamedTuple

from msgspec.structs import replace

from preheat.amounts import format_reasons
from preheat.app.analysis.one_pass import analyse_archive
from preheat.app.learning import learn_from
from preheat.app.project_assignment import assign_archive
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.judgements import session_profiles
from preheat.archive.projects import load_session_projects
from preheat.archive.queries import find_session, list_sessions
from preheat.archive.results import load_last_checks
from preheat.errors import UserError
from preheat.model.lesson import Lesson
from preheat.model.listing import SessionFilter
from preheat.model.profile import SessionProfile
from preheat.model.template import TemplateAction
from preheat.safe_text.reasons import foreign_reason, transient_reason
from preheat.templates.build import Built, Request, build
from preheat.templates.choice import BestRule, Candidate, Choice, Group, SessionRule, best_sessions, choose_sessions
from preheat.templates.names import LONGEST, check_name, make_name
from preheat.templates.store import StoredTemplate, TemplateStore

__all__ = [
    "Built",
    "BuiltTemplate",
    "Choice",
    "Group",
    "build_best_templates",
    "build_template",
    "extract_template",
    "find_best_sessions",
    "load_candidates",
]

AUTO = "auto"
"""The tag of templates that were built without being asked for by name."""


class BuiltTemplate(NamedTuple):
    """A template that was built and stored; the digest is empty if it was empty and not stored."""

    kept: StoredTemplate
    built: Built


# Three ways to build one.
def extract_template(
    folder: str, session: str, *, name: str = "", description: str = "", addendum: str = "", tags: tuple[str, ...] = ()
) -> BuiltTemplate:
    """Build a template from one session, with lessons of little support too."""
    if name:
        check_name(name)
    with _open_judged(folder) as connection:
        summary = find_session(connection, session)
        wanted = SessionFilter(agent=summary.agent, project=summary.project or None)
        found = [each for each in load_candidates(connection, wanted) if each.key == summary.key]
    if not found:
        raise UserError(f"`{summary.key}` could not be judged; `preheat sessions show {summary.session}` may say why")
    request = Request(
        name=name or make_name(f"{make_name(found[0].project or summary.agent)[:40]}-{summary.session[:8]}"),
        description=description,
        addendum=addendum,
        tags=tags,
        weak=True,
        filters={"session": summary.key},
    )
    return _check_not_empty(_build_and_store(folder, request, found, "extracted", f"from {summary.session[:24]}"))


def build_template(folder: str, request: Request, wanted: SessionFilter, rule: SessionRule) -> BuiltTemplate:
    """Build a template from the newest sessions that match a filter and a rule."""
    check_name(request.name)
    with _open_judged(folder) as connection:
        choice = choose_sessions(load_candidates(connection, wanted), rule)
    if not choice.chosen:
        reason = (
            f": {format_reasons(choice.skipped)}" if choice.skipped else "; `preheat sessions list` shows what there is"
        )
        raise UserError(f"no session fits{reason}")
    rule_settings = {name: str(getattr(rule, name)) for name in SessionRule.__struct_fields__}
    request = replace(request, skipped=choice.skipped, filters={**request.filters, **rule_settings})
    return _check_not_empty(_build_and_store(folder, request, choice.chosen, "built", f"{len(choice.chosen)} sessions"))


def find_best_sessions(folder: str, wanted: SessionFilter, rule: BestRule) -> list[Group]:
    """The best sessions by project, also of projects that have too few."""
    with _open_judged(folder) as connection:
        return best_sessions(load_candidates(connection, wanted), rule)


def build_best_templates(folder: str, groups: Iterable[Group], rule: BestRule) -> list[BuiltTemplate]:
    """Build a template for each group that has enough sessions."""
    groups = [group for group in groups if group.enough]
    made = []
    for group, name in zip(groups, _choose_names(TemplateStore(folder), groups), strict=True):
        request = Request(
            name=name,
            description=f"The best sessions of {group.project.replace(chr(92), '/').rpartition('/')[2]}",
            tags=(AUTO,),
            skipped=group.choice.skipped,
            filters={"min_calls": str(rule.min_calls), "max_mistakes": str(rule.max_mistakes)},
        )
        made.append(
            _build_and_store(
                folder, request, group.choice.chosen, "built", f"auto, {len(group.choice.chosen)} sessions"
            )
        )
    return made


# Sessions and lessons.
def load_candidates(connection: ArchiveConnection, wanted: SessionFilter) -> list[Candidate]:
    """Every judged session that matches a filter."""
    measured = {f"{profile.agent}:{profile.session}": profile for profile in session_profiles(connection, wanted)}
    passed = load_last_checks(connection)
    assign_archive(connection)
    projects = load_session_projects(connection)
    return [
        Candidate(
            key=each.key,
            profile=measured[each.key],
            project=projects.get(each.key, ""),
            ended_at=each.ended_at,
            starter=each.starter,
            delegated=each.relation == "subagent",
            passed=passed.get(each.key),
        )
        for each in list_sessions(connection, wanted)
        if each.key in measured
    ]


def _open_judged(folder: str) -> closing[ArchiveConnection]:
    """The archive, with all sessions judged."""
    analyse_archive(folder, need="rows")
    return closing(connect(folder))


def _build_and_store(
    folder: str, request: Request, chosen: Iterable[Candidate], action: TemplateAction, note: str
) -> BuiltTemplate:
    """Learn from the sessions, project by project, build the template, and store it unless it is empty."""
    by_project: defaultdict[str, list[str]] = defaultdict(list)
    for each in chosen:
        by_project[each.project].append(each.key)
    lessons: list[Lesson] = []
    measured: dict[str, SessionProfile] = {}
    for _, keys in sorted(by_project.items()):
        studied = learn_from(folder, sorted(keys))
        lessons += studied.lessons
        measured |= studied.profiles
    project = next(iter(by_project)) if len(by_project) == 1 else ""
    now = time.time()
    request = replace(request, created_at=now, project=project)
    built = build(request, lessons, measured, lambda text: foreign_reason(text) or transient_reason(text))
    if not built.template.lessons:
        return BuiltTemplate(StoredTemplate("", False), built)
    return BuiltTemplate(TemplateStore(folder).store(built.template, action, now, note), built)


def _check_not_empty(made: BuiltTemplate) -> BuiltTemplate:
    """Raise UserError if the template is empty."""
    if not made.kept.digest:
        left_out, sessions_of = made.built.left_out, made.built.template.extraction.sessions
        reasons = f" ({format_reasons(left_out)})" if left_out else ""
        advice = "; `--weak` takes what has little support too" if left_out.get("weak") else ""
        noun = "session" if sessions_of == 1 else "sessions"
        raise UserError(
            f"{sessions_of} {noun} taught nothing that is worth a template{reasons}{advice}; nothing was kept"
        )
    return made


def _choose_names(store: TemplateStore, groups: list[Group]) -> list[str]:
    """A name for the template of each group: no two share one, and no template of a person is replaced."""
    names: list[str] = []
    taken = {name.casefold() for name in store.names() if not _is_auto(store, name)}
    for group in groups:
        name, number = make_name(group.project), 1
        while name.casefold() in taken:
            number += 1
            name = f"{make_name(group.project)[: LONGEST - 8]}-{AUTO}" + (f"-{number}" if number > 2 else "")
        taken.add(name.casefold())
        names.append(name)
    return names


def _is_auto(store: TemplateStore, name: str) -> bool:
    try:
        return AUTO in store.find(name).template.tags
    except UserError:
        return False
