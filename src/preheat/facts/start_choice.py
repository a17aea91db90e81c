"""What every session of a project is told at its start: what a senior developer tells a newcomer, in a few lines. Pure; knows no
wording.

The checks that nearly all sessions ran. The others, and how changes come in, are said when the session changes code
(`change_choice`) or commits (`commit_choice`): of three sessions one changes none, and needs neither. Where nothing can be said
later, all is said at once: each check of the whole, hooks, the form of messages and branches, pull requests, and what sessions
here needed again and again: a generator, a server, a program that the shell does not find. Of a check that a file states already
no other command is said in its place.
"""

from collections.abc import Iterable, Sequence

from preheat.facts.fitness import PACKAGE_RUNNERS, folder_of_command, is_agreed, is_common, is_usable, is_whole, tool_of
from preheat.facts.main_check import find_main_check, has_open_place, is_custom_of_most
from preheat.facts.variants import ONE_CASE, with_variants
from preheat.lesson_meaning import is_usual_pull_request
from preheat.model.lesson import Lesson

_CHECKS = ("check", "test", "lint", "typecheck", "format", "build")
"""Topics of checks, the most telling first."""
_OFTEN = 0.3
"""How likely a session needs what is said to all of them."""
_LEAST = 0.2
"""The same for a check of the whole, which says how the work is shown right."""
_LEAST_REACH = 0.15
"""The same for the check of one folder, to stand for that of the whole."""
_NEARLY_ALL = 0.8
"""The same for a check that is said before the session changes anything."""
_USED = 2
"""Sessions that used a command, from which on it is the project's own way."""


def choose_for_start(
    lessons: Iterable[Lesson], stated: frozenset[str] = frozenset(), at_once: bool = False
) -> list[Lesson]:
    """The facts that every session is told before anything is asked, in their order; a check with the commands for its parts
    (`details["one"]`, `details["parts"]`). `stated`: topics of the checks of which the agent reads a command by itself;
    `at_once`: nothing can be said later."""
    facts = [lesson for lesson in lessons if lesson.kind == "convention" and is_usable(lesson)]
    least = _LEAST if at_once else _NEARLY_ALL
    checks = [check for check in _choose_checks(facts, stated) if (check.reach or 0.0) >= least]
    if not at_once:
        return [each for each in checks if each.support.sessions_for > _USED]
    return [*checks, *_choose_customs(facts, _CUSTOMS), *_choose_needs(facts)]


# Checks
def _choose_checks(facts: Sequence[Lesson], stated: frozenset[str]) -> list[Lesson]:
    found: list[Lesson] = []
    for topic in _CHECKS:
        best = _find_check(facts, topic)
        if best is not None and (topic not in stated or is_custom_of_most(best)):
            found.append(with_variants(best, facts))
    ran = {part.strip() for each in found if each.topic == "check" for part in _body_of(each).split("&&")}
    bodies = {_body_of(each) for each in found}
    return [each for each in found if each.use not in bodies and not (each.use in ran and not each.details.get("one"))]


def _body_of(fact: Lesson) -> str:
    return fact.details.get("body", "")


def _find_check(facts: Sequence[Lesson], topic: str) -> Lesson | None:
    """The command for the whole; of a workspace that has none the form for one of its packages, else that of the package that
    sessions work on."""
    best = find_main_check(facts, topic)
    if topic == "check" or (best is not None and not has_open_place(best)):
        return best
    others = [fact for fact in facts if fact.topic == topic]
    packages = [fact for fact in others if _is_worked_on(fact, others)]
    if not packages and topic != "build":
        packages = [fact for fact in others if fact.details.get("about") == f"{topic} of one package"][:1]
    if not packages and topic == "test" and not any(is_common(fact) and _is_often(fact) for fact in others):
        packages = [
            fact
            for fact in others
            if fact.details.get("about") in ONE_CASE and _is_often(fact) and not folder_of_command(fact)
        ]
    fitting = [fact for fact in packages if not is_common(fact)]
    return min(fitting, key=lambda fact: (-fact.support.sessions_for, fact.id), default=None)


def _is_often(fact: Lesson) -> bool:
    return fact.support.sessions_for >= _USED and (fact.reach or 0.0) >= _LEAST_REACH


def _is_worked_on(fact: Lesson, others: Sequence[Lesson]) -> bool:
    """Whether a check of one folder is what sessions run: as it stands, or with the same tool and other names."""
    if not fact.details.get("package") or not is_whole(fact) or has_open_place(fact):
        return False
    tool = tool_of(fact.details.get("body", "") or fact.use)
    alike = (each for each in others if each is fact or (tool not in PACKAGE_RUNNERS and tool_of(each.use) == tool))
    return any(_is_often(each) for each in alike)


# Commits, branches, pull requests
def _choose_customs(facts: Sequence[Lesson], customs: Iterable[tuple[str, str]]) -> list[Lesson]:
    found: list[Lesson] = []
    for topic, about in customs:
        fitting = (
            each for each in facts if each.topic == topic and each.details.get("about") == about and _is_custom(each)
        )
        best = min(fitting, key=lambda each: (-each.support.sessions_for, each.id), default=None)
        if best is not None:
            found.append(best)
    return found


_CUSTOMS = (
    ("hook", "commit"),
    ("hook", "message"),
    ("commit", "message"),
    ("release", "changelog"),
    ("release", "change file"),
    ("branch", "branch"),
    ("pull_request", "pull request"),
)


def _is_custom(fact: Lesson) -> bool:
    if fact.details.get("package") or (fact.reach or 0.0) < _OFTEN:
        return False
    if fact.topic == "branch":
        return is_agreed(fact)
    return fact.topic != "pull_request" or fact.support.sessions_for > _USED or not is_usual_pull_request(fact)


# What sessions here needed again and again
def _choose_needs(facts: Sequence[Lesson]) -> list[Lesson]:
    used = [
        fact
        for fact in facts
        if fact.support.sessions_for >= _USED and (fact.reach or 0.0) >= _OFTEN and not fact.details.get("path")
    ]
    found = [fact for fact in used if fact.topic in ("generate", "setup") and fact.use and not is_common(fact)]
    servers = [fact for fact in used if fact.topic == "serve" and fact.details.get("about") == "run"]
    found += sorted(servers, key=lambda fact: (-fact.support.sessions_for, fact.id))[:1]
    return [*found, *(fact for fact in facts if fact.topic == "missing" and _is_missed(fact, facts))]


def _is_missed(fact: Lesson, facts: Sequence[Lesson]) -> bool:
    """Whether sessions missed a program, or one of those that a manager brings, or started them through it."""
    if (fact.reach or 0.0) < _OFTEN or not fact.use:
        return False
    manager = fact.details.get("manager", "")
    if not manager:
        return fact.support.sessions_for >= _USED
    names = set(fact.details.get("names", "").split(","))
    return any(
        other.support.sessions_for
        and (other.details.get("name") in names or other.use.startswith((f"{manager} exec ", f"{manager} x ")))
        for other in facts
        if other.id != fact.id
    )
