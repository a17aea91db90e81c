"""How a change comes in: the form of its message, its branch, its pull request, what users are told of it. Pure; knows no
wording."""

from collections.abc import Iterable

from preheat.facts.fitness import is_agreed
from preheat.facts.main_check import ENOUGH
from preheat.lesson_meaning import is_usual_pull_request
from preheat.model.lesson import Lesson

CUSTOMS = ("commit", "branch", "pull_request", "release")
"""Topics of how a change comes in, in the order in which it does."""
OFTEN = 0.3
"""How likely a session that changes code needs something, for it to be said with the checks."""
_ALONE = 2
"""So many customs are worth a line without any check."""
_SAID = {
    "commit": ("types", "scope", "form", "beginnings"),
    "branch": ("prefixes",),
    "pull_request": ("base", "merge"),
    "release": ("path",),
}
"""Details of customs that are said with the checks."""


def find_customs(facts: Iterable[Lesson]) -> list[Lesson]:
    """How a change comes in, where sessions commit: who changes code is likely to. Of each custom one, and none that everybody
    has."""
    fitting = [
        fact
        for fact in facts
        if fact.topic in CUSTOMS
        and (fact.reach or 0.0) >= OFTEN
        and not fact.details.get("package")
        and (fact.support.sessions_for > ENOUGH or not is_usual_pull_request(fact))
        and is_agreed(fact)
    ]
    by_topic = {fact.topic: fact for fact in reversed(fitting)}
    return [by_topic[topic] for topic in CUSTOMS if topic in by_topic]


def are_worth_a_line(customs: Iterable[Lesson]) -> bool:
    """Whether customs are worth a line without any check."""
    return sum(not is_usual_pull_request(each) for each in customs) >= _ALONE


def details_of_customs(customs: Iterable[Lesson]) -> dict[str, str]:
    """What is said of customs in one line, by the names that it has there."""
    details: dict[str, str] = {}
    for each in customs:
        details |= {name: text for name in _SAID[each.topic] if (text := each.details.get(name, ""))}
        if each.topic == "pull_request":
            details["pull_request"] = each.use
        if each.topic == "release":
            details["release"] = each.details.get("about", "")
    return details
