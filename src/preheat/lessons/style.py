"""How the people of a project write to their agent, by the first implementation's rules. Knows nothing of calls."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.seen import JudgedSession
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence

HALF_LIFE = 120.0
_FEW = 10
"""With fewer messages the style is unknown."""
_MEANS = {
    "command_driven": "mostly with slash commands",
    "conversational": "mostly in questions",
    "terse": "in few words",
    "detailed": "in detail",
    "balanced": "in a few sentences",
}


class WritingCounts(msgspec.Struct, frozen=True, gc=False):
    """What people typed in one session, counted."""

    messages: int = 0
    characters: int = 0
    questions: int = 0
    commands: int = 0


class SessionWriting(NamedTuple):
    """One session, as `learn_style` wants it."""

    session: str
    at: float | None
    counts: WritingCounts


def count_writing(seen: JudgedSession) -> WritingCounts:
    """Counts what people typed."""
    texts = [message.text for message in seen.human_messages()]
    return WritingCounts(
        len(texts),
        sum(map(len, texts)),
        sum("?" in text for text in texts),
        sum(text.startswith("/") for text in texts),
    )


def style_of(counts: WritingCounts) -> str:
    """The style of what was typed; the first rule that holds decides."""
    if not counts.messages:
        return "unknown"
    length = counts.characters / counts.messages
    if counts.commands > 0.3 * counts.messages:
        return "command_driven"
    if counts.questions > 0.5 * counts.messages:
        return "conversational"
    return "terse" if length < 50 else "detailed" if length > 200 else "balanced"


def learn_style(project: str, sessions: Sequence[SessionWriting]) -> list[Lesson]:
    """One small lesson; weak, because nothing shows yet that knowing it helps."""
    writing = [each for each in sessions if each.counts.messages]
    together = WritingCounts(
        sum(each.counts.messages for each in writing),
        sum(each.counts.characters for each in writing),
        sum(each.counts.questions for each in writing),
        sum(each.counts.commands for each in writing),
    )
    if together.messages < _FEW or len(writing) < 2:
        return []
    style, scope = style_of(together), Scope(project=project)
    evidence = [
        Evidence(each.session, None, each.at, style_of(each.counts) != style, style_of(each.counts)) for each in writing
    ]
    times = [each.at for each in writing if each.at is not None]
    return [
        Lesson(
            id=lesson_id("convention", scope, "style"),
            kind="convention",
            scope=scope,
            topic="style",
            text=f"People here ask {_MEANS[style]} (style `{style}`: {together.messages} messages of"
            f" {together.characters // together.messages} characters on average).",
            support=count_support(evidence),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            half_life=HALF_LIFE,
            evidence=select_evidence(evidence),
            status="weak",
            why="a style alone has not been shown to help",
        )
    ]
