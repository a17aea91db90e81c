"""Makes the outcome of a case: status, evidence, exit code, and for a failure its cause and its signature (the masked message).

Knows no rungs: they decide which outcome it is.
"""

import re
from functools import lru_cache

from preheat.model.outcome import CallEnding, Cause, Outcome, Rung, Status
from preheat.outcomes import lines
from preheat.outcomes.case import Case
from preheat.outcomes.cause import Failure, cause_of_command, cause_of_tool
from preheat.outcomes.structure import message_in

# Signatures: messages of the same failure made equal
LONGEST = 160
_ENDINGS = "py|go|ts|tsx|js|jsx|mjs|rs|java|rb|php|c|h|cpp|md|json|toml|yaml|yml|txt|sh|html|css|sql|lock"
_MASKED: tuple[tuple[str, str], ...] = (
    ("", r"\x1b\[[0-9;?]*[A-Za-z]|</?\w[\w-]*>"),
    ("URL", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"`<>)]+"),
    ("…", r"'[^'\n]{1,300}'(?!\w)|\"[^\"\n]{1,300}\"|`[^`\n]{1,300}`"),
    ("PATH", r"(?<![\w.])(?:[A-Za-z]:)?(?:[~.]{0,2}[/\\])?(?:[\w.@+-]+[/\\])+[\w.@+-]*|(?<!\w)[~.]{0,2}/[\w.@+-]+"),
    ("PATH", rf"\b[\w-]+\.(?:{_ENDINGS})\b"),
    ("HASH", r"\b(?=[0-9A-Fa-f-]*\d)(?=[0-9A-Fa-f-]*[A-Fa-f])[0-9A-Fa-f]{7,64}(?:-[0-9A-Fa-f]{4,12})*\b"),
    ("N", r"\d+(?:[.,:]\d+)*"),
)
"""What is put in the place of what; of two that fit at the same place, the first."""
_MASK = re.compile("|".join(f"({form})" for _, form in _MASKED))


_MISSING_PROGRAM = re.compile(
    r"(?:^|[\s:])command not found: (?P<zsh>[\w.+@-]+)|(?:^|[\s:'\"`])(?P<bash>[\w.+@-]+)['\"`]?: (?:command )?not found$"
    r"|^'(?P<cmd>[\w.+@-]+)' is not recognized as|The term '(?P<power>[\w.+@-]+)' is not recognized"
    r"|exec: ['\"]?(?P<exec>[\w.+@-]+)['\"]?: executable file not found|locate executable [`'\"](?P<volta>[\w.+@-]+)"
)
_MISSING_MODULE = re.compile(
    r"No module named ['\"]?(?P<python>[\w.]+)|[Cc]annot find (?:module|package) ['\"](?P<node>[\w@][\w./@-]*)"
    r"|cannot load such file -- (?P<ruby>[\w/-]+)|no required module provides package (?P<go>[\w./-]+)"
)


def _missing_name(message: str) -> str:
    """A message that something is not installed, in one form for all shells and languages, with the name; else empty."""
    for pattern, words in ((_MISSING_PROGRAM, "command not found"), (_MISSING_MODULE, "module not found")):
        found = pattern.search(message)
        if found is not None and (name := found[found.lastgroup or 0]):
            return f"{words}: {name}"
    return ""


@lru_cache(maxsize=4096)
def signature(message: str) -> str:
    """The message with everything masked that differs from one time to the next; the name of what is not installed stays."""
    if ("not" in message or "No module" in message or "locate" in message) and (
        missing := _missing_name(message[:LONGEST])
    ):
        return missing
    text = _MASK.sub(lambda found: _MASKED[(found.lastindex or 1) - 1][0], message[: 4 * LONGEST])
    return " ".join(text.split()).strip(" .:")[:LONGEST]


# Verdicts
CONFIDENCE: dict[Rung, float] = {"flag": 0.98, "exit_code": 0.95, "structure": 0.95, "text": 0.9, "none": 0.0}
"""About the share of verdicts on this evidence that agree with the hand-labelled calls, half of which are hard ones."""
LIKELY = 0.7
"""For a line that only looks like an error, and for a success that nothing contradicts."""

