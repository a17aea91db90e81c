"""What is wrong with a file of shared lessons: for the repository's own checks. Pure: what the tree says is passed in."""

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from preheat.lesson_meaning import contradict
from preheat.model.lesson import Lesson
from preheat.sharing.document import Document
from preheat.sharing.entry import Describe, restore_lesson
from preheat.sharing.faults import Reason, find_faults

ProblemKind: TypeAlias = Literal["unsafe", "contradicted", "stale"]
Judge: TypeAlias = Callable[[Lesson], str]
"""Says what is wrong with a lesson by the working tree; empty if nothing is."""


class FileProblem(NamedTuple):
    """One thing that is wrong."""

    kind: ProblemKind
    line: int
    """Counted from 1; 0 for the whole file."""
    lesson: str
    """The id; empty for a line that is no lesson."""
    why: str


class CheckedLine(NamedTuple):
    """A lesson that may be used."""

    line: int
    lesson: Lesson


class CheckedDocument(NamedTuple):
    """The lessons of a file that may be used, and why others may not."""

    lines: tuple[CheckedLine, ...]
    problems: tuple[FileProblem, ...]

    @property
    def lessons(self) -> list[Lesson]:
        return [each.lesson for each in self.lines]


def check_safety(
    document: Document, describe: Describe, now: float, secret_reason: Reason, project: str = ""
) -> CheckedDocument:
    """The lessons that may be used as they stand; everything else is unsafe."""
    problems = [FileProblem("unsafe", each.line, "", each.why) for each in document.faults]
    lines: list[CheckedLine] = []
    for line, entry in document.lines:
        faults = find_faults(entry, describe, now, secret_reason)
        lesson = None if faults else restore_lesson(entry, describe, project)
        if lesson is not None:
            lines.append(CheckedLine(line, lesson))
        problems += (FileProblem("unsafe", line, _shown_id(entry.id), why) for why in faults)
    return CheckedDocument(tuple(lines), tuple(problems))


def _shown_id(name: str) -> str:
    """An id of the file, if it is made of what ids are made of."""
    return name if len(name) <= 24 and all(letter.isalnum() or letter == "-" for letter in name) else "…"


def check_document(checked: CheckedDocument, is_stale: Judge, is_contradicted: Judge) -> list[FileProblem]:
    """Everything that is wrong with a file, in the order of its lines."""
    problems = list(checked.problems)
    for line, lesson in checked.lines:
        if why := is_stale(lesson):
            problems.append(FileProblem("stale", line, lesson.id, why))
        if why := is_contradicted(lesson):
            problems.append(FileProblem("contradicted", line, lesson.id, why))
    problems += _find_opposites(checked.lines)
    return sorted(problems, key=lambda each: (each.line, each.kind, each.why))


# What a lesson says of the working tree.
_INTERPRETERS = frozenset(
    ["python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "deno", "bun", "php", "tsx"]
)
_MADE = frozenset(["node_modules", ".venv", "venv", "target", "dist", "build", "out", "bin", "vendor", ".tox"])
"""Folders that a checkout does not have before it was built."""
_FILE = re.compile(r"(?:\./)?(?:[\w@.-]+/)*[\w@-][\w@.-]*\.[A-Za-z]\w{0,5}|\./[\w@./-]+")
_INSTALL = re.compile(r"(?:cd (?P<folder>[\w./@-]+) && )?(?P<runner>npm|pnpm|yarn|bun) (?:install|ci|i|add)(?:\s|$)")


def find_named_files(lesson: Lesson) -> list[str]:
    """The files of the tree that a lesson cannot do without: the script that its command runs, the file that it is about."""
    if lesson.kind == "working_set":
        return [lesson.use.rstrip("/")] if lesson.use else []
    words = lesson.use.split()
    script = words[1] if len(words) > 1 and words[0] in _INTERPRETERS else words[0] if words else ""
    named = (
        script.removeprefix("./") if _FILE.fullmatch(script) and (words[0] in _INTERPRETERS or "/" in script) else ""
    )
    return [named] if named and named.split("/")[0] not in _MADE else []


def named_runner(lesson: Lesson) -> tuple[str, str] | None:
    """The package manager that a lesson installs or runs packages with, and the folder; None if it names none."""
    found = _INSTALL.match(lesson.use)
    if found is not None:
        return found["runner"], found["folder"] or ""
    if lesson.topic == "runner" and lesson.forms:
        return lesson.forms[0].partition(" ")[0], ""
    return None


def _find_opposites(lines: Sequence[CheckedLine]) -> list[FileProblem]:
    found = []
    for place, (line, lesson) in enumerate(lines):
        for other in lines[:place]:
            if contradict(lesson, other.lesson):
                why = f"it says the opposite of `{other.lesson.id}` on line {other.line}"
                found.append(FileProblem("contradicted", line, lesson.id, why))
    return found
