"""Judges commands that report success, or no exit code, by their output.

An exit code speaks of a whole line. Where the line hides what became of the command it is for (`pytest | tail`), the output has
the word; where it reckons with a failure (`ls x || echo none`), that failure is an answer. Knows no agent.
"""

import re

from preheat.commands import Purpose, text_of
from preheat.model.outcome import Outcome, Rung
from preheat.outcomes import lines
from preheat.outcomes.case import Case
from preheat.outcomes.stated import echoed_code
from preheat.outcomes.verdict import LIKELY, failed, other_lines, outcome

_HIDDEN = 0.9
"""A success whose exit code is that of another command."""
_END = 1_000
"""Where a script says that it failed."""
_FALLBACK = re.compile(r"""\|\|\s*(?:echo|printf)\s+(?:-\w+\s+)?["']?([^"'\n|;&$]{1,200})""")
_NONE_THERE = re.compile(r"(?:\w*Error: )?no (?:\w+ ){1,2}(?:were )?found\b(?! in \$?PATH)", re.IGNORECASE)
"""Messages that answer a question: there is nothing of that sort."""
_NO_GLOB = re.compile(r".*\bno matches found: ")


def succeeded(case: Case, rung: Rung) -> Outcome:
    """The outcome of a command that reports success."""
    shell = case.shell
    if case.blank:
        return outcome(case, "empty" if case.shows else "ok", rung)
    if shell is None:
        return outcome(case, "ok", rung)
    if not shell.masked:
        inner = lines.nested(case.result.text[-_END:]) if shell.checks else None
        return outcome(case, "ok", rung) if inner is None else failed(case, "text", inner.line)
    command = text_of(case.call.input)
    fallbacks = {found.strip() for found in _FALLBACK.findall(command)} if "||" in command else set()
    if fallbacks and (case.shows or shell.purpose == "vcs") and _only_fallback(case, fallbacks):
        return outcome(case, "empty", rung)
    if "$?" in command[-80:] and (code := echoed_code(case.result.text)):
        return failed(case, "exit_code", case.text, code)
    sign = case.sign
    if sign is None or not sign.sure:
        return outcome(case, "ok", rung, _HIDDEN)
    if case.shows:
        return _judge_look(case, sign, "||" in command)
    if fallbacks and any(line.strip() in fallbacks for line in case.text.split("\n")):
        return outcome(case, "ok", rung, LIKELY)
    return failed(case, "text", case.text)


def said(case: Case) -> Outcome:
    """The outcome of a command by its output alone: without a line of failure it worked."""
    if case.blank:
        return outcome(case, "empty" if case.shows else "ok", "text", LIKELY)
    return outcome(case, "ok", "text", LIKELY) if case.sign is None else failed(case, "text", case.text)


def none_there(message: str, purpose: Purpose) -> bool:
    """Whether the command asked if something exists, and the answer is no."""
    if purpose == "list" and _NO_GLOB.match(message):
        return True
    return purpose in ("list", "vcs", "search") and found_none(message)


def found_none(message: str) -> bool:
    """Whether the message says that nothing was found."""
    return _NONE_THERE.match(message) is not None


def _only_fallback(case: Case, fallbacks: set[str]) -> bool:
    """Whether the output is only the command's own fallback text for finding nothing."""
    expected = fallbacks | lines.complaints(case.text, case.programs)
    return all(line.strip() in expected for line in case.text.split("\n") if line.strip())


def _judge_look(case: Case, sign: lines.Sign, reckoned: bool) -> Outcome:
    """The outcome of a look at something missing: partial if other things were shown, empty if the command expected it."""
    if other_lines(case):
        return outcome(case, "ok", "text", LIKELY)
    if reckoned or (case.shell is not None and none_there(sign.line, case.shell.purpose)):
        return outcome(case, "empty", "text", LIKELY)
    return failed(case, "text", sign.line)
