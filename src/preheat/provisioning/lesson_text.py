"""The text of a lesson for a model: one line of facts with their numbers. Knows no task and no budget.

A line is a sentence of ours (`safe_text.lesson_sentences`) with slots; what no slot may hold is left out, and a lesson of which
nothing is left has no text. Only a text that a person approved, by its digest, is handed on as it stands.
"""

import re
from collections.abc import Callable
from typing import Any

from preheat.amounts import format_count
from preheat.model.lesson import Example, Lesson, LessonKind, ResumePacket, text_digest
from preheat.provisioning.fact_text import describe_fact, is_fact
from preheat.provisioning.selection import RULE_TOPICS
from preheat.safe_text import lesson_sentences as sentences
from preheat.safe_text.cleanup import make_harmless_line
from preheat.safe_text.command_slot import fit_command
from preheat.safe_text.sentences import rewrite_any
from preheat.safe_text.slots import fit_token, fit_variable

_TEXT = 300
VAGUE_TOPICS = frozenset(["", "other", "run"])
"""Topics without information."""
_COMMAND_ARGUMENTS = frozenset(["command", "cmd", "script", "code", "input", "args"])
"""Names of arguments that hold a command."""
_CUT = "…"
_ONLY_LOOKING = re.compile(r"after `(?:git (?:status|log|diff|branch)|ls|pwd|cat)\b")
_HEAD = "Last session here:"
_ADDRESS = "://"
_OWN_TEXTS = frozenset(["folder", "runner", "missing"])
"""Topics of facts whose learner words a sentence itself."""


def describe_lesson(lesson: Lesson, approved: frozenset[str] = frozenset()) -> str:
    """The text of a lesson for a model; empty if nothing of it may be handed on. `approved`: digests of texts that a person
    approved."""
    if approved and lesson.packet is None and text_digest(lesson.text) in approved:
        return make_harmless_line(lesson.text, _TEXT)
    if lesson.kind == "resume":
        return _describe_resume(lesson, approved)
    return _DESCRIPTIONS[lesson.kind](lesson)


def fit_example(example: Example) -> tuple[dict[str, Any], str]:
    """The arguments of an example of which each holds a token, and what is said of its result: how long it was."""
    arguments = {
        name: fitted
        for name, value in example.arguments.items()
        if fit_variable(name) and (fitted := _fit_argument(name, value)) is not None
    }
    return arguments, _describe_result(example)


def _fit_argument(name: str, value: Any) -> Any:
    """What may be handed on of an argument; None if nothing."""
    if isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str) or not value:
        return None
    return (fit_command(value) if name in _COMMAND_ARGUMENTS else fit_token(value)) or None


def _describe_result(example: Example) -> str:
    lines = _count_lines(example)
    return f"({format_count(lines, 'line')} of output)" if lines else "(no output)"


def _count_lines(example: Example) -> int:
    return len(example.result.strip().splitlines())


def _total(lesson: Lesson) -> dict[str, int]:
    """How many calls speak for the lesson, of how many."""
    total = lesson.support.calls_for + lesson.support.calls_against
    return {"good": lesson.support.calls_for, "all": total} if total else {}


def _describe_convention(lesson: Lesson) -> str:
    if lesson.topic == "correction":
        return _describe_correction(lesson)
    if is_fact(lesson) and (said := describe_fact(lesson)):
        return said
    if is_fact(lesson) and lesson.topic not in _OWN_TEXTS:
        return ""
    if not _is_code(lesson) or lesson.topic in RULE_TOPICS:
        return rewrite_any(sentences.CONVENTION_TEXTS, lesson.text[: 4 * _TEXT])
    if _CUT in fit_command(lesson.use):  # such a command cannot be typed
        return ""
    support = lesson.support
    total = support.calls_for + support.calls_against
    avoid = "" if _CUT in fit_command(lesson.avoid) else lesson.avoid
    values: dict[str, Any] = {"use": lesson.use, "avoid": avoid, "error": lesson.error}
    if total:
        values |= {"ran": support.calls_for, "total": total, "sessions": support.sessions_for}
    said = "" if lesson.topic in VAGUE_TOPICS else sentences.CONVENTION.write(about=lesson.topic, **values)
    return said or sentences.VAGUE_CONVENTION.write(**values)


