"""Finds what was asked twice: by the agent of the person, or by the person of the agent.

Knows nothing of what the words mean: two questions are nearly the same when they are made of nearly the same words.

An *ask* is
- a question in a call of an asking tool (a tool whose name says so: ask, question, clarify),
- the last sentence of an assistant's message, if it ends with a question mark and a person (or nobody) speaks next,
- a prompt that a person typed.
It is *re-asked* when an earlier ask of the same sort (question or prompt) in the session, or in the session that it
continues, shares at least 70 % of the words of both together. Asks of fewer than four words (`go on`, `why?`) are left
out: they are alike without being the same. What was taken back by a rewind was not asked.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from preheat.model.session import AssistantMessage, Compaction, Session, ToolCall, UserMessage, surviving_events

ALIKE = 0.7
FEWEST_WORDS = 4
_LONGEST = 4000
"""Characters of a prompt that are looked at: pasted logs say nothing about what is asked."""
_REMEMBERED = 400
"""Asks that a new one is held against, the latest: keeps a session of thousands of prompts quick."""
_WORD = re.compile(r"\w+")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ASKING = frozenset(["ask", "asks", "question", "questions", "clarify", "clarification"])
_WORKING = frozenset(["read", "edit", "write", "shell", "search", "web", "delegate"])
_SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|\n")
_CLOSING = " \t\r\n*_`)\"'»”"


class Ask(NamedTuple):
    """Something that was asked, and where."""

    sort: Literal["question", "prompt"]
    words: frozenset[str]
    seq: int
    """How many calls came before it."""
    era: int
    again: bool = False
    """It had been asked before."""


def find_asks(session: Session, earlier: Sequence[Ask] = ()) -> tuple[Ask, ...]:
    """What was asked in a session, in order; `earlier` is what was asked in the one that it continues."""
    before = list(earlier)[-_REMEMBERED:]
    found: list[Ask] = []
    for ask in _plain(session):
        again = any(ask.sort == other.sort and are_alike(ask.words, other.words) for other in before)
        ask = ask._replace(again=again)
        found.append(ask)
        before = [*before[1 - _REMEMBERED :], ask]
    return tuple(found)


def are_alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two asks are made of nearly the same words."""
    small, large = sorted((len(left), len(right)))
    if small < ALIKE * large:
        return False
    shared = len(left & right)
    return shared >= ALIKE * (small + large - shared)


def _plain(session: Session) -> Iterator[Ask]:
    kept = {id(event) for event in surviving_events(session)}
    seq = era = 0
    last_message: tuple[str, int, int] | None = None  # the assistant's last message, if no call followed
    for event in session.events:
        if isinstance(event, ToolCall):
            last_message = None
            if id(event) in kept and _asks(event):
                for text in _questions(event.input):
                    yield from _ask("question", text, seq, era)
            seq += 1
        elif id(event) not in kept:
            continue
        elif isinstance(event, AssistantMessage):
            last_message = (event.text, seq, era) if event.text.strip() else last_message
        elif isinstance(event, UserMessage) and event.origin == "human":
            if last_message is not None:
                yield from _ask("question", _last_question(last_message[0]), *last_message[1:])
            last_message = None
            yield from _ask("prompt", event.text[:_LONGEST], seq, era)
        elif isinstance(event, Compaction):
            era += 1
    if last_message is not None:
        yield from _ask("question", _last_question(last_message[0]), *last_message[1:])


def _ask(sort: Literal["question", "prompt"], text: str, seq: int, era: int) -> Iterator[Ask]:
    words = frozenset(_WORD.findall(text.lower()))
    if len(words) >= FEWEST_WORDS:
        yield Ask(sort, words, seq, era)


def _asks(call: ToolCall) -> bool:
    if call.kind in _WORKING:
        return False
    return not _ASKING.isdisjoint(word.lower() for word in _NAME_WORD.findall(call.tool[:200]))


def _questions(value: Any, depth: int = 3) -> Iterator[str]:
    """The questions in the arguments of an asking tool: texts under a name that begins with `question`, else any text."""
    if isinstance(value, dict):
        named = [inner for name, inner in value.items() if str(name).startswith("question")]
        for inner in named or ([value["text"]] if "text" in value else list(value.values())[:1]):
            if isinstance(inner, str):
                yield inner[:_LONGEST]
            elif depth:
                yield from _questions(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value[:20]:
            yield from ([inner[:_LONGEST]] if isinstance(inner, str) else _questions(inner, depth - 1))


def _last_question(text: str) -> str:
    """The last sentence of a message, if it asks."""
    end = text[-_LONGEST:].rstrip(_CLOSING)
    if not end.endswith("?"):
        return ""
    return _SENTENCE_END.split(end[:-1])[-1]
