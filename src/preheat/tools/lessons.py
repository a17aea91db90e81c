"""The tools `lessons` and `mistakes`: what was learned, and what goes wrong repeatedly.

Learns nothing itself.
"""

import time
from typing import Any

import msgspec

from preheat.app.model_text import FIELDS, fit_fields, fit_lesson, fit_text
from preheat.errors import NotFound
from preheat.model.lesson import LESSON_KINDS, Lesson
from preheat.model.mistake import MISTAKE_COSTS, Mistake
from preheat.model.outcome import CAUSES
from preheat.tools.tool import (
    AGENT,
    DAYS,
    MAX_TOKENS,
    OFFSET,
    PROJECT,
    Tool,
    ToolRequest,
    count_tokens,
    data_note,
    fit_rows,
    make_filter,
    open_analysed_archive,
    open_archive,
    project_in_question,
)

_LESSONS_SCHEMA = {
    "type": "object",
    "properties": {
        "words": {"type": "string", "description": "Only lessons with all these words, e.g. of an error message."},
        "kind": {"type": "string", "enum": list(LESSON_KINDS)},
        "project": PROJECT,
        "id": {"type": "string", "description": "One lesson, with its evidence."},
        "offset": OFFSET,
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}
_EVIDENCE = ("evidence", "example", "packet", "signatures", "forms", "environment")
"""Long fields that are given only with `id`."""


def _run_lessons(request: ToolRequest) -> dict[str, Any]:
    arguments = request.arguments
    home = open_archive(request)  # without an archive the answer differs from one without lessons
    if identity := arguments.get("id"):
        # Also a quarantined lesson.
        return {
            "note": data_note(),
            "lesson": fit_lesson(_find_lesson(home.lessons(), identity), home.knowledge.approved_texts()),
        }
    where = project_in_question(request)
    note = ""
    try:
        found = home.lessons(where or None)
    except NotFound as error:
        if arguments.get("project"):
            raise
        note = str(error)
        found = [each for each in home.lessons() if not each.scope.project]
    now = time.time()
    words = arguments.get("words", "").casefold().split()
    fitting = [
        each
        for each in found
        if each.is_usable(now)
        and each.kind == arguments.get("kind", each.kind)
        and all(word in _searched_text(each) for word in words)
    ]
    approved = home.knowledge.approved_texts()
    rows = [row for row in (_short_lesson(each, approved) for each in fitting) if row["text"]]
    answer: dict[str, Any] = {"note": data_note(where)}
    if len(rows) < len(fitting):
        answer["not_approved"] = len(fitting) - len(rows)
    if note:
        answer["project"] = f"{note}; these hold anywhere"
    if not fitting:
        answer["next"] = _advice(found, arguments)
    return {
        **answer,
        "found": len(rows),
        **fit_rows("lessons", rows, arguments),
    }


def _searched_text(lesson: Lesson) -> str:
    """The text that is searched for words."""
    parts = (lesson.text, lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.topic)
    return " ".join((*parts, *lesson.steps, *lesson.files)).casefold()


def _short_lesson(lesson: Lesson, approved: frozenset[str]) -> dict[str, Any]:
    return {name: each for name, each in fit_lesson(lesson, approved).items() if name not in _EVIDENCE}


def _find_lesson(lessons: list[Lesson], wanted: str) -> Lesson:
    found = [each for each in lessons if each.id == wanted] or [each for each in lessons if each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"`{wanted}` matches several: {', '.join(each.id for each in found[:6])}; give more of the id")
    raise NotFound(f"no lesson `{wanted}`; the tool without `id` lists them with their ids")


def _advice(found: list[Lesson], arguments: dict[str, Any]) -> str:
    if not found:
        return "nothing is learned yet: run `preheat sync`, then `preheat lessons learn`"
    if arguments.get("words"):
        return "fewer or other words find more; `session_search` searches messages and commands"
    return "without `kind` there are more; `project` `all` looks everywhere"


LESSONS = Tool(
    "lessons",
    "What was learned from earlier sessions, the best first: repairs of errors, conventions, working commands, dead ends. Use "
    "it when a command fails or you are about to try something: give words of the error or the command.",
    _LESSONS_SCHEMA,
    _run_lessons,
)


# `mistakes`
_MISTAKES_SCHEMA = {
    "type": "object",
    "properties": {
        "project": PROJECT,
        "agent": AGENT,
        "days": DAYS,
        "cause": {"type": "array", "items": {"type": "string", "enum": list(CAUSES)}},
        "by": {"type": "string", "enum": list(MISTAKE_COSTS), "description": "What to rank by; default calls."},
        "min_sessions": {"type": "integer", "minimum": 1, "description": "Seen in at least this many; default 2."},
        "id": {"type": "string", "description": "One mistake, with every occurrence."},
        "offset": OFFSET,
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}
_SESSIONS_SHOWN = 3


def _run_mistakes(request: ToolRequest) -> dict[str, Any]:
    arguments = request.arguments
    chosen = make_filter(request)
    opened = open_analysed_archive(request)
    found = opened.home.reliability.without_analysing().mistakes(
        chosen, arguments.get("cause", ()), arguments.get("by", "calls"), arguments.get("min_sessions", 2)
    )
    if identity := arguments.get("id"):
        return opened.waiting_note | _whole_mistake(found.mistakes, identity, arguments)
    answer: dict[str, Any] = {
        "note": data_note(chosen.project or ""),
        "project": fit_text(chosen.project or "all", "project"),
    }
    answer |= opened.waiting_note
    counts = {name: each for name, each in msgspec.to_builtins(found).items() if name != "mistakes"}
    answer |= fit_fields(counts)
    if not found.mistakes and not opened.waiting:
        answer["next"] = (
            "nothing is repeated here; `min_sessions` 1 shows what failed once, `project` `all` looks everywhere"
        )
    return answer | fit_rows(
        "mistakes", [_short_mistake(each) for each in found.mistakes], arguments, count_tokens(answer)
    )


def _short_mistake(mistake: Mistake) -> dict[str, Any]:
    """Without its occurrences, which `id` gives."""
    whole: dict[str, Any] = msgspec.to_builtins(mistake)
    whole |= {"sessions": len(mistake.sessions), "seen_in": whole["sessions"][:_SESSIONS_SHOWN]}
    del whole["occurrences"]
    short: dict[str, Any] = fit_fields(whole, {**FIELDS, "repair": "difference"})
    return short


def _whole_mistake(found: tuple[Mistake, ...], identity: str, arguments: dict[str, Any]) -> dict[str, Any]:
    matches = [each for each in found if each.id.startswith(identity)]
    if len(matches) != 1:
        raise NotFound(f"no mistake `{identity}` among these sessions; the tool without `id` lists them with their ids")
    answer = {"note": data_note(), "mistake": _short_mistake(matches[0])}
    occurrences = fit_fields([msgspec.to_builtins(each) for each in matches[0].occurrences])
    return answer | fit_rows("occurrences", occurrences, arguments, count_tokens(answer))


MISTAKES = Tool(
    "mistakes",
    "Failures that several sessions repeated, with their cost and what usually fixed them, the most costly first. Use it "
    "to know what to avoid in a project, or when a person asks what goes wrong again and again.",
    _MISTAKES_SCHEMA,
    _run_mistakes,
)