def _describe_correction(lesson: Lesson) -> str:
    """What a person asked for, where that is a command: the sentence itself is the person's own and needs an approval."""
    sessions = lesson.support.sessions_for
    values = {"use": lesson.use, "avoid": lesson.avoid}
    if sessions > 1:
        values["sessions"] = format_count(sessions, "session")
    if lesson.use and lesson.avoid:
        return sentences.PREFERENCE.write(**values)
    return sentences.WISH.write(**values) or sentences.REFUSAL.write(**values)


def _describe_repair(lesson: Lesson) -> str:
    if _ONLY_LOOKING.match(lesson.difference):  # looking is no repair, whatever worked after it
        return ""
    if _ADDRESS in lesson.use or _ADDRESS in lesson.avoid:  # of one page or one server, and no other call has it
        return ""
    values = {"failed": lesson.avoid or next(iter(lesson.forms), ""), "error": lesson.error, **_total(lesson)}
    is_told_apart = _is_code(lesson) and fit_command(lesson.use) != fit_command(str(values["failed"]))
    # "Here" is said of this project only.
    repair, different = (
        (sentences.REPAIR, sentences.DIFFERENT_CALL)
        if lesson.scope.project
        else (sentences.GENERAL_REPAIR, sentences.GENERAL_DIFFERENT_CALL)
    )
    said = repair.write(use=lesson.use, **values) if is_told_apart else ""
    said = said or different.write(difference=lesson.difference, **values)
    return said or sentences.REPAIR_TEXT.rewrite(lesson.text[: 4 * _TEXT])


def _describe_dead_end(lesson: Lesson) -> str:
    tried = lesson.support.calls_for
    # A command with a gap, or the same program again, is nothing that was done instead.
    is_other = _CUT not in fit_command(lesson.use) and lesson.use.split(" ")[0] != lesson.avoid.split(" ")[0]
    values = {
        "avoid": lesson.avoid,
        "tried": f"{tried} times" if tried > 1 else "",
        "error": lesson.error,
        "use": lesson.use if is_other else "",
        "recheck": lesson.recheck,
    }
    return (sentences.MISSING_FILE if lesson.topic == "file" else sentences.DEAD_END).write(**values)


def _describe_error(lesson: Lesson) -> str:
    support = lesson.support
    return sentences.ERROR.write(
        error=lesson.error, forms=lesson.forms[:3], calls=f"{support.calls_for} times", sessions=support.sessions_for
    )


def _describe_example(lesson: Lesson) -> str:
    example = lesson.example
    if example is None:
        return ""
    lines = _count_lines(example)
    known = {"lines": lines} if lines > 1 else {}
    arguments, _ = fit_example(example)
    if not arguments:
        return ""
    commands = [value for name, value in arguments.items() if name in _COMMAND_ARGUMENTS]
    if example.kind == "shell" or commands:
        return sentences.EXAMPLE.write(use=commands[0] if commands else lesson.use, **known)
    shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return sentences.EXAMPLE_CALL.write(call=f"{example.tool}({shown})", **known) if shown else ""


def _describe_working_set(lesson: Lesson) -> str:
    support = lesson.support
    total = support.sessions_for + support.sessions_against
    known = {"sessions": support.sessions_for, "total": total} if total else {}
    return sentences.WORKING_SET.write(path=lesson.use, **known)


def _describe_sequence(lesson: Lesson) -> str:
    return sentences.SEQUENCE.write(good=lesson.support.calls_for, bad=lesson.support.calls_against, steps=lesson.steps)


def _describe_resume(lesson: Lesson, approved: frozenset[str]) -> str:
    """Several lines, as the learner of resume packets wrote them; what was asked only if a person approved that very text."""
    lines = lesson.text[:4000].splitlines()
    packet = lesson.packet
    if len(lines) > 1:
        fitted = [rewrite_any(sentences.PACKET_LINES, line.strip()) for line in lines]
        kept = [fitted[0] or _HEAD, *filter(None, fitted[1:])]
        if packet is not None and text_digest(packet.goal) in approved:
            kept.insert(1, f'asked: "{make_harmless_line(packet.goal, _TEXT)}"')
        return "\n  ".join(kept) if len(kept) > 1 else ""
    return _describe_packet(packet) if packet is not None else ""


def _describe_packet(packet: ResumePacket) -> str:
    failing = next((check.command for check in packet.checks if not check.passed), "")
    left = len(packet.unverified)
    if packet.committed and not failing and not left:
        return sentences.ENDED_CLEAN.write()
    return sentences.LEFT_OPEN.write(command=failing, files=format_count(left, "edited file") if left else "")


_DESCRIPTIONS: dict[LessonKind, Callable[[Lesson], str]] = {
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
