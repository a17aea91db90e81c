"""What may be published because enough projects share it: tools, models, versions, command forms, errors, lessons. Knows no
archive.

Counted in projects, not in sessions: a thousand sessions of one team are still one team's. Names are removed first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from msgspec.structs import asdict, astuple

from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import OTHER, CallCounts, ErrorRow, FormRow, LessonContent, LessonRow, TemplateRow
from preheat.lab.dataset.session_rows import add_counts, count_calls
from preheat.model.lesson import Lesson, LessonKind
from preheat.model.outcome import Cause
from preheat.model.profile import CallRecord
from preheat.model.template import Template

_JOINTS = re.compile(r"(?<=[-._:])|(?=[-._:])")


class Spread:
    """The projects in which each value of each sort occurs, and how often it does."""

    def __init__(self, least: int) -> None:
        self.least = least
        self.left_out: dict[str, set[str]] = defaultdict(set)
        """The values that were asked for and have too few projects, by sort."""
        self._projects: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._times: Counter[tuple[str, str]] = Counter()

    def add(self, sort: str, value: str, project: str, times: int = 1) -> None:
        """Count a value in a project; a session without a project counts for none."""
        self._times[sort, value] += times
        if project:
            self._projects[sort, value].add(project)

    def add_beginnings(self, sort: str, value: str, project: str) -> None:
        """Count every beginning of a value in a project."""
        for beginning in beginnings(value):
            self.add(sort, beginning, project)

    def projects(self, sort: str, value: str) -> int:
        return len(self._projects.get((sort, value), ()))

    def times(self, sort: str, value: str) -> int:
        return self._times[sort, value]

    def has_enough(self, sort: str, value: str) -> bool:
        kept = self.projects(sort, value) >= self.least
        if not kept:
            self.left_out[sort].add(value)
        return kept

    def shared_beginning(self, sort: str, value: str) -> str:
        """The longest beginning that enough projects share; `other` if there is none."""
        for beginning in beginnings(value):
            if self.projects(sort, beginning) >= self.least:
                if beginning != value:
                    self.left_out[sort].add(value)
                return beginning
        if value:
            self.left_out[sort].add(value)
        return OTHER if value else ""

    def values(self, sort: str) -> list[str]:
        """The values of a sort that enough projects share, sorted; the others count as left out."""
        return sorted(value for kind, value in self._times if kind == sort and self.has_enough(sort, value))


def beginnings(value: str) -> list[str]:
    """`2.1.220` gives itself, `2.1` and `2`: the longest first."""
    parts = _JOINTS.split(value)
    found = ["".join(parts[:end]) for end in range(len(parts), 0, -2)]
    return [each for each in found if each]


class Vocabulary:
    """Collects values, then `settle` removes names from them, then it says which may be published."""

    def __init__(self, least: int, well_known: frozenset[str]) -> None:
        self.spread = Spread(least)
        self._well_known = well_known
        self._tools: Counter[tuple[str, str]] = Counter()
        self._models: Counter[tuple[str, str]] = Counter()
        self._versions: Counter[tuple[str, str, str]] = Counter()
        self._forms: dict[tuple[str, str], CallCounts] = {}
        self._errors: defaultdict[tuple[str, str], Counter[Cause]] = defaultdict(Counter)
        self._general: Callable[[str], str] = str
        self._nameless: Callable[[str], str] = str
        self._form_counts: dict[str, CallCounts] = {}
        self._error_counts: defaultdict[str, Counter[Cause]] = defaultdict(Counter)

    # Collecting.
    def add_session(self, project: str, agent: str, version: str, models: Iterable[str]) -> None:
        self._versions[agent, version, project] += 1
        for model in models:
            self._models[model, project] += 1

    def add_call(self, project: str, record: CallRecord, form: str) -> None:
        self._tools[record.tool, project] += 1
        if form:
            before = self._forms.get((form, project), CallCounts())
            self._forms[form, project] = add_counts(before, count_calls((record,)))
        if record.signature and record.cause is not None:
            self._errors[record.signature, project][record.cause] += 1

    # Settling.
    def settle(self, general: Callable[[str], str], nameless: Callable[[str], str]) -> None:
        """Count the projects of each value with names removed; `nameless` is for models and versions."""
        self._general, self._nameless = _cache_texts(general), _cache_texts(nameless)
        for (tool, project), times in self._tools.items():
            if tool not in self._well_known:
                self.spread.add("tool", self._general(tool), project, times)
        for model, project in self._models:
            self.spread.add_beginnings("model", self._nameless(_model_name(model)), project)
        for agent, version, project in self._versions:
            self.spread.add_beginnings(f"version of {agent}", self._nameless(version), project)
        for (form, project), found in self._forms.items():
            form = self._general(form)
            self.spread.add("form", form, project, found.calls)
            self._form_counts[form] = add_counts(self._form_counts.get(form, CallCounts()), found)
        for (signature, project), causes in self._errors.items():
            signature = self._general(signature)
            self.spread.add("error", signature, project, causes.total())
            self._error_counts[signature] += causes

    # Publishing.
    def tool(self, name: str) -> str:
        """A tool's name; `other` where too few projects use it."""
        if name in self._well_known:
            return name
        general = self._general(name)
        return general if self.spread.has_enough("tool", general) else OTHER

    def model(self, name: str) -> str:
        return self.spread.shared_beginning("model", self._nameless(_model_name(name)))

    def version(self, agent: str, version: str) -> str:
        return self.spread.shared_beginning(f"version of {agent}", self._nameless(version))

    def form(self, form: str) -> str:
        """The form of a command; empty where too few projects use it."""
        general = self._general(form) if form else ""
        return general if general and self.spread.has_enough("form", general) else ""

    def forms(self) -> list[FormRow]:
        return [
            FormRow(form, self.spread.projects("form", form), self._form_counts[form])
            for form in self.spread.values("form")
        ]

    def errors(self) -> list[ErrorRow]:
        return [
            ErrorRow(
                signature,
                self.spread.projects("error", signature),
                self.spread.times("error", signature),
                dict(sorted(self._error_counts[signature].items())),
            )
            for signature in self.spread.values("error")
        ]