_MISSING = re.compile(
    r"no such file|permission denied|is a directory|not a directory|cannot access|can't read", re.IGNORECASE
)
"""One of the things that were to be shown could not be; the others may have been."""
_TAG = re.compile(r"</?[\w-]*error[\w-]*>")
_EXIT_LINE = re.compile(r"(?i)exit(?:ed)?\b.{0,20}\b(?:code|status)\b.{0,5}\d+|command exited|</?\w+>$|^[`~=\-+*#]{3,}")
_NO_HELP = re.compile(
    r"(?i)for more (?:information|details)|try .*--help|run .* for (?:usage|help)|visit https?://|^hint:|^npm notice"
)
_SHORT_HEADING = 12
_BEGINNING = 1_000


def make_outcome(
    case: Case,
    status: Status,
    rung: Rung,
    confidence: float | None = None,
    cause: Cause | None = None,
    message_signature: str = "",
    code: int | None = None,
) -> Outcome:
    """The verdict on a case."""
    return Outcome(
        case.call.call_id,
        status,
        rung,
        case.recorded if code is None else code,
        message_signature,
        cause,
        CONFIDENCE[rung] if confidence is None else confidence,
    )


def judge_ending(case: Case, ending: CallEnding, rung: Rung) -> Outcome:
    """The verdict on a call that was refused, cut off, has found nothing or goes on."""
    if ending == "running":
        failure = case.failure_line if case.kind == "shell" else None
        if failure is not None and failure.is_sure and not case.shows:
            return judge_failure(case, "text", case.text)
        return make_outcome(case, "unknown", rung, 0.5)
    if ending == "empty":
        return make_outcome(case, "empty", rung)
    message = signature(first_line(message_in(case.result.text) or case.result.text))
    if ending == "timeout":
        return make_outcome(case, "failed", rung, None, "environment", "timed out" if case.is_blank else message)
    return make_outcome(case, ending, rung, None, "environment", message)


def judge_failure(case: Case, rung: Rung, text: str, code: int | None = None) -> Outcome:
    """The verdict on a call that failed with this text."""
    refused = case.dialect.mistake
    if refused is not None and refused.match(case.result.text):  # the call itself, before any tool
        return make_outcome(case, "failed", rung, None, "mistake", signature(first_line(case.result.text)), code)
    if case.kind != "shell":
        message = first_line(message_in(text) or text)
        return make_outcome(case, "failed", rung, None, _of_tool(case, message), signature(message), code)
    failure, shell = case.failure_line, case.shell
    message = failure.line if failure is not None else _last_line(case.text)
    likely = failure.cause if failure is not None else None
    known = None if shell is None else Failure(message, shell, case.text, likely, case.code)
    cause: Cause = "unknown" if known is None else cause_of_command(known)
    if cause == "finding" and known is not None and (missing := lines.find_missing_module(case.text)) is not None:
        message, cause = missing.line, cause_of_command(known._replace(message=missing.line))
    if not message:
        program = shell.main.program if shell is not None and shell.main is not None else case.call.tool
        message = f"{program}: {'failed' if case.code is None else f'exit code {case.code}'}, no message"
    confidence = LIKELY if rung == "text" and failure is not None and not failure.is_sure else None
    status: Status = "partial" if rung != "text" and _is_partly_done(case) else "failed"
    return make_outcome(case, status, rung, confidence, cause, signature(message), code)


def _of_tool(case: Case, message: str) -> Cause:
    return cause_of_tool(message, case.kind, case.call.input.values())


def _is_partly_done(case: Case) -> bool:
    """Whether a part of the call worked: a commit was made, some of the files were shown."""
    failure, shell = case.failure_line, case.shell
    if shell is not None and shell.purpose == "vcs" and lines.vcs_changed_something(case.text):
        return True
    return case.shows and failure is not None and _MISSING.search(failure.line) is not None and other_lines(case) > 0


def other_lines(case: Case) -> int:
    """How many lines of the output are no complaints."""
    complaints = set(lines.find_complaints(case.text, case.programs))
    if case.failure_line is not None:
        complaints.add(case.failure_line.line)
    return sum(1 for line in case.text.split("\n") if line.strip() and line.strip() not in complaints)


def first_line(text: str) -> str:
    """What an error message begins with."""
    line, _, rest = _TAG.sub("", text[:_BEGINNING]).lstrip("# \n").partition("\n")
    if len(line) < _SHORT_HEADING and rest.strip():  # a heading such as `Error`: the next line says which
        line = f"{line} {rest.strip().partition(chr(10))[0]}"
    return line.strip()


def _last_line(text: str) -> str:
    """What an output ends with, apart from lines that only frame it or offer help."""
    for line in reversed(text.rsplit("\n", 12)[-12:]):
        if line.strip() and not _EXIT_LINE.search(line) and not _NO_HELP.search(line):
            return line.strip()
    return ""
