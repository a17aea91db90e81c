"""Turns a session into a shorter history that keeps what the agent learned in it. Knows no archive and no agent.

A strategy takes a session and gives a session with fewer events and shorter texts, in the same order. The caller renders it for a
model and counts tokens.
"""

from collections.abc import Callable, Sequence
from typing import Any

from preheat.compress.proficiency import count_kept, find_markers
from preheat.compress.strategies import HEADTAIL, MARKERS, MASK, NONE
from preheat.compress.view import Compressed, KeptCount, MarkerKind, Strategy, View, make_view, remaining_results
from preheat.model.profile import CallRecord
from preheat.model.session import Session

__all__ = ["NAMES", "STRATEGIES", "Compressed", "KeptCount", "MarkerKind", "Strategy", "compress", "compress_all"]

STRATEGIES: tuple[Strategy, ...] = (NONE, MASK, HEADTAIL, MARKERS)
"""From the one that keeps most text to the one that chooses most."""
NAMES = tuple(strategy.name for strategy in STRATEGIES)

Messages = list[dict[str, Any]]

_FRAME_TOKENS = 4
"""Tokens around each message and each call."""


def compress(
    session: Session,
    records: Sequence[CallRecord],
    strategy: str,
    *,
    render: Callable[[Session], Messages],
    estimate: Callable[[str], int],
    keep: int | None = None,
    references: Sequence[str] = (),
) -> Compressed:
    """A shorter history by one strategy. `keep` is how much of the end is kept unchanged, by the strategy's own measure;
    `references` are paths and addresses that the conversation refers to."""
    chosen = next(each for each in STRATEGIES if each.name == strategy)
    return _compress_with(make_view(session, records, references), (chosen,), render, estimate, keep)[0]


def compress_all(
    session: Session,
    records: Sequence[CallRecord],
    *,
    render: Callable[[Session], Messages],
    estimate: Callable[[str], int],
    keep: int | None = None,
    references: Sequence[str] = (),
) -> list[Compressed]:
    """The shorter histories by every strategy, for a comparison."""
    return _compress_with(make_view(session, records, references), STRATEGIES, render, estimate, keep)


def _compress_with(
    view: View,
    strategies: Sequence[Strategy],
    render: Callable[[Session], Messages],
    estimate: Callable[[str], int],
    keep: int | None,
) -> list[Compressed]:
    markers = find_markers(view)
    whole = render(view.session)
    before = _count_tokens(whole, estimate)
    found: list[Compressed] = []
    for strategy in strategies:
        number = strategy.keep if keep is None else keep
        shorter = strategy.shorten(view, number)
        messages = whole if shorter is view.session else render(shorter)
        after = before if messages is whole else _count_tokens(messages, estimate)
        if after > before:  # a few short messages: the omission lines would be longer
            shorter, messages, after = view.session, whole, before
        found.append(
            Compressed(
                strategy=strategy.name,
                keep=number,
                session=shorter,
                messages=messages,
                before=before,
                after=after,
                messages_before=len(whole),
                calls=tuple(sorted(remaining_results(view, shorter))),
                markers=count_kept(markers, view, shorter),
            )
        )
    return found


def _count_tokens(messages: Messages, estimate: Callable[[str], int]) -> int:
    """The rough number of tokens of messages: texts, calls, and a few for the frame of each."""
    total = 0
    for message in messages:
        total += _FRAME_TOKENS + estimate(message.get("content") or "")
        for call in message.get("tool_calls", ()):
            function = call["function"]
            total += _FRAME_TOKENS + estimate(function["name"]) + estimate(function["arguments"])
    return total
