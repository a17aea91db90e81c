"""Variables that nearly all calls of `make` set: other targets that use them are said with them too. Pure."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from preheat.facts.main_check import ENOUGH, OPEN_PLACE
from preheat.facts.values import ProjectTree
from preheat.manifests.make_variables import names_of, read_variables
from preheat.manifests.scripts import Script, read_scripts
from preheat.model.lesson import Lesson

_FILES = ("GNUmakefile", "makefile", "Makefile")
_SET = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>[\w.@+-][\w./@:+-]*)")
"""A variable with a value of the project: no place outside of it."""
_CALLED = re.compile(r"(?:\bmake|\$[({]MAKE[)}])((?: [A-Za-z_][\w./-]*)+)")
_NEARLY_ALL = 0.8


def with_usual_variables(facts: Sequence[Lesson], lessons: Sequence[Lesson], tree: ProjectTree) -> Sequence[Lesson]:
    """The facts, targets of the project's own Makefile with the variables of theirs that sessions nearly always set."""
    calls = [each for each in lessons if each.kind == "convention" and each.use.startswith("make ")]
    if not any(_SET.search(each.use) for each in calls):
        return facts
    used = _find_used(tree)
    usual = _find_usual(calls, used)
    return [_with_variables(fact, usual, used) for fact in facts] if usual else facts


def _find_used(tree: ProjectTree) -> Mapping[str, frozenset[str]]:
    """By the targets of the project's own Makefile, the variables that they and the targets which they run use."""
    path = next((each for each in _FILES if each in tree.texts), "")
    text = tree.texts.get(path, "")
    variables = read_variables(text)
    scripts = {each.name: each for each in read_scripts(path, text)}
    return {
        name: frozenset().union(*(names_of(each.body, variables) for each in _run_by(name, scripts)))
        for name in scripts
    }


def _run_by(name: str, scripts: Mapping[str, Script]) -> list[Script]:
    """A target with those that it runs."""
    names = [name]
    for each in names:
        called = {word for found in _CALLED.findall(scripts[each].body) for word in found.split()}
        names += sorted(word for word in called if word in scripts and word not in names)
    return [scripts[each] for each in names]


def _find_usual(calls: Sequence[Lesson], used: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The variables that nearly all calls of targets which use them set to the same value."""
    values = {
        (found["name"], found["value"]) for each in calls for found in map(_SET.fullmatch, each.use.split()) if found
    }
    usual = {}
    for name, value in sorted(values):
        of_name = [each for each in calls if any(name in used.get(word, ()) for word in each.use.split()[1:])]
        setting = [each for each in of_name if f"{name}={value}" in each.use.split()]
        is_enough = sum(each.support.sessions_for for each in setting) >= ENOUGH
        if is_enough and _count(setting) >= _NEARLY_ALL * _count(of_name) and not OPEN_PLACE.search(value):
            usual[name] = value
    return usual


def _count(calls: Sequence[Lesson]) -> int:
    return sum(max(each.support.calls_for, each.support.sessions_for) for each in calls)


def _with_variables(fact: Lesson, usual: Mapping[str, str], used: Mapping[str, frozenset[str]]) -> Lesson:
    words = fact.use.split()
    if len(words) != 2 or words[0] != "make":
        return fact
    needed = sorted(used.get(words[1], frozenset()) & usual.keys())
    return msgspec.structs.replace(fact, use=" ".join([*words, *(f"{name}={usual[name]}" for name in needed)]))
