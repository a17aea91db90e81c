"""Judges calls: by the program's own flag, an exit code, a value in the result, a line of its text, in this order.

Knows no agent: what is particular to one comes as its `Dialect`. Never looks for a word anywhere in an output.
"""

import re
from typing import Any

from msgspec import structs

from preheat.commands import Purpose, benign_answer, command_text
from preheat.model.outcome import NO_DIALECT, Dialect, Outcome, Rung
from preheat.model.session import LATE_ENDING, Other, Session, ToolCall, ToolKind, ToolResult
from preheat.outcomes import lines
from preheat.outcomes.case import Case, DialectPatterns, echoed_code, process_of, started_process
from preheat.outcomes.hindsight import settle_causes
from preheat.outcomes.structure import lists_nothing, read_report
from preheat.outcomes.verdict import LIKELY, judge_ending, judge_failure, make_outcome, other_lines

# Results of tools that are no shells
_ERROR = re.compile(
    r"\s*(?:<[\w-]*error[\w-]*>|#{1,4} ?Error\b|(?:[A-Z]\w+ )?(?:[Ee]rror|ERROR)\b(?: [\w -]{1,60})?[:!]|(?:Error|ERROR) \w"
    r"|(?:Failed|Unable) to |Failure\b|Cannot |Can't |Could not |Couldn't |Invalid |Unknown |No such |Missing (?:required|value)"
    r"|[\w.]*(?:Error|Exception)\b(?:: |$)|E(?:NOENT|ISDIR|ACCES|PERM|NOTDIR|EXIST)\b|Request failed|MCP error"
    r"|Argument Validation|(?:Permission|Access) denied|(?:Request |Operation |Tool )?[Tt]imed out"
    r"|String to replace not found|Traceback \(most recent"
    r"|[^\n.:]{0,120}\b(?:not found|does not exist|doesn't exist|is not (?:valid|allowed|supported|recognized)"
    r"|failed|timed out)\b"
    r"|File has (?:not )?been \w+)"
)
"""How a result begins that is an error message."""
_PLAIN_ERROR = re.compile(
    r"\s*(?:<[\w-]*error[\w-]*>|(?:Error|ERROR|error): |MCP error -?\d|Request failed with status code \d"
    r"|(?:Failed|Unable) to (?:\w+ ){0,4}\w+: |[\w.]+(?:Error|Exception): )"
)
"""The same, so plain that it overrules a flag that only says that the tool ran."""
_NOT_PERFORMED = re.compile(r"Error (?:performing|executing|running|calling) \S+: ")
_NO_PAGE = re.compile(r"\s*(?:HTTP )?(?:404|410)\b|[^\n]{0,80}\b(?:status code|HTTP) ?(?:4\d\d|5\d\d)\b")
_FOUND_NOTHING = re.compile(
    r"\s*(?:no (?:matches|files|results|matching|occurrences|entries|documents|data|items)\b[^\n]{0,200}"
    r"|(?:found )?0 (?:matches|results|files)[^\n]{0,100}|nothing found[^\n]{0,100})\s*\Z",
    re.IGNORECASE,
)
_SHORT, _FEW_LINES = 600, 8
LOOKS: frozenset[ToolKind] = frozenset(["search", "web"])
"""Tools that may find nothing."""
_CONTENT: frozenset[ToolKind] = frozenset(["read", "search", "web", "delegate"])
"""Tools whose result is somebody else's text."""


def says_error(case: Case) -> bool:
    """Whether the result has the form of an error message."""
    text = case.result.text
    if case.kind in _CONTENT and (len(text) > _SHORT or text.count("\n") > _FEW_LINES):
        return False
    return _ERROR.match(text) is not None


def says_failure_despite_flag(case: Case) -> bool:
    """Whether the result says that the tool failed although the flag says that it ran."""
    text, kind = case.result.text, case.kind
    if kind == "web":
        return _NO_PAGE.match(text) is not None
    if len(text) >= _SHORT:
        return False
    if kind == "search":
        return _NOT_PERFORMED.match(text) is not None
    return kind not in _CONTENT and _PLAIN_ERROR.match(text) is not None


def says_nothing_found(case: Case) -> bool:
    """Whether the result says that nothing was found."""
    text, kind = case.result.text, case.kind
    if len(text) < 8 and text.strip() in ("[]", "{}"):
        return kind in ("read", "search", "other")
    if kind == "search" and case.is_blank:
        return True
    if kind in LOOKS and _FOUND_NOTHING.match(text) is not None:
        return True
    return (case.dialect.empty is not None and case.dialect.empty.match(text) is not None) or lists_nothing(
        text, case.call.tool
    )


