"""Which facts every session of a project is told at its start: what at least half of them need. Pure; knows no wording.

One command for each check of the whole, what a commit runs, and where tools come from; the rest is said when a prompt or a call
asks for it. What everybody knows of a language's own tools (`cargo fmt`) is not said.
"""

from collections.abc import Iterable

from preheat.facts.choice import is_usable
from preheat.facts.summary import SUMMED_UP, find_main_check
from preheat.model.lesson import Lesson

_LEAST_REACH = 0.4
"""How likely a session needs a fact that is said to all of them."""
_ALWAYS = frozenset(["hook", "missing"])


def choose_for_start(lessons: Iterable[Lesson]) -> list[Lesson]:
    """The facts that a session is told before anything is asked."""
    facts = [
        lesson
        for lesson in lessons
        if lesson.kind == "convention" and is_usable(lesson) and not lesson.details.get("package")
    ]
    checks = [best for topic in SUMMED_UP if (best := find_main_check(facts, topic)) and _is_needed(best)]
    bodies = {check.details.get("body", "") for check in checks}
    return [check for check in checks if check.use not in bodies] + [fact for fact in facts if _is_for_everybody(fact)]


def _is_needed(fact: Lesson) -> bool:
    return (fact.reach or 0.0) >= _LEAST_REACH


def _is_for_everybody(fact: Lesson) -> bool:
    is_commit = fact.topic != "hook" or fact.details.get("about") == "commit"
    return fact.topic in _ALWAYS and _is_needed(fact) and is_commit
