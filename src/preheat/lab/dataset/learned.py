"""Lessons and templates as rows: what several projects learned alike, without where it was learned. Knows no archive."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from msgspec.structs import asdict, astuple

from preheat.lab.dataset.pseudonyms import Pseudonyms
from preheat.lab.dataset.rows import LessonRow, Said, TemplateRow
from preheat.lab.dataset.threshold import Spread
from preheat.model.lesson import Lesson, LessonKind
from preheat.model.template import Template

OWN: frozenset[LessonKind] = frozenset(("resume", "working_set"))
"""Kinds that belong to one project by what they are."""
_STYLES = ("command_driven", "conversational", "terse", "detailed", "balanced")


General: TypeAlias = Callable[[str], str]


def said(lesson: Lesson, general: General, tool: Callable[[str], str]) -> Said:
    """What a lesson says, with nothing in it that names anybody."""
    return Said(
        kind=lesson.kind,
        topic=general(lesson.topic),
        tool=tool(lesson.scope.tool) if lesson.scope.tool else "",
        use=general(lesson.use),
        avoid=general(lesson.avoid),
        error=general(lesson.error),
        difference=general(lesson.difference),
        steps=tuple(map(general, lesson.steps)),
    )


def _says_nothing(found: Said) -> bool:
    """Whether all that it says stood in its sentence, which is not told."""
    return not any((found.use, found.avoid, found.error, found.difference, *found.steps))


def _key(found: Said) -> str:
    *parts, steps = astuple(found)
    return "\0".join((*parts, *steps))


class Lessons:
    """Lessons that say the same, put together."""

    def __init__(self, spread: Spread, general: General, tool: Callable[[str], str]) -> None:
        self.left_out: Counter[str] = Counter()
        """By reason."""
        self._spread, self._general, self._tool = spread, general, tool
        self._groups: dict[Said, list[Lesson]] = {}

    def add(self, lesson: Lesson, projects: Iterable[str]) -> None:
        """A lesson, with the projects that it was learned in."""
        if lesson.kind in OWN:
            self.left_out["belongs to one project"] += 1
        elif lesson.status == "quarantined":
            self.left_out["quarantined"] += 1
        else:
            found = said(lesson, self._general, self._tool)
            if _says_nothing(found):
                self.left_out["says nothing without its details"] += 1
                return
            self._groups.setdefault(found, []).append(lesson)
            self._spread.add("lesson", _key(found), "")
            for project in projects:
                self._spread.add("lesson", _key(found), project, 0)

    def rows(self, pseudonyms: Pseudonyms) -> list[LessonRow]:
        """Those that enough projects learned; the others are counted."""
        rows: list[LessonRow] = []
        for found, some in self._groups.items():
            if not self._spread.keeps("lesson", _key(found)):
                self.left_out["in too few projects"] += len(some)
                continue
            rows.append(
                LessonRow(
                    lesson=pseudonyms.of("lesson", _key(found)),
                    **asdict(found),
                    projects=self._spread.projects("lesson", _key(found)),
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
        """A template by those of its lessons that may be told."""
        kept: list[str] = []
        for lesson in template.lessons:
            if lesson.kind not in OWN:
                name = pseudonyms.of("lesson", _key(said(lesson, self._general, self._tool)))
                kept += [name] if name in known else []
        user = template.user.style
        return TemplateRow(
            template=pseudonyms.of("template", template.name),
            lessons=tuple(sorted(set(kept))),
            left_out=len(template.lessons) - len(kept),
            kinds=dict(sorted(Counter(lesson.kind for lesson in template.lessons).items())),
            sessions=template.extraction.sessions,
            calls=template.extraction.calls,
            error_rate=template.extraction.error_rate,
            mistake_rate=template.extraction.mistake_rate,
            user_style=user if user in _STYLES else "unknown",
        )
