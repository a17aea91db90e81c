"""What a working tree says of shared lessons: which name what it lacks, and which its manifests contradict. Reads files only."""

import os

from preheat.app.facts import read_tree
from preheat.facts.join import is_stale
from preheat.facts.packages import find_packages, find_runner
from preheat.facts.values import ProjectTree
from preheat.model.lesson import Lesson
from preheat.sharing.check import Judge, find_named_files, named_runner


def make_judges(root: str, project: str) -> tuple[Judge, Judge]:
    """Functions that say why a lesson is stale, and why the tree contradicts it."""
    tree = read_tree(root, project)

    def find_staleness(lesson: Lesson) -> str:
        return _find_staleness(lesson, tree, root)

    def find_contradiction(lesson: Lesson) -> str:
        return _find_contradiction(lesson, tree)

    return find_staleness, find_contradiction


def _find_staleness(lesson: Lesson, tree: ProjectTree, root: str) -> str:
    if not tree.paths:
        return ""
    for path in find_named_files(lesson):
        is_there = path in tree.paths or tree.has_folder(path) or os.path.exists(os.path.join(root, path))
        if not is_there:
            return f"the tree has no `{path}`"
    if not is_stale(lesson, tree):
        return ""
    if lesson.kind == "dead_end":
        return f"the tree has what `{lesson.avoid}` runs by now"
    return "the tree has no such script, folder or file"


def _find_contradiction(lesson: Lesson, tree: ProjectTree) -> str:
    """A lesson that installs packages with another program than the one whose lock file is there."""
    named = named_runner(lesson)
    if named is None or not any(package.folder == named[1] for package in find_packages(tree)):
        return ""
    runner = find_runner(tree, named[1])
    return f"the tree's packages are those of `{runner}`, not of `{named[0]}`" if runner not in ("", named[0]) else ""
