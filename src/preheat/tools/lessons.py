"""`lessons`: what was learned, by project, kind and words. Nothing is learned here."""

import time
from typing import Any

import msgspec

from preheat.app.context.model_text import harmless, in_value, quotation
from preheat.errors import NotFound
from preheat.model.lesson import LESSON_KINDS, Lesson
from preheat.tools.fitting import MAX_TOKENS, OFFSET, page
from preheat.tools.opening import PROJECT, archived, data_note, folder_of
from preheat.tools.tool import Asked, Tool

_SCHEMA = {
    "type": "object",
    "properties": {
        "words": {"type": "string", "description": "Only what has all these words, e.g. of an error message."},
        "kind": {"type": "string", "enum": list(LESSON_KINDS)},
        "project": PROJECT,
        "id": {"type": "string", "description": "One lesson, with what it rests on."},
        "offset": OFFSET,
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}
_EVIDENCE = ("evidence", "example", "packet", "signatures", "forms", "environment")
"""Long, and no part of what a lesson says; `id` gives them."""


def run(asked: Asked) -> dict[str, Any]:
    given = asked.arguments
    home = archived(asked)  # it must be there: nothing learned and nothing read are different answers
    if identity := given.get("id"):
        # Also one that is not handed out, because it reads like an order.
        return {"note": data_note(), "lesson": in_value(quotation, msgspec.to_builtins(_one(home.lessons(), identity)))}
    where = folder_of(asked)
    note = ""
    try:
        found = home.lessons(where or None)
    except NotFound as error:
        if given.get("project"):
            raise
        note = str(error)
        found = [each for each in home.lessons() if not each.scope.project]
    now = time.time()
    words = given.get("words", "").casefold().split()
    fitting = [
        each
        for each in found
        if each.usable(now) and each.kind == given.get("kind", each.kind) and all(word in _read(each) for word in words)
    ]
    answer: dict[str, Any] = {"note": data_note(where)}
    if note:
        answer["project"] = f"{note}; these hold anywhere"
    if not fitting:
        answer["next"] = _advice(found, given)
    return {**answer, "found": len(fitting), **page("lessons", [_short(each) for each in fitting], given)}


def _read(lesson: Lesson) -> str:
    """All that words are looked for in."""
    parts = (lesson.text, lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.topic)
    return " ".join((*parts, *lesson.steps, *lesson.files)).casefold()


def _short(lesson: Lesson) -> dict[str, Any]:
    whole: dict[str, Any] = msgspec.to_builtins(lesson)
    short: dict[str, Any] = in_value(harmless, {name: each for name, each in whole.items() if name not in _EVIDENCE})
    return short


def _one(lessons: list[Lesson], wanted: str) -> Lesson:
    found = [each for each in lessons if each.id == wanted] or [each for each in lessons if each.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"`{wanted}` begins several: {', '.join(each.id for each in found[:6])}; give more of the id")
    raise NotFound(f"no lesson `{wanted}`; the tool without `id` lists them with their ids")


def _advice(found: list[Lesson], given: dict[str, Any]) -> str:
    if not found:
        return "nothing is learned yet: run `preheat sync`, then `preheat learn`"
    if given.get("words"):
        return "fewer or other words find more; `session_search` looks in what was said and run"
    return "without `kind` there are more; `project` `all` looks everywhere"


LESSONS = Tool(
    "lessons",
    "What was learned from earlier sessions, the best first: repairs of errors, conventions, working commands, dead ends. Use "
    "it when a command fails or you are about to try something: give words of the error or the command.",
    _SCHEMA,
    run,
)
