"""What a project's instruction files say already, and what in them contradicts what sessions showed. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from preheat.commands.purposes import purpose_of_command
from preheat.facts.checks import CHECK_TOPICS
from preheat.facts.fitness import single_body
from preheat.facts.join import has_no_manifest, is_stale
from preheat.facts.packages import find_locks, find_packages
from preheat.facts.unreadable import find_unreadable
from preheat.facts.values import ProjectTree
from preheat.model.lesson import Lesson, Scope
from preheat.stated import CUSTOM_SWITCHES, StatedCommand, Statements, command_parts, is_same_command

_ENOUGH = 3


class Contradiction(NamedTuple):
    """Something that an instruction file says and sessions or the tree show otherwise."""

    file: str
    line: int
    """The number of the line that says it, from 1; 0 where no single line does."""
    command: str
    """The command that the file states."""
    instead: str
    """What works instead; empty where that is not known."""
    why: str
    lesson: str = ""
    """The id of the lesson that shows it."""

    @property
    def text(self) -> str:
        """What is so, in a sentence."""
        return f"{self.why}; `{self.instead}` works" if self.instead else self.why


def is_stated(lesson: Lesson, statements: Statements) -> bool:
    """Whether an instruction file states a lesson already: its command, its path or its names, in whatever words. A line that
    also warns of something that fails is not stated unless the file advises against that."""
    if lesson.kind != "convention" or lesson.topic in ("correction", "style"):
        return False
    if lesson.avoid and not statements.forbids(lesson.avoid):
        return False
    details = lesson.details
    if lesson.topic == "pull_request" and "pull_request" in statements.customs:
        switches = CUSTOM_SWITCHES.intersection(f"{lesson.use} {details.get('merge', '')}".split())
        return switches <= statements.customs
    if lesson.topic in statements.customs:
        return True
    if lesson.topic == "commit":
        beginnings = tuple(f"{name}{sign}" for name in details.get("types", "").split(",") if name for sign in ":(")
        return any(code.startswith(beginnings) for code in statements.codes)
    if lesson.topic == "variable":
        names = [name for name in details.get("names", "").split(",") if name]
        return bool(names) and all(any(name in code for code in statements.codes) for name in names)
    if lesson.topic == "hook":
        return any(path in code for code in statements.codes for path in lesson.files)
    if lesson.topic == "runner":
        name = details.get("name") or (lesson.forms[0].partition(" ")[0] if lesson.forms else "")
        return any(each.words[0] == name for each in statements.commands)
    if lesson.topic == "folder":
        return any(f"cd {folder}" in code for code in statements.codes for folder in lesson.files)
    if details.get("path") and lesson.topic in ("generate", "release"):
        path = details["path"].rstrip("/")
        return any(path in code for code in statements.codes)
    return any(statements.states(each) for each in (lesson.use, single_body(lesson)) if each)


def find_contradictions(
    lessons: Iterable[Lesson], tree: ProjectTree, statements: Mapping[str, Statements]
) -> list[Contradiction]:
    """Commands that instruction files state and that fail here, or that run scripts which the tree does not have; package runners
    that contradict each other; and manifests that cannot be read."""
    found: dict[tuple[str, str], Contradiction] = {}
    known = list(lessons)
    for file, stated in statements.items():
        for lesson in known:
            opposite = _find_opposite(stated, lesson)
            if opposite is not None:
                why = _describe_failing(lesson)
                each = Contradiction(file, opposite.line + 1, opposite.text, lesson.use, why, lesson.id)
                found.setdefault((file, opposite.text), each)
        for command in stated.commands:
            texts = {command.text, command.whole_text}
            if (file, command.text) not in found and all(
                is_stale(_as_lesson(each, tree.project), tree) or has_no_manifest(each, tree) for each in texts
            ):
                why = "the tree has no such script or folder"
                found[file, command.text] = Contradiction(file, command.line + 1, command.text, "", why)
    for package in find_packages(tree):
        locks = find_locks(tree, package.folder)
        if not package.runner and len(locks) > 1:
            place = f"{package.folder}/package.json".lstrip("/")
            why = f"there are lock files of several package managers: {', '.join(locks)}"
            found.setdefault((place, ""), Contradiction(place, 0, "", "", why))
    for broken in find_unreadable(tree):
        found.setdefault((broken.file, ""), Contradiction(broken.file, broken.line, "", "", broken.why))
    return list(found.values())


def _find_opposite(stated: Statements, lesson: Lesson) -> StatedCommand | None:
    """The stated command that a lesson shows to fail; None if there is none, or it is the one to use: `pytest tests` fails, and
    the file says `uv run pytest tests`."""
    is_shown = lesson.kind in ("repair", "convention") or (
        lesson.kind == "dead_end" and lesson.support.calls_for >= _ENOUGH
    )
    if lesson.status != "active" or not lesson.avoid or not is_shown:
        return None
    opposite = stated.find_command(lesson.avoid)
    if opposite is None:
        return None
    is_use = any(is_same_command(opposite.words, words) for words in command_parts(lesson.use))
    return None if is_use and stated.find_command(lesson.use) is not None else opposite


def _describe_failing(lesson: Lesson) -> str:
    support = lesson.support
    return f"failed {support.calls_for} of {support.calls_for} times" if lesson.kind == "dead_end" else "fails here"


def _as_lesson(command: str, project: str) -> Lesson:
    return Lesson(id="", kind="convention", scope=Scope(project=project), text="", use=command)


def without_stated(lessons: Sequence[Lesson], statements: Statements) -> list[Lesson]:
    """The lessons that no instruction file states, and nothing that one advises against; pinned ones stay. Where a file says that
    there are pull requests and not how they are made or merged, that waits for one."""
    return [
        lesson if lesson.pinned or lesson.topic != "pull_request" else _as_far_as_open(lesson, statements)
        for lesson in lessons
        if lesson.pinned or not (is_stated(lesson, statements) or _is_forbidden(lesson, statements))
    ]


def _is_forbidden(lesson: Lesson, statements: Statements) -> bool:
    return lesson.kind == "convention" and bool(lesson.use) and statements.warns_of(lesson.use)


def _as_far_as_open(lesson: Lesson, statements: Statements) -> Lesson:
    """A lesson on pull requests without what a file leaves to others or says in words of its own."""
    details = lesson.details
    if details.get("merge") and statements.warns_of(details["merge"]):
        details = {name: text for name, text in details.items() if name != "merge"}
    reach = 0.0 if lesson.topic in statements.customs else lesson.reach
    return msgspec.structs.replace(lesson, reach=reach, details=details)


def checks_stated(statements: Statements, facts: Iterable[Lesson] = ()) -> frozenset[str]:
    """The topics of the checks of which an instruction file states a command, ours or another: by what the command is called, or
    as one of the facts has it."""
    known = {
        fact.topic
        for fact in facts
        if fact.topic in CHECK_TOPICS
        and fact.details.get("about") == fact.topic
        and any(statements.states(each) for each in (fact.use, fact.details.get("body", "")) if each)
    }
    return _purposes_stated(statements) | known


@lru_cache(maxsize=16)
def _purposes_stated(statements: Statements) -> frozenset[str]:
    return frozenset(
        purpose for each in statements.commands if (purpose := purpose_of_command(" ".join(each.words))) in CHECK_TOPICS
    )
