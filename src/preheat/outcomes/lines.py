"""Finds the line of an output that can only mean that a command went wrong, by what the command was for.

What a command merely shows (a file, a search, a log) is looked at only for what the shell or the program itself says in its
own name. Knows nothing of agents, exit codes or sessions.
"""

import re
from typing import NamedTuple

from preheat.model.outcome import Cause
from preheat.outcomes import patterns

HEAD, TAIL = 12_000, 12_000
"""A longer output is looked at by its two ends."""


class FailureLine(NamedTuple):
    """A line that says that something went wrong."""

    line: str
    cause: Cause | None = None
    is_sure: bool = True
    """Whether it may overrule a success that was reported."""


_SHORT, _FEW = 400, 2
"""Characters and lines of an output that is but a message."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def ends_of(text: str) -> str:
    """The text without colours, or its two ends where it is long."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    if "\r" in text:
        text = text.replace("\r", "")
    return _COLOUR.sub("", text) if "\x1b[" in text else text


def is_notable(text: str) -> bool:
    """Whether the text has any word that the failure patterns need."""
    return "\tfail\t" in text or " at -e line " in text or patterns.NOTABLE.search(text) is not None


def find_shell_failure(text: str) -> FailureLine | None:
    """The line in which the shell itself says that it could not run the command."""
    return _first(patterns.SHELL, text)


def names_program(text: str, programs: frozenset[str]) -> bool:
    """Whether a line may begin with the name of one of the programs."""
    return any(f"{name}: " in text or f"{name} : " in text for name in programs) or (
        "git" in programs and "fatal: " in text
    )


def find_program_complaints(text: str, programs: frozenset[str]) -> list[str]:
    """Lines with an error that begin with the name of one of the programs."""
    found = []
    for line in text.split("\n"):
        name, colon, rest = line.partition(": ")
        name = name.rstrip()  # `Get-Item : Cannot find path`
        if not colon or len(name) > 120 or name.rpartition("/")[2] not in programs:
            if name == "fatal" and "git" in programs:  # it does not say its name
                found.append(line.strip())
            continue
        if patterns.COMPLAINT.search(rest) and not patterns.NO_COMPLAINT.search(rest):
            found.append(line.strip())
    return found


def find_complaints(text: str, programs: frozenset[str]) -> frozenset[str]:
    """All lines in which the shell or one of the programs complains, and what they add on how they are used."""
    found = {match[0].strip() for match in patterns.SHELL.finditer(text)}
    found.update(find_program_complaints(text, programs))
    found.update(line.strip() for line in text.split("\n") if patterns.ADDED.match(line))
    return frozenset(found)


def find_verdict(text: str) -> FailureLine | None:
    """The line in which a check says that not all is well."""
    return _first(patterns.VERDICT, text, "finding")


_OWN_WORDS = ("Test", "test", "FAILED: ", "FAIL: ", "SystemCheck", "error: ", "Check", "Lint")


def find_runner_verdict(text: str) -> FailureLine | None:
    """The same, in the form of a test runner: a script that prints "Test failed" may have expected it."""
    found = find_verdict(text)
    return None if found is None or found.line.startswith(_OWN_WORDS) else found


def find_check_failure(text: str) -> FailureLine | None:
    """The line in which a check reports findings. Where the check says that all passed, error lines are only its subject."""
    found = find_verdict(text)
    if found is None:
        found = _first(patterns.DETAIL, text, "finding")
        if found is not None and patterns.PASSED.search(text) is not None:
            return None
    return found


def find_uncaught_exception(text: str) -> FailureLine | None:
    """The line of an uncaught exception that ended an interpreter."""
    last = _exception(text)
    if last is not None:
        return None if _is_repeated(text, last) else FailureLine(last[0].strip())
    syntax = patterns.SYNTAX.search(text) if "Error: " in text and 'File "' in text else None
    return FailureLine(syntax[1]) if syntax else None


def has_caught_exception(text: str) -> bool:
    """Whether an exception was caught and printed, so that its lines are no failure."""
    last = _exception(text)
    return last is not None and _is_repeated(text, last)


def _exception(text: str) -> "re.Match[str] | None":
    begin = patterns.TRACEBACK.search(text) if "Traceback (most" in text else None
    return None if begin is None else _find_exception_line(text, begin.end())


def _find_exception_line(text: str, start: int) -> "re.Match[str] | None":
    """The line that names the exception: the first after the frames that stands at the left edge; of several, the last."""
    last = None
    while True:
        found = patterns.LEFT.search(text, start)
        if found is None:
            return last
        if patterns.EXCEPTION.fullmatch(found[0]):
            last = found
        again = patterns.TRACEBACK.search(text, found.end())
        if again is None:
            return last
        start = again.end()


