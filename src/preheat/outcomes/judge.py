"""Judges calls: by the program's own flag, an exit code, a value in the result, a line of its text, in this order.

Knows no agent: what is particular to one comes as its `Dialect`. Never looks for a word anywhere in an output.
"""

from preheat.commands import benign_answer
from preheat.model.outcome import NO_DIALECT, Dialect, Outcome, Rung
from preheat.model.session import LATE_ENDING, Other, Session, ToolCall, ToolResult
from preheat.outcomes import messages, shell
from preheat.outcomes.case import Case, DialectPatterns
from preheat.outcomes.structure import read_report
from preheat.outcomes.verdict import LIKELY, judge_ending, judge_failure, make_outcome, other_lines

VERSION = 1
"""Of the rules: a session judged by an older one is judged again."""


def judge(session: Session, dialect: Dialect = NO_DIALECT) -> tuple[Outcome, ...]:
    """What came of every call of the session, in the order of the calls."""
    voice = DialectPatterns(dialect)
    calls: list[ToolCall] = []
    results: dict[str, ToolResult] = {}
    late: dict[str, int] = {}
    for event in session.events:
        if isinstance(event, ToolCall):
            calls.append(event)
        elif isinstance(event, ToolResult):
            results.setdefault(event.call_id, event)
        elif isinstance(event, Other) and event.name == LATE_ENDING:
            late.update(_late_code(event.raw))
    return tuple([_judged(call, results.get(call.call_id), voice, late) for call in calls])


def _late_code(raw: object) -> dict[str, int]:
    """The exit code of a command that ended after its result had said that it runs."""
    code = raw.get("exit_code") if isinstance(raw, dict) else None
    return {str(raw.get("call_id")): code} if isinstance(raw, dict) and isinstance(code, int) else {}


def _judged(call: ToolCall, result: ToolResult | None, voice: DialectPatterns, late: dict[str, int]) -> Outcome:
    if result is None:
        return Outcome(call.call_id, "unknown", "none", confidence=0.0)
    return _climb(Case(call, result, voice, late.get(call.call_id)))


def _climb(case: Case) -> Outcome:
    for rung in RUNGS:
        found = rung(case)
        if found is not None:
            return found
    return make_outcome(case, "unknown", "none", 0.0)


def by_flag(case: Case) -> Outcome | None:
    """What the agent's program recorded about the call itself."""
    result, voice, is_error = case.result, case.dialect, case.is_error
    ending = voice.by_field(result.detail) if result.detail else None
    if ending == "running" and case.late_code is not None:
        ending = None
    if ending is None and is_error:
        ending = voice.by_text(result.text)
    elif ending is None and is_error is False and voice.runs(result.text):
        ending = "running"
    elif ending == "interrupted" and voice.by_text(result.text) == "denied":
        ending = "denied"  # the program has one word for both; its sentence distinguishes them
    if ending is not None:
        return judge_ending(case, ending, "flag")
    if is_error is None or (result.exit_code is not None and case.kind == "shell"):
        return None
    if not is_error:
        return shell.judge_reported_success(case, "flag") if case.kind == "shell" else _worked(case, "flag")
    if case.kind == "shell" and case.code is not None:
        return None
    if case.kind in messages.LOOKS and shell.says_none_found(result.text):
        return make_outcome(case, "empty", "flag")
    return judge_failure(case, "flag", result.text)


def by_exit_code(case: Case) -> Outcome | None:
    """The exit code, recorded or stated in the text."""
    code = case.code
    if code is None:
        return None
    if code == 0:
        return shell.judge_reported_success(case, "exit_code")
    understood, sign = case.shell, case.sign
    if understood is not None:
        # A benign exit code with a complaint beside it is none: `grep` also ends with 1 where there is no such folder.
        answer = benign_answer(understood, code) if sign is None or not sign.is_sure else None
        if answer is not None:
            return make_outcome(case, answer, "exit_code", code=code)
        if sign is not None and shell.is_absence_answer(sign.line, understood.purpose):
            return make_outcome(case, "ok" if other_lines(case) else "empty", "exit_code", LIKELY, code=code)
    return judge_failure(case, "exit_code", case.text, code)


def by_structure(case: Case) -> Outcome | None:
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
    return judge_failure(case, "structure", found.message) if found.failed else _worked(case, "structure")


def by_text(case: Case) -> Outcome | None:
    """A sentence or line that can only mean one thing; a result that shows nothing wrong is likely fine."""
    text, voice = case.result.text, case.dialect
    if (ending := voice.by_text(text)) is not None:
        return judge_ending(case, ending, "text")
    for pattern in (voice.mistake, voice.failed):
        if pattern is not None and pattern.match(text):
            return judge_failure(case, "text", text)
    if case.kind == "shell":
        return shell.judge_output(case)
    if voice.worked is not None and voice.worked.match(text):
        return make_outcome(case, "ok", "text")
    if messages.says_error(case):
        return judge_failure(case, "text", text)
    if case.is_blank:
        return make_outcome(case, "empty", "text", LIKELY) if case.kind in messages.LOOKS else None
    return _worked(case, "text", LIKELY)


RUNGS = (by_flag, by_exit_code, by_structure, by_text)
"""Best first; the first that can tell decides."""


def _worked(case: Case, rung: Rung, confidence: float | None = None) -> Outcome:
    """A tool that is no shell reports success."""
    if rung == "flag" and messages.says_failure_despite_flag(case):
        return judge_failure(case, "text", case.result.text)
    return make_outcome(case, "empty" if messages.says_nothing_found(case) else "ok", rung, confidence)
