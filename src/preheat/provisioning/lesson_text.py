"""The text of a lesson for a model: one line of facts with their numbers. Knows no task and no budget.

A line states facts and gives no orders. Commands stand in backticks, output of tools in quotation marks.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from preheat.model.lesson import Example, Lesson, LessonKind
from preheat.provisioning.selection import RULE_TOPICS
from preheat.safe_text.cleanup import in_backticks, in_quotes, make_harmless, make_harmless_line, map_texts

_TEXT, _CODE, _ERROR, _RESULT = 300, 240, 140, 100
_WHOLE_RESULT = 1200
_VAGUE_TOPICS = frozenset(["", "other", "run"])
"""Topics without information."""


def describe_lesson(lesson: Lesson) -> str:
    """The text of a lesson for a model."""
    return _DESCRIPTIONS[lesson.kind](lesson) or make_harmless_line(lesson.text, _TEXT)


def harmless_example(example: Example) -> tuple[dict[str, Any], str]:
    """The arguments and the result of an example, made harmless."""
    arguments = {make_harmless(name): map_texts(make_harmless, each) for name, each in example.arguments.items()}
    result = make_harmless(example.result).strip()
    if len(result) > _WHOLE_RESULT:
        result = f"{result[: _WHOLE_RESULT - 200]}\n…\n{result[-190:]}"
    return arguments, result or "(no output)"


def _describe_convention(lesson: Lesson) -> str:
    if not _is_code(lesson) or lesson.topic in RULE_TOPICS:
        return ""
    about = "in use here" if lesson.topic in _VAGUE_TOPICS else make_harmless_line(lesson.topic, 40)
    support = lesson.support
    total = support.calls_for + support.calls_against
    ran = f" ({support.calls_for:,} of {total:,} ran, in {support.sessions_for:,} sessions)" if total else ""
    return f"{about}: {in_backticks(lesson.use, _CODE)}{ran}{_failure_clause(lesson, '; ')}"


def _describe_repair(lesson: Lesson) -> str:
    failed = lesson.avoid or next(iter(lesson.forms), "")
    if not failed or not lesson.error:
        return ""
    error = f"{in_backticks(failed, _CODE)} fails here: {in_quotes(lesson.error, _ERROR)}"
    support = lesson.support
    total = support.calls_for + support.calls_against
    share = f" ({support.calls_for:,} of {total:,})" if total else ""
    if _is_code(lesson):
        return f"{error}; {in_backticks(lesson.use, _CODE)} works{share}"
    return (
        f"{error}; {make_harmless_line(lesson.difference, _CODE).rstrip(',')}, it works{share}"
        if lesson.difference
        else ""
    )


def _describe_dead_end(lesson: Lesson) -> str:
    again = f"; {in_backticks(lesson.recheck, _CODE)} shows whether that still holds" if lesson.recheck else ""
    if not lesson.avoid:
        return f"{make_harmless_line(lesson.text, _TEXT)}{again}" if again else ""
    tried = lesson.support.calls_for
    times = f" {tried} times" if tried > 1 else ""
    error = f": {in_quotes(lesson.error, _ERROR)}" if lesson.error else ""
    instead = f"; what was done instead: {in_backticks(lesson.use, _CODE)}" if lesson.use else ""
    return f"{in_backticks(lesson.avoid, _CODE)} was tried{times} and never worked{error}{instead}{again}"


def _describe_error(lesson: Lesson) -> str:
    if not lesson.error:
        return ""
    support = lesson.support
    forms = ", ".join(in_backticks(form, 60) for form in lesson.forms[:3])
    source = f" from {forms}" if forms else ""
    return f"{in_quotes(lesson.error, _ERROR)}{source}: {support.calls_for} times in {support.sessions_for} sessions"


def _describe_example(lesson: Lesson) -> str:
    example = lesson.example
    if example is None:
        return ""
    arguments, result = harmless_example(example)
    call = in_backticks(f"{example.tool} {msgspec.json.encode(arguments).decode()}", _CODE)
    return f"worked: {call} gave {in_quotes(result, _RESULT)}"


def _describe_working_set(lesson: Lesson) -> str:
    if not lesson.use:
        return ""
    support = lesson.support
    total = support.sessions_for + support.sessions_against
    often = f" (in {support.sessions_for} of {total} sessions)" if total else ""
    return f"often worked on: {in_backticks(lesson.use, _CODE)}{often}"


def _describe_sequence(lesson: Lesson) -> str:
    if not lesson.steps:
        return ""
    support = lesson.support
    steps = " → ".join(make_harmless_line(step, 60) for step in lesson.steps)
    return f"order of calls seen in {support.calls_for} good and {support.calls_against} bad stretches: {steps}"


def _describe_resume(lesson: Lesson) -> str:
    """Several lines, as the learner of resume packets wrote them."""
    return "\n  ".join(filter(None, (make_harmless_line(each, _TEXT) for each in lesson.text.splitlines())))


_DESCRIPTIONS: dict[LessonKind, Callable[[Lesson], str]] = {
    "resume": _describe_resume,
    "convention": _describe_convention,
    "repair": _describe_repair,
    "dead_end": _describe_dead_end,
    "error": _describe_error,
    "example": _describe_example,
    "working_set": _describe_working_set,
    "sequence": _describe_sequence,
}


def _is_code(lesson: Lesson) -> bool:
    """Whether `use` is a command that can be typed: then the lesson's own text has it in backticks."""
    return bool(lesson.use) and f"`{lesson.use}`" in lesson.text


def _failure_clause(lesson: Lesson, before: str) -> str:
    if not lesson.avoid:
        return ""
    error = f": {in_quotes(lesson.error, _ERROR)}" if lesson.error else ""
    return f"{before}{in_backticks(lesson.avoid, _CODE)} fails here{error}"
