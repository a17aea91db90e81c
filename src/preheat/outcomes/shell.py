"""Judges commands that report success, or no exit code, by their output.

An exit code speaks of a whole line. Where the line hides what became of the command it is for (`pytest | tail`), the output has
the word; where it reckons with a failure (`ls x || echo none`), that failure is an answer. Knows no agent.
"""

import re

from preheat.commands import Purpose, command_text
from preheat.model.outcome import Outcome, Rung
from preheat.outcomes import lines
from preheat.outcomes.case import Case
from preheat.outcomes.stated import echoed_code
from preheat.outcomes.verdict import LIKELY, judge_failure, make_outcome, other_lines

_HIDDEN = 0.9
"""A success whose exit code is that of another command."""
_END = 1_000
"""Where a script says that it failed."""
_FALLBACK = re.compile(r"""\|\|\s*(?:echo|printf)\s+(?:-\w+\s+)?["']?([^"'\n|;&$]{1,200})""")
_NONE_THERE = re.compile(r"(?:\w*Error: )?no (?:\w+ ){1,2}(?:were )?found\b(?! in \$?PATH)", re.IGNORECASE)
"""Messages that answer a question: there is nothing of that sort."""
_NO_GLOB = re.compile(r".*\bno matches found: ")


def judge_reported_success(case: Case, rung: Rung) -> Outcome:
    """The outcome of a command that reports success."""
    shell = case.shell
    if case.is_blank:
        return make_outcome(case, "empty" if case.shows else "ok", rung)
    if shell is None:
        return make_outcome(case, "ok", rung)
    if not shell.masked:
        inner = lines.find_nested_failure(case.result.text[-_END:]) if shell.checks else None
        return make_outcome(case, "ok", rung) if inner is None else judge_failure(case, "text", inner.line)
    command = command_text(case.call.input)
    fallbacks = {found.strip() for found in _FALLBACK.findall(command)} if "||" in command else set()
    if fallbacks and (case.shows or shell.purpose == "vcs") and _only_fallback(case, fallbacks):
        return make_outcome(case, "empty", rung)
    if "$?" in command[-80:] and (code := echoed_code(case.result.text)):
        return judge_failure(case, "exit_code", case.text, code)
    sign = case.sign
    if sign is None or not sign.is_sure:
        return make_outcome(case, "ok", rung, _HIDDEN)
    if case.shows:
        return _judge_look(case, sign, "||" in command)
    if fallbacks and any(line.strip() in fallbacks for line in case.text.split("\n")):
        return make_outcome(case, "ok", rung, LIKELY)
    return judge_failure(case, "text", case.text)


def judge_output(case: Case) -> Outcome:
    """The outcome of a command by its output alone: without a line of failure it worked."""
    if case.is_blank:
        return make_outcome(case, "empty" if case.shows else "ok", "text", LIKELY)
    return make_outcome(case, "ok", "text", LIKELY) if case.sign is None else judge_failure(case, "text", case.text)


def is_absence_answer(message: str, purpose: Purpose) -> bool:
    """Whether the command asked if something exists, and the answer is no."""
    if purpose == "list" and _NO_GLOB.match(message):
        return True
    return purpose in ("list", "vcs", "search") and says_none_found(message)


def says_none_found(message: str) -> bool:
    """Whether the message says that nothing was found."""
    return _NONE_THERE.match(message) is not None


def _only_fallback(case: Case, fallbacks: set[str]) -> bool:
    """Whether the output is only the command's own fallback text for finding nothing."""
    expected = fallbacks | lines.find_complaints(case.text, case.programs)
    return all(line.strip() in expected for line in case.text.split("\n") if line.strip())


def _judge_look(case: Case, sign: lines.FailureLine, reckoned: bool) -> Outcome:
    """The outcome of a look at something missing: partial if other things were shown, empty if the command expected it."""
    if other_lines(case):
        return make_outcome(case, "ok", "text", LIKELY)
    if reckoned or (case.shell is not None and is_absence_answer(sign.line, case.shell.purpose)):
        return make_outcome(case, "empty", "text", LIKELY)
    return judge_failure(case, "text", sign.line)
