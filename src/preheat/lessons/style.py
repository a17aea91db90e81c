"""How the people of a project write to their agent, by the first implementation's rules. Knows nothing of calls."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.seen import Seen
from preheat.model.lesson import Evidence, Lesson, Scope, kept_evidence, lesson_id, support_of

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


class Written(msgspec.Struct, frozen=True, gc=False):
    """What people typed in one session, counted."""

    messages: int = 0
    characters: int = 0
    questions: int = 0
    commands: int = 0


class Styled(NamedTuple):
    """One session, as `learn_style` wants it."""

    session: str
    at: float | None
    written: Written


def written_in(seen: Seen) -> Written:
    """Counts what people typed."""
    texts = [message.text for message in seen.said()]
    return Written(
        len(texts),
        sum(map(len, texts)),
        sum("?" in text for text in texts),
        sum(text.startswith("/") for text in texts),
    )


def style_of(written: Written) -> str:
    """The style of what was typed; the first rule that holds decides."""
    if not written.messages:
        return "unknown"
    length = written.characters / written.messages
    if written.commands > 0.3 * written.messages:
        return "command_driven"
    if written.questions > 0.5 * written.messages:
        return "conversational"
    return "terse" if length < 50 else "detailed" if length > 200 else "balanced"


def learn_style(project: str, styled: Sequence[Styled]) -> list[Lesson]:
    """One small lesson; weak, because nothing shows yet that knowing it helps."""
    writing = [each for each in styled if each.written.messages]
    together = Written(
        sum(each.written.messages for each in writing),
        sum(each.written.characters for each in writing),
        sum(each.written.questions for each in writing),
        sum(each.written.commands for each in writing),
    )
    if together.messages < _FEW or len(writing) < 2:
        return []
    style, scope = style_of(together), Scope(project=project)
    evidence = [
        Evidence(each.session, None, each.at, style_of(each.written) != style, style_of(each.written))
        for each in writing
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
            support=support_of(evidence),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            half_life=HALF_LIFE,
            evidence=kept_evidence(evidence),
            status="weak",
            why="a style alone has not been shown to help",
        )
    ]
