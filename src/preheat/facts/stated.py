"""What a project's instruction files say already, and what in them contradicts what sessions showed. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.facts.checks import command_key
from preheat.facts.join import is_stale
from preheat.facts.packages import find_locks, find_packages
from preheat.facts.values import ProjectTree
from preheat.manifests.instructions import Statements
from preheat.model.lesson import Lesson, Scope

_ENOUGH = 3


class Contradiction(NamedTuple):
    """Something that an instruction file says and sessions or the tree show otherwise."""

    file: str
    stated: str
    """The command that the file states."""
    shown: str
    """What works instead; empty where that is not known."""
    why: str
    lesson: str = ""
    """The id of the lesson that shows it."""


def is_stated(lesson: Lesson, statements: Statements) -> bool:
    """Whether an instruction file states a lesson already: its command, its path or its names, in whatever words. A line that
    also warns of something that fails is not stated unless the file advises against that."""
    if lesson.kind != "convention" or lesson.topic in ("correction", "style"):
        return False
    if lesson.avoid and not any(command_key(each) == command_key(lesson.avoid) for each in statements.forbidden):
        return False
    details = lesson.details
    if lesson.topic == "commit":
        beginnings = tuple(f"{name}{sign}" for name in details.get("types", "").split(",") if name for sign in ":(")
        return any(code.startswith(beginnings) for code in statements.codes)
    if lesson.topic == "variable":
        names = [name for name in details.get("names", "").split(",") if name]
        return bool(names) and all(any(name in code for code in statements.codes) for name in names)
    if lesson.topic == "hook":
        return any(path in code for code in statements.codes for path in lesson.files)
    if lesson.topic == "runner":
        return (
            any(each.partition(" ")[0] == lesson.forms[0].partition(" ")[0] for each in statements.commands)
            if lesson.forms
            else False
        )
    if details.get("path") and lesson.topic in ("generate", "release"):
        path = details["path"].rstrip("/")
        return any(path in code for code in statements.codes)
    if not lesson.use:
        return False
    key = command_key(lesson.use)
    return any(command_key(each) == key or command_key(each).startswith(f"{key} ") for each in statements.commands)


def find_contradictions(
    lessons: Iterable[Lesson], tree: ProjectTree, statements: dict[str, Statements]
) -> list[Contradiction]:
    """Commands that instruction files state and that fail here, or that run scripts which the tree does not have; and package
    runners that contradict each other."""
    found: dict[tuple[str, str], Contradiction] = {}
    known = list(lessons)
    for file, stated in statements.items():
        for command in sorted(stated.commands):
            key = command_key(command)
            for lesson in known:
                failing = _shows_failing(lesson, key)
                if failing is not None:
                    found.setdefault((file, command), Contradiction(file, command, lesson.use, failing, lesson.id))
            if (file, command) not in found and is_stale(_as_lesson(command, tree.project), tree):
                found[file, command] = Contradiction(file, command, "", "the tree has no such script or folder")
    for package in find_packages(tree):
        locks = find_locks(tree, package.folder)
        if not package.runner and len(locks) > 1:
            place = f"{package.folder}/package.json".lstrip("/")
            found.setdefault(
                (place, ""),
                Contradiction(place, "", "", f"there are lock files of several package managers: {', '.join(locks)}"),
            )
    return list(found.values())


def _shows_failing(lesson: Lesson, key: str) -> str | None:
    """How a lesson shows that a command fails; None if it does not."""
    if lesson.status != "active" or not lesson.avoid or command_key(lesson.avoid) != key:
        return None
    support = lesson.support
    if lesson.kind == "dead_end" and support.calls_for >= _ENOUGH:
        return f"failed {support.calls_for} of {support.calls_for} times"
    if lesson.kind in ("repair", "convention"):
        return "fails here"
    return None


def _as_lesson(command: str, project: str) -> Lesson:
    return Lesson(id="", kind="convention", scope=Scope(project=project), text="", use=command)


def without_stated(lessons: Sequence[Lesson], statements: Statements) -> list[Lesson]:
    """The lessons that no instruction file states; pinned ones stay."""
    return [lesson for lesson in lessons if lesson.pinned or not is_stated(lesson, statements)]