# Commands that report success, or no exit code, judged by their output
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
        if case.shows or case.asks_silently:  # whether something is there was the question, and the code is the answer
            return make_outcome(case, "empty", rung, LIKELY)
        return judge_failure(case, "exit_code", case.text, code)
    failure = case.failure_line
    if failure is None or not failure.is_sure:
        return make_outcome(case, "ok", rung, _HIDDEN)
    if case.shows:
        return _judge_look(case, failure, "||" in command)
    if fallbacks and any(line.strip() in fallbacks for line in case.text.split("\n")):
        return make_outcome(case, "ok", rung, LIKELY)
    return judge_failure(case, "text", case.text)


def judge_output(case: Case) -> Outcome:
    """The outcome of a command by its output alone: without a line of failure it worked."""
    if case.is_blank:
        return make_outcome(case, "empty" if case.shows else "ok", "text", LIKELY)
    return (
        make_outcome(case, "ok", "text", LIKELY)
        if case.is_look or case.failure_line is None
        else judge_failure(case, "text", case.text)
    )


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


def _judge_look(case: Case, failure: lines.FailureLine, has_fallback: bool) -> Outcome:
    """The outcome of a look at something missing: partial if other things were shown, empty if the command expected it."""
    if other_lines(case):
        return make_outcome(case, "ok", "text", LIKELY)
    if has_fallback or (case.shell is not None and is_absence_answer(failure.line, case.shell.purpose)):
        return make_outcome(case, "empty", "text", LIKELY)
    return judge_failure(case, "text", failure.line)


# The judge
VERSION = 5
"""Of the rules: a session judged by an older one is judged again."""


def judge(session: Session, dialect: Dialect = NO_DIALECT, hindsight: bool = True) -> tuple[Outcome, ...]:
    """What came of every call of the session, in the order of the calls; without hindsight as it looked when each call ended."""
    patterns = DialectPatterns(dialect)
    calls: list[ToolCall] = []
    results: dict[str, ToolResult] = {}
    late: dict[str, int] = {}
    for event in session.events:
        if isinstance(event, ToolCall):
            calls.append(event)
        elif isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
        elif isinstance(event, Other) and event.name == LATE_ENDING and isinstance(event.raw, dict):
            _take_late_ending(event.raw, results, late)
    started = _commands_by_process(calls, results)
    found = [_judge_call(call, results.get(call.call_id), patterns, late, started) for call in calls]
    return settle_causes(calls, found, results) if hindsight and len(found) > 1 else tuple(found)


def _commands_by_process(calls: list[ToolCall], results: dict[str, ToolResult]) -> dict[str, str]:
    """The commands that were left running, by the id under which later calls look at them."""
    if not any(process_of(call) for call in calls if call.kind == "shell"):
        return {}
    found: dict[str, str] = {}
    for call in calls:
        result = results.get(call.call_id) if call.kind == "shell" else None
        if result is not None and (process := started_process(result)) and (command := command_text(call.input)):
            found[process] = command
    return found


def _take_late_ending(raw: dict[str, Any], results: dict[str, ToolResult], late: dict[str, int]) -> None:
    """Note the exit code of a command that ended after its result had said that it runs; where the result of another call has the
    rest of its output, that is its result."""
    name, code = str(raw.get("call_id")), raw.get("exit_code")
    if isinstance(code, int):
        late[name] = code
    before, told = results.get(name), results.get(str(raw.get("told_by")))
    if before is not None and told is not None:
        detail = {key: value for key, value in before.detail.items() if key != "running"}
        results[name] = structs.replace(before, text=told.text or before.text, detail=detail, frame=("", ""))


def _judge_call(
    call: ToolCall,
    result: ToolResult | None,
    patterns: DialectPatterns,
    late: dict[str, int],
    started: dict[str, str],
) -> Outcome:
    if result is None:
        return Outcome(call.call_id, "unknown", "none", confidence=0.0)
    command = started.get(process_of(call), "") if started and call.kind == "shell" else ""
    return _climb(Case(call, result, patterns, late.get(call.call_id), command))


