"""Which fact a commit, a push, a pull request or a new branch is about to need: only what the call does not do already, and
nothing at one of another repository. Pure; knows no wording."""

import re
from collections.abc import Sequence

from preheat.commands.commit_message import COMMIT_TYPES, PICTURE, first_line_of_message
from preheat.commands.sources import is_source
from preheat.facts.change_choice import reaches
from preheat.facts.customs import CUSTOMS
from preheat.facts.fitness import is_agreed, is_main, is_whole
from preheat.facts.place import Place, is_away
from preheat.facts.summary import summarise_checks
from preheat.lesson_meaning import is_usual_pull_request
from preheat.model.lesson import Lesson

_COMMIT = re.compile(r"(?:^|[;&|\n]\s*)git\s+commit\b")
_PUSH = re.compile(r"(?:^|[;&|\n]\s*)git\s+push\b(?P<rest>[^;&|\n]*)")
_PULL = re.compile(r"\bgh\s+pr\s+create\b")
_MERGE = re.compile(r"\bgh\s+pr\s+merge\b")
_BRANCH = re.compile(
    r"\bgit\s+(?:checkout\s+-[bB]|switch\s+(?:-c|--create)|worktree\s+add\b(?P<options>[^;&|\n]*?)\s-[bB])\s+(?P<name>[\w./-]+)"
)
_NO_CODE = re.compile(r"\s(?:--delete|-d|--tags|--dry-run|:\S+)(?:\s|$)")
"""A push of no commits."""
_AS_IT_IS = re.compile(r"\s(?:--no-edit|--amend)(?:\s|$)")
"""A merge that is finished, or a commit that is made again: what belongs to it was known at the first."""
_NO_HOOKS = re.compile(r"\s(?:--no-verify|-n)(?:\s|$)")
_HEADED = re.compile(
    r"^[\[(]?[\w./#-]+[\])]?(?:\([^)\n]{1,40}\))?!?: |^\[[^\]]{1,40}\]"
    r"|^[A-Z][A-Z0-9]{1,9}-\d+ |^(?:Merge|Revert|fixup!|squash!|Bump)\b"
)
"""A message whose beginning somebody chose: of a task that asks for it, or made by git."""
_TYPED = re.compile(r"(?P<type>[a-z]{2,10})(?P<scope>\([^)\n]{1,40}\))?!?: \S")
_PICTURE = re.compile(rf"^{PICTURE}\ufe0f? ")
_ALIKE = {
    "feature": "feat",
    "feat": "feature",
    "bugfix": "fix",
    "fix": "bugfix",
    "documentation": "docs",
    "doc": "docs",
}
"""Prefixes that are taken for another one."""
_SHORT = {"--draft": "-d", "--fill": "-f"}
_SHORT_OF_MERGE = {"--squash": "-s", "--rebase": "-r", "--merge": "-m", "--delete-branch": "-d"}


def choose_for_version_control(
    candidates: Sequence[Lesson], command: str, has_hook: bool, place: Place, purposes: frozenset[str]
) -> Lesson | None:
    """The fact that a command of version control is about to need. `purposes`: topics of the checks that the session knows."""
    if is_away(command, place) or _AS_IT_IS.search(command):
        return None
    for topic, about in _list_moments(command, place):
        fitting = [
            lesson
            for lesson in candidates
            if lesson.topic == topic
            and lesson.details.get("about") == about
            and _is_for_commit(lesson, place)
            and is_agreed(lesson)
            and not _is_followed(lesson, command)
        ]
        if fitting:
            return min(fitting, key=lambda lesson: (not is_main(lesson), not is_whole(lesson)))
    if (
        _COMMIT.search(command) and any(map(is_source, place.edited)) and not has_hook
    ):  # nothing will check or format it
        return summarise_checks(
            [
                each
                for each in candidates
                if each.topic not in CUSTOMS and any(reaches(each, path) for path in place.edited)
            ],
            place.edited,
            purposes | place.stated | {"build"},
        )
    return None


def _list_moments(command: str, place: Place) -> list[tuple[str, str]]:
    """The topics that a command may need, with what they are about, the most pressing first."""
    has_code = any(map(is_source, place.edited))  # users notice nothing else
    changelog = [("release", "changelog")] if has_code else []
    change_file = [("release", "change file")] if has_code else []
    if _COMMIT.search(command):
        hook = [] if _NO_HOOKS.search(command) else [("hook", "commit")]
        return [*hook, ("commit", "message"), *(("hook", "message") for _ in hook), *changelog]
    if _PULL.search(command):
        return [*change_file, *changelog, ("pull_request", "pull request"), ("hook", "push")]
    if _MERGE.search(command):
        return [("pull_request", "pull request")]
    push = _PUSH.search(command)
    if push is not None:
        return [] if _NO_CODE.search(f"{push['rest']} ") else [("hook", "push"), *change_file]
    return [("branch", "branch")] if _BRANCH.search(command) else []


def _is_for_commit(lesson: Lesson, place: Place) -> bool:
    """Whether a fact is about what is committed; a file that was changed is not forgotten."""
    if lesson.topic == "release":
        path = lesson.details.get("path", "").rstrip("/")
        return not any(each == path or each.startswith(f"{path}/") for each in place.edited)
    return not lesson.details.get("package")


def _is_followed(lesson: Lesson, command: str) -> bool:
    """Whether a command does already what a fact says, or does otherwise on purpose."""
    if lesson.topic == "commit":
        return _has_message(lesson, first_line_of_message(command))
    if lesson.topic == "branch":
        return _has_prefix(lesson, command)
    return lesson.topic == "pull_request" and _is_made_so(lesson, command)


def _has_message(lesson: Lesson, message: str) -> bool:
    """Whether a message has the form that a fact tells of, another one that somebody chose, or cannot be read."""
    message = _PICTURE.sub("", message)
    typed = _TYPED.match(message)
    types = {*COMMIT_TYPES, *lesson.details.get("types", "").split(",")}
    if typed is not None and typed["type"] in types:
        return lesson.details.get("form", "TYPE").startswith("TYPE")
    return not message or _HEADED.match(message) is not None


def _has_prefix(lesson: Lesson, command: str) -> bool:
    """Whether a new branch has a prefix: one that is only another word for a usual one is worth a line, any other is chosen."""
    found = _BRANCH.search(command)
    if found is None or "--orphan" in (found["options"] or ""):
        return True
    prefix, slash, _ = found["name"].partition("/")
    usual = lesson.details.get("prefixes", "").split(",")
    return bool(slash) and (f"{prefix}/" in usual or f"{_ALIKE.get(prefix, '')}/" not in usual)


def _is_made_so(lesson: Lesson, command: str) -> bool:
    """Whether a pull request is made, or merged, as a fact says, as far as that differs from what everybody does."""
    merged = _MERGE.search(command) is not None
    if not merged and is_usual_pull_request(lesson):
        return True
    words = set(command.replace("=", " ").split())
    typed = lesson.details.get("merge", "") if merged else lesson.use
    switches = [word for word in typed.split() if word.startswith("--")]
    short = _SHORT_OF_MERGE if merged else _SHORT
    has_all = all(word in words or short.get(word) in words for word in switches)
    base = "" if merged else lesson.details.get("base", "")
    has_base = base in ("", "main", "master") or not words.isdisjoint(("--base", "-B"))
    return has_all and has_base
