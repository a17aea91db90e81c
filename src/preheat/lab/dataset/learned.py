"""Rows of lessons and templates: lessons that several projects share, without their origin. Knows no archive."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from msgspec.structs import asdict, astuple

from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import LessonContent, LessonRow, TemplateRow
from preheat.lab.dataset.threshold import Spread
from preheat.model.lesson import Lesson, LessonKind
from preheat.model.template import Template

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