def _climb(case: Case) -> Outcome:
    for rung in RUNGS:
        found = rung(case)
        if found is not None:
            return found
    return make_outcome(case, "unknown", "none", 0.0)


def judge_by_flag(case: Case) -> Outcome | None:
    """What the agent's program recorded about the call itself."""
    result, dialect, is_error = case.result, case.dialect, case.is_error
    ending = dialect.ending_by_field(result.detail) if result.detail else None
    if ending == "running" and case.late_code is not None:
        ending = None
    if ending is None and is_error:
        ending = dialect.ending_by_text(result.text)
    elif ending is None and is_error is False and dialect.says_running(result.text):
        ending = "running"
    elif ending == "interrupted" and dialect.ending_by_text(result.text) == "denied":
        ending = "denied"  # the program has one word for both; its sentence distinguishes them
    if ending is not None:
        return judge_ending(case, ending, "flag")
    if is_error is None or (result.exit_code is not None and case.kind == "shell"):
        return None
    if not is_error:
        return judge_reported_success(case, "flag") if case.kind == "shell" else _judge_tool_success(case, "flag")
    if case.kind == "shell" and case.code is not None:
        return None
    if case.kind in LOOKS and says_none_found(result.text):
        return make_outcome(case, "empty", "flag")
    return judge_failure(case, "flag", result.text)


def judge_by_exit_code(case: Case) -> Outcome | None:
    """The exit code, recorded or stated in the text."""
    code = case.code
    if code is None:
        return None
    if code == 0:
        return judge_reported_success(case, "exit_code")
    if case.was_stopped:
        return judge_ending(case, "interrupted", "exit_code")
    understood, failure = case.shell, case.failure_line
    if understood is not None:
        # A benign exit code with a complaint beside it is none: `grep` also ends with 1 where there is no such folder.
        answer = benign_answer(understood, code) if failure is None or not failure.is_sure else None
        if answer is not None:
            return make_outcome(case, answer, "exit_code", code=code)
        if case.asks_help and lines.shows_usage(case.text):
            return make_outcome(case, "ok", "exit_code", LIKELY, code=code)
        absent = failure is not None and is_absence_answer(failure.line, understood.purpose)
        if absent or (failure is None and case.asks_silently):
            return make_outcome(case, "ok" if other_lines(case) else "empty", "exit_code", LIKELY, code=code)
    return judge_failure(case, "exit_code", case.text, code)


def judge_by_structure(case: Case) -> Outcome | None:
    """A JSON value in the result that says how the call went."""
    found = read_report(case.result.text, case.kind)
    if found is None:
        return None
    if found.ending is not None:
        return judge_ending(case, found.ending, "structure")
    if found.exit_code is not None and case.shell is not None:
        answer = "ok" if found.exit_code == 0 and not found.failed else benign_answer(case.shell, found.exit_code)
        if answer is not None:
            return make_outcome(case, answer, "structure", code=found.exit_code)
        return judge_failure(case, "structure", found.message or case.text, found.exit_code)
    if found.failed is None:
        return None
    return judge_failure(case, "structure", found.message) if found.failed else _judge_tool_success(case, "structure")


def judge_by_text(case: Case) -> Outcome | None:
    """A sentence or line that can only mean one thing; a result that shows nothing wrong is likely fine."""
    text, dialect = case.bare_text, case.dialect
    if (ending := dialect.ending_by_text(text)) is not None:
        return judge_ending(case, ending, "text")
    for pattern in (dialect.mistake, dialect.failed):
        if pattern is not None and pattern.match(text):
            return judge_failure(case, "text", text)
    if case.kind == "shell":
        return judge_output(case)
    if dialect.worked is not None and dialect.worked.match(text):
        return make_outcome(case, "ok", "text")
    if says_error(case):
        return judge_failure(case, "text", text)
    if case.is_blank:
        return make_outcome(case, "empty", "text", LIKELY) if case.kind in LOOKS else None
    return _judge_tool_success(case, "text", LIKELY)


RUNGS = (judge_by_flag, judge_by_exit_code, judge_by_structure, judge_by_text)
"""Best first; the first that can tell decides."""


def _judge_tool_success(case: Case, rung: Rung, confidence: float | None = None) -> Outcome:
    """A tool that is no shell reports success."""
    if rung == "flag" and says_failure_despite_flag(case):
        return judge_failure(case, "text", case.result.text)
    return make_outcome(case, "empty" if says_nothing_found(case) else "ok", rung, confidence)