def _is_repeated(text: str, exception: "re.Match[str]") -> bool:
    """Whether the program prints the exception's message itself: then it caught the exception."""
    message = exception[0].partition(": ")[2].strip()
    if len(message) < 8:
        return patterns.CAUGHT.search(text) is not None
    others = f"{text[: exception.start()]}\n{text[exception.end() :]}"
    return any(message in line and not patterns.RAISED.match(line) for line in others.split("\n"))


def find_missing_module(text: str) -> FailureLine | None:
    """The line which says that a module or a package is not installed: none of the project's own."""
    return _first(patterns.MISSING, text) if "annot find " in text or "No module named" in text else None


def find_run_failure(text: str) -> FailureLine | None:
    """The line in which a program says that it crashed; of an exception its message, not the place where it was thrown."""
    thrown = _first(patterns.THROWN, text) if patterns.FRAME in text else None
    return thrown or _first(patterns.RUN, text) or (_first(patterns.PERL, text) if " line " in text else None)


def find_vcs_failure(text: str) -> FailureLine | None:
    """The line in which version control refuses, or says that a check of the forge failed."""
    failed_check = _first(patterns.FAILED_CHECK, text, "finding") if "\tfail\t" in text else None
    return failed_check or _first(patterns.VCS, text)


def vcs_changed_something(text: str) -> bool:
    """Whether version control changed something: made a commit, pushed a branch."""
    return patterns.VCS_DONE.search(text) is not None


def vcs_succeeded(text: str) -> bool:
    """Whether version control did everything, whatever hooks printed before."""
    return vcs_changed_something(text) and patterns.VCS_REFUSED.search(text) is None


def find_failure_at_edges(text: str) -> FailureLine | None:
    """The first or one of the last two lines, if it begins like an error. The echo of a command is no line."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if not patterns.ECHO.match(line)), "")
    for line in map(str.strip, (first, *lines[-2:])):
        if patterns.EDGE.match(line) and not patterns.FINE.search(line):
            return FailureLine(line, is_sure=False)
    return None


def find_failure_at_start(text: str) -> FailureLine | None:
    """The first line, if it begins like an error."""
    line = text.lstrip().partition("\n")[0].strip()
    return FailureLine(line, is_sure=False) if patterns.EDGE.match(line) and not patterns.FINE.search(line) else None


def find_lone_complaint(text: str) -> FailureLine | None:
    """The line of prose that is all a program says, if it complains: what has an answer to give prints that."""
    if len(text) > _SHORT:
        return None
    lines = [line.strip() for line in text.split("\n") if line.strip() and not patterns.ECHO.match(line)]
    if not lines or len(set(lines)) > _FEW or not all(map(patterns.PROSE.match, lines)):
        return None
    if patterns.WHOLE.search(patterns.NAMES.sub(" ", lines[0])) and not patterns.FINE.search(lines[0]):
        return FailureLine(lines[0], is_sure=False)
    return None


def find_usage_failure(text: str) -> FailureLine | None:
    """What stands above a usage text that nobody asked for, or the usage itself where nothing stands there."""
    usage = patterns.USAGE.search(text, 0, _SHORT) if "sage" in text[:_SHORT] else None
    if usage is None:
        return None
    lines = text[: usage.start()].split("\n")
    above = [line.strip() for line in lines if line.strip() and not patterns.ADDED.match(line)]
    if not above:
        return FailureLine(usage[0].strip(), is_sure=False)
    return FailureLine(above[0]) if len(above) <= _FEW and patterns.WHOLE.search(above[0]) else None


def shows_usage(text: str) -> bool:
    """Whether a text says near its beginning how a program is used."""
    return "sage" in text[:_SHORT]


def without_task_names(text: str) -> str:
    """An output without the name of the task that a runner of tasks puts before each line."""
    if text.count(": ") + text.count("] ") < 2:
        return text
    bare, times = patterns.PREFIX.subn("", text)
    return bare if 2 * times > text.count("\n") else text


def refuses_commit(text: str) -> FailureLine | None:
    """The line in which a commit says that there is nothing to commit."""
    return _first(patterns.NOTHING_TO_COMMIT, text)


def find_nested_failure(text: str) -> FailureLine | None:
    """The line in which a script inside the command says that it failed."""
    if not any(words in text for words in patterns.NESTED_WORDS):
        return None
    return _first(patterns.NESTED, text, "finding")


def _first(
    pattern: "re.Pattern[str] | patterns.PatternSet", text: str, cause: Cause | None = None
) -> FailureLine | None:
    found = pattern.search(text)
    return FailureLine(found[0].strip(), cause) if found else None
