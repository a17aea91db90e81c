"""`lessons`: what was learned, by project, kind and words. Nothing is learned here."""

import time
from typing import Any

import msgspec

from preheat.app.context.model_text import make_harmless, map_texts, quote_or_withhold
from preheat.errors import NotFound
from preheat.model.lesson import LESSON_KINDS, Lesson
from preheat.tools.fitting import MAX_TOKENS, OFFSET, fit_rows
from preheat.tools.opening import PROJECT, data_note, open_archive, project_in_question
from preheat.tools.tool import Tool, ToolRequest

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


def _run_lessons(asked: ToolRequest) -> dict[str, Any]:
    arguments = asked.arguments
    home = open_archive(asked)  # without an archive the answer differs from one without lessons
    if identity := arguments.get("id"):
        # Also a quarantined lesson.
        return {
            "note": data_note(),
            "lesson": map_texts(quote_or_withhold, msgspec.to_builtins(_find_lesson(home.lessons(), identity))),
        }
    where = project_in_question(asked)
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
    answer: dict[str, Any] = {"note": data_note(where)}
    if note:
        answer["project"] = f"{note}; these hold anywhere"
    if not fitting:
        answer["next"] = _advice(found, arguments)
    return {
        **answer,
        "found": len(fitting),
        **fit_rows("lessons", [_short_lesson(each) for each in fitting], arguments),
    }


def _searched_text(lesson: Lesson) -> str:
    """The text that is searched for words."""
    parts = (lesson.text, lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.topic)
    return " ".join((*parts, *lesson.steps, *lesson.files)).casefold()


def _short_lesson(lesson: Lesson) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(lesson)
    short: dict[str, Any] = map_texts(
        make_harmless, {name: each for name, each in whole.items() if name not in _EVIDENCE}
    )
    return short


def _find_lesson(lessons: list[Lesson], wanted: str) -> Lesson:
    found = [each for each in lessons if each.id == wanted] or [each for each in lessons if each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"`{wanted}` matches several: {', '.join(each.id for each in found[:6])}; give more of the id")
    raise NotFound(f"no lesson `{wanted}`; the tool without `id` lists them with their ids")


def _advice(found: list[Lesson], arguments: dict[str, Any]) -> str:
    if not found:
        return "nothing is learned yet: run `preheat sync`, then `preheat learn`"
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
