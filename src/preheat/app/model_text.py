"""Texts for a model: their tokens, the frame that marks text from sessions as data, and values whose fields are slots.

For the surfaces that answer models; knows none of them.
"""

from typing import Any

import msgspec

from preheat.model.lesson import Lesson
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.messages import describe_origin, format_block
from preheat.provisioning.tokens import estimate_tokens as estimate_tokens
from preheat.safe_text.cleanup import make_harmless, make_harmless_line, map_texts, strip_invisible
from preheat.safe_text.fields import FIELDS, OURS, PATHS, Kinds, fit_fields, fit_quotes, fit_text

__all__ = [
    "FIELDS",
    "OURS",
    "PATHS",
    "Kinds",
    "describe_lesson",
    "describe_source",
    "estimate_tokens",
    "fit_fields",
    "fit_lesson",
    "fit_packet",
    "fit_quotes",
    "fit_text",
    "frame_text",
    "make_harmless",
    "make_harmless_line",
    "map_texts",
    "strip_invisible",
]

_RECORDED_FIELDS = ("evidence", "example", "why")
"""Fields of a lesson that hold what somebody said or a tool printed."""


def describe_source(one_project: bool) -> str:
    """The sentence before text from sessions that says what it is: data, not instructions."""
    return describe_origin(0, one_project)


def frame_text(identity: str, text: str) -> str:
    """A text from one session of a project, in the block by which Preheat recognises its own texts."""
    return format_block(identity, "", 1, True, [text])


def fit_lesson(lesson: Lesson, approved: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A lesson as a value for a model: its text as it is handed out, its fields fitted, without what it cites."""
    whole: dict[str, Any] = msgspec.to_builtins(lesson)
    packet = whole.pop("packet", None)
    for name in ("text", *_RECORDED_FIELDS):
        whole.pop(name, None)
    fitted: dict[str, Any] = fit_fields(whole)
    found = {"id": fitted.pop("id"), "text": describe_lesson(lesson, approved), **fitted}
    cited = [(each.session, each.seq, each.against) for each in lesson.evidence]
    found["evidence"] = [
        {"session": fit_text(session, "session"), "seq": seq, "against": against} for session, seq, against in cited
    ]
    return found | ({"packet": fit_packet(packet)} if packet else {})


def fit_packet(packet: dict[str, Any]) -> dict[str, Any]:
    """A resume packet as a value for a model, without what was asked and the lines on what was given up."""
    found: dict[str, Any] = fit_fields(
        {name: each for name, each in packet.items() if name not in ("goal", "dead_ends")}
    )
    return found