def _model_name(model: str) -> str:
    """A model without the names of who serves it."""
    return model.rpartition("/")[2]


def _cache_texts(general: Callable[[str], str]) -> Callable[[str], str]:
    known: dict[str, str] = {}

    def look_up(text: str) -> str:
        if text not in known:
            known[text] = general(text)
        return known[text]

    return look_up


# Rows of lessons and templates.
PROJECT_KINDS: frozenset[LessonKind] = frozenset(("resume", "working_set"))
"""Kinds that belong to one project by what they are."""
_STYLES = ("command_driven", "conversational", "terse", "detailed", "balanced")


Generalise: TypeAlias = Callable[[str], str]


def lesson_content(lesson: Lesson, general: Generalise, tool: Callable[[str], str]) -> LessonContent:
    """The content of a lesson with all names removed."""
    return LessonContent(
        kind=lesson.kind,
        topic=general(lesson.topic),
        tool=tool(lesson.scope.tool) if lesson.scope.tool else "",
        use=general(lesson.use),
        avoid=general(lesson.avoid),
        error=general(lesson.error),
        difference=general(lesson.difference),
        steps=tuple(map(general, lesson.steps)),
    )


def _is_empty(found: LessonContent) -> bool:
    """Whether nothing is left of a lesson without its sentence, which is not published."""
    return not any((found.use, found.avoid, found.error, found.difference, *found.steps))


def _content_key(found: LessonContent) -> str:
    *parts, steps = astuple(found)
    return "\0".join((*parts, *steps))


class LessonRows:
    """Lessons that say the same, put together."""

    def __init__(self, spread: Spread, general: Generalise, tool: Callable[[str], str]) -> None:
        self.left_out: Counter[str] = Counter()
        """By reason."""
        self._spread, self._general, self._tool = spread, general, tool
        self._groups: dict[LessonContent, list[Lesson]] = {}

    def add(self, lesson: Lesson, projects: Iterable[str]) -> None:
        """A lesson, with the projects that it was learned in."""
        if lesson.kind in PROJECT_KINDS:
            self.left_out["belongs to one project"] += 1
        elif lesson.status == "quarantined":
            self.left_out["quarantined"] += 1
        else:
            found = lesson_content(lesson, self._general, self._tool)
            if _is_empty(found):
                self.left_out["says nothing without its details"] += 1
                return
            self._groups.setdefault(found, []).append(lesson)
            self._spread.add("lesson", _content_key(found), "")
            for project in projects:
                self._spread.add("lesson", _content_key(found), project, 0)

    def rows(self, pseudonyms: Pseudonyms) -> list[LessonRow]:
        """The rows of lessons that enough projects share; the others are counted as left out."""
        rows: list[LessonRow] = []
        for found, some in self._groups.items():
            if not self._spread.has_enough("lesson", _content_key(found)):
                self.left_out["in too few projects"] += len(some)
                continue
            rows.append(
                LessonRow(
                    lesson=pseudonyms.pseudonym("lesson", _content_key(found)),
                    **asdict(found),
                    projects=self._spread.projects("lesson", _content_key(found)),
                    lessons=len(some),
                    sessions_for=sum(each.support.sessions_for for each in some),
                    sessions_against=sum(each.support.sessions_against for each in some),
                    calls_for=sum(each.support.calls_for for each in some),
                    calls_against=sum(each.support.calls_against for each in some),
                    statuses=dict(sorted(Counter(each.status for each in some).items())),
                )
            )
        return sorted(rows, key=lambda row: row.lesson)

    def template_row(self, template: Template, pseudonyms: Pseudonyms, known: Mapping[str, LessonRow]) -> TemplateRow:
        """The row of a template, with the lessons that are published."""
        kept: list[str] = []
        for lesson in template.lessons:
            if lesson.kind not in PROJECT_KINDS:
                name = pseudonyms.pseudonym("lesson", _content_key(lesson_content(lesson, self._general, self._tool)))
                kept += [name] if name in known else []
        user = template.user.style
        return TemplateRow(
            template=pseudonyms.pseudonym("template", template.name),
            lessons=tuple(sorted(set(kept))),
            left_out=len(template.lessons) - len(kept),
            kinds=dict(sorted(Counter(lesson.kind for lesson in template.lessons).items())),
            sessions=template.extraction.sessions,
            calls=template.extraction.calls,
            error_rate=template.extraction.error_rate,
            mistake_rate=template.extraction.mistake_rate,
            user_style=user if user in _STYLES else "unknown",
        )
