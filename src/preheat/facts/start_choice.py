"""Which facts every session of a project is told at its start: the commands that it is worked with. Pure; knows no wording.

One command for each check of the whole, how one test is run, what a commit runs, and where tools come from; the rest is said when a
prompt or a call asks for it. What everybody knows of a language's own tools (`cargo fmt`) is not said.
"""

from collections.abc import Iterable, Sequence

from preheat.facts.choice import is_usable
from preheat.facts.fitness import folder_of_command, is_common, is_whole
from preheat.model.lesson import Lesson

_CHECKS = ("check", "test", "lint", "typecheck", "build", "format")
_ONE_TEST = ("one test file", "one test")
_ENOUGH = 2
"""Sessions that used a command, from which on it is the project's own way without a file that says so."""
_NEEDED = 0.1
"""The reach below which a command of the tree is not said: so many sessions went by without it."""
_LEAST_REACH = 0.5
"""How likely a session needs a fact that is about no check."""
_ALWAYS = frozenset(["hook", "missing"])


def choose_for_start(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The facts that a session is told before anything is asked."""
    facts = [
        lesson
        for lesson in lessons
        if lesson.kind == "convention" and is_usable(lesson) and not lesson.details.get("package")
    ]
    checks = [best for topic in _CHECKS if (best := _find_main(facts, topic)) is not None]
    bodies = {check.details.get("body", "") for check in checks}
    found = [check for check in checks if check.use not in bodies]
    one_test = _find_one_test(facts)
    found += [one_test] if one_test is not None else []
    return found + [fact for fact in facts if _is_for_everybody(fact)]


def _find_main(facts: Sequence[Lesson], topic: str) -> Lesson | None:
    """The command by which the whole project is checked."""
    fitting = [
        fact
        for fact in facts
        if fact.topic == topic and is_whole(fact) and _is_in_use(fact) and not folder_of_command(fact)
    ]
    best = min(fitting, key=_rank, default=None)
    return None if best is None or is_common(best) else best


def _is_in_use(fact: Lesson) -> bool:
    """Whether sessions use a command, or a file names it as the usual one and sessions did not all go by without it."""
    if fact.support.sessions_for >= _ENOUGH:
        return True
    return bool(fact.details.get("main")) and (fact.reach or 0.0) >= _NEEDED


def _rank(fact: Lesson) -> tuple[object, ...]:
    used = fact.support.sessions_for
    return (-used if used >= _ENOUGH else 0, not fact.details.get("main"), -(fact.reach or 0.0), fact.use)


def _find_one_test(facts: Sequence[Lesson]) -> Lesson | None:
    """How one test is run, where that is not what everybody knows."""
    for about in _ONE_TEST:
        fitting = [fact for fact in facts if fact.topic == "test" and fact.details.get("about") == about]
        best = min(fitting, key=_rank, default=None)
        if best is not None and not is_common(best):
            return best
    return None


def _is_for_everybody(fact: Lesson) -> bool:
    if fact.topic not in _ALWAYS or (fact.reach or 0.0) < _LEAST_REACH:
        return False
    return fact.topic != "hook" or fact.details.get("about") == "commit"
