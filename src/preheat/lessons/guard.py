"""The last look at every lesson before it may be handed out: whoever learned it, nothing that gives orders or does harm passes.

The learners look already where they take a text up; this looks at what they made of it, every field that may reach a model.
What is found is quarantined with its reason, so that a person can see it. What people said themselves (a correction, the
goal of a resume packet) may order: it is theirs. Knows no learner.
"""

from collections.abc import Iterator

import msgspec

from preheat.commands.dangers import ruinous_part
from preheat.model.lesson import Lesson
from preheat.safe_text.quotation import texts_in
from preheat.safe_text.reasons import danger_reason, order_reason

_PERSON_TOPICS = frozenset(["correction", "style"])
"""Topics of lessons that quote a person."""


def quarantine_unfit(lesson: Lesson) -> Lesson:
    """The lesson, quarantined if anything in it is unfit to be put before a model."""
    if lesson.status in ("quarantined", "retired"):
        return lesson
    why = next(filter(None, (order_reason(text) for text in _texts_to_read(lesson))), "") or next(
        filter(None, (danger_reason(text) for text in _texts_to_do(lesson))), ""
    )
    return msgspec.structs.replace(lesson, status="quarantined", why=why) if why else lesson


def _texts_to_read(lesson: Lesson) -> Iterator[str]:
    """The texts of a lesson that a model reads and that no person wrote."""
    if lesson.topic in _PERSON_TOPICS:
        return
    yield from (lesson.use, lesson.avoid, lesson.error, lesson.difference, lesson.recheck, lesson.topic)
    yield from (lesson.scope.tool, *lesson.steps, *lesson.files, *lesson.forms, *lesson.environment.values())
    packet, example = lesson.packet, lesson.example
    if packet is not None:
        yield from (packet.failing, packet.next_command, packet.branch, *packet.unverified, *packet.files)
        yield from packet.dead_ends
        yield from (text for check in packet.checks for text in (check.command, check.signature))
    else:
        yield lesson.text
    if example is not None:
        yield from (example.tool, *texts_in(example.arguments), " ".join(example.result.split()))


def _texts_to_do(lesson: Lesson) -> Iterator[str]:
    """The texts of a lesson that a model may run. File names are not among them."""
    if lesson.kind == "working_set":
        return
    if lesson.topic in _PERSON_TOPICS:  # `never git push --force` is worth telling
        yield ruinous_part(lesson.use)
        return
    yield from (lesson.use, lesson.recheck, lesson.difference, *lesson.steps)
    if lesson.packet is not None:
        yield from (lesson.packet.next_command, *(check.command for check in lesson.packet.checks))
    if lesson.example is not None:
        yield from texts_in(lesson.example.arguments)
    if not danger_reason(lesson.avoid) and lesson.packet is None:  # a warning names what it warns of
        yield lesson.text
