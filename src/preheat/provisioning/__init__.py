"""Provisioning: from lessons to the context of a new session. Pure; knows no archive, no agent and no clock.

`provision` chooses lessons that fit the budget; `render` writes the context in a format (`FORMATS`, and those of agents).
"""

from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from preheat.model.context import TOKEN_BUDGET, Context, ContextLesson
from preheat.model.lesson import Lesson
from preheat.provisioning.formats import FORMATS, render
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.messages import NO_ID, estimate_example, format_block, make_exchange
from preheat.provisioning.selection import (
    LEAST_VALUE,
    SELDOM_NEEDED,
    TASK_CHARACTERS,
    Candidate,
    Selection,
    display_order,
    pack,
    select,
    sessions_of,
)
from preheat.provisioning.tokens import estimate_tokens
from preheat.safe_text.cleanup import make_harmless, strip_invisible, without_markup

__all__ = [
    "FORMATS",
    "LEAST_VALUE",
    "TASK_CHARACTERS",
    "TOKEN_BUDGET",
    "estimate_tokens",
    "provision",
    "render",
    "without_lessons",
]


NOTHING_LEFT = "in words that no person has approved"
"""Why a lesson is left out of which no slot may hold anything."""


def provision(
    lessons: Sequence[Lesson],
    *,
    task: str,
    now: float,
    agent: str = "",
    project: str = "",
    budget: int = TOKEN_BUDGET,
    template: str = "",
    addendum: str = "",
    sessions: int = 0,
    examples: bool = False,
    approved: frozenset[str] = frozenset(),
    asked: frozenset[str] = frozenset(),
    at_start: bool = False,
) -> Context:
    """The context of a session with this task, or the reason why it is empty.

    `project` is its name in lessons; `template` the `name@digest` that the lessons are from, and `addendum` its own text.
    `sessions` is how many sessions were learned from, where that is known; with `examples` real calls are included although
    a convention names the same command, for formats that are made of messages. `approved` has the digests of texts that a person
    approved: they are handed on as they stand. `asked` has the ids of facts that the task asks for; `at_start`: for
    every task, because what a prompt or a call asks for is said then.
    """
    task = strip_invisible(task)
    addendum = without_markup(make_harmless(addendum)).strip()
    known = sessions or sessions_of(lessons, project)
    here = bool(project) and not template
    chosen = select(
        lessons,
        task=task,
        agent=agent,
        project=project,
        now=now,
        sessions=known,
        template=bool(template),
        examples=examples,
        asked=asked,
        at_start=at_start,
    )
    candidates = sorted(chosen.candidates, key=lambda each: display_order(each.lesson))
    left_out = chosen.left_out
    if addendum and _frame_tokens(addendum, 0, here) > budget:
        left_out["the template's own text, over the budget"] += 1
        addendum = ""
    described = [(each, describe_lesson(each.lesson, approved)) for each in candidates]
    items = [_make_item(each, text) for each, text in described if text]
    if len(items) < len(candidates):
        left_out[NOTHING_LEFT] += len(candidates) - len(items)
    room = budget - _frame_tokens(addendum, known, here, items=True)
    pinned = frozenset(each.lesson.id for each in candidates if each.lesson.pinned)
    taken = pack(items, room, pinned)
    if len(taken) < len(items):
        left_out["over the budget"] += len(items) - len(taken)
    found = Context(
        id=NO_ID,
        task=task,
        agent=agent,
        project=project,
        budget=budget,
        tokens=_context_tokens(addendum, known, here, taken),
        items=tuple(taken),
        addendum=addendum,
        template=template,
        reason="" if taken else _reason(len(lessons), chosen, items, budget, budget - room, project),
        sessions=known if taken else 0,
        considered=len(lessons),
        left_out=dict(sorted(left_out.items())),
    )
    return msgspec.structs.replace(found, id=_identity(found))


def without_lessons(context: Context, lessons: frozenset[str]) -> Context:
    """A context without the items of these lessons, with its own id and number of tokens."""
    kept = tuple(item for item in context.items if item.lesson not in lessons)
    if len(kept) == len(context.items):
        return context
    less = msgspec.structs.replace(
        context,
        items=kept,
        tokens=_context_tokens(context.addendum, context.sessions, context.is_from_this_project, kept),
        sessions=context.sessions if kept else 0,
        reason="" if kept else "every item was left out at random",
    )
    return msgspec.structs.replace(less, id=_identity(less))


def _make_item(candidate: Candidate, text: str) -> ContextLesson:
    lesson = candidate.lesson
    tokens = estimate_tokens(f"- {text}\n")
    if lesson.example is not None:
        tokens = max(tokens, estimate_example(lesson.id, lesson.example))
    return ContextLesson(
        lesson=lesson.id,
        kind=lesson.kind,
        topic=lesson.topic,
        text=text,
        example=lesson.example,
        tokens=tokens,
        value=candidate.value,
        why=candidate.why,
        pinned=lesson.pinned,
    )


def _frame_tokens(addendum: str, sessions: int, here: bool, items: bool = False) -> int:
    return estimate_tokens(format_block(NO_ID, addendum, sessions, here, [""] if items else [])) + 1


def _context_tokens(addendum: str, sessions: int, here: bool, taken: Sequence[ContextLesson]) -> int:
    if not taken and not addendum:
        return 0
    return _frame_tokens(addendum, sessions, here, bool(taken)) + sum(each.tokens for each in taken)


def _identity(context: Context) -> str:
    """The id of a context, made of what a session reads and not of the task: equal contexts share a prompt cache."""
    shown = [(item.text, item.example and make_exchange(item.lesson, item.example)) for item in context.items]
    read = (context.addendum, context.sessions, context.is_from_this_project, shown)
    return blake2b(msgspec.json.encode(read), digest_size=6).hexdigest()


def _reason(
    considered: int, chosen: Selection, items: Sequence[ContextLesson], budget: int, frame: int, project: str
) -> str:
    """Why a context has no items."""
    if items:
        least = frame + min(each.tokens for each in items)
        return f"a budget of {budget:,} tokens is too small for the smallest item ({least:,} with its frame)"
    if 0 < chosen.best < chosen.least:
        return f"nothing close enough to the task: the best lesson is worth {chosen.best:.2f}, and {chosen.least:.2f} is needed"
    if chosen.left_out[SELDOM_NEEDED]:
        return f"nothing that enough sessions need: {chosen.left_out[SELDOM_NEEDED]:,} lessons that few had to do with"
    unfit = {name: count for name, count in chosen.left_out.items() if name != "of another project"}
    if not considered or not unfit:
        return "no lessons for this project yet" if project else "no lessons yet"
    named = ", ".join(
        f"{count:,} {name}" for name, count in sorted(unfit.items(), key=lambda each: (-each[1], each[0]))
    )
    return f"no lesson that may be handed out: {named}"
