"""Adds the records of one session up to its profile, with how the person writes and which places the texts refer to.

Knows nothing of how calls are judged or traced. Where there is too little to go on, a measure is None.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from preheat.model.outcome import CAUSES, FAILURES, JUDGED, RUNGS, STATUSES, Outcome
from preheat.model.profile import CallRecord, Rate, SessionProfile, ToolType, ToolUse, UserStyle, WritingStyle
from preheat.model.session import (
    CONTEXT_WINDOW,
    AssistantMessage,
    Compaction,
    Other,
    Session,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    UserMessage,
)
from preheat.statistics.shares import fit_trend, rate_of


# One pass over a session's events
class Conversation:
    """A session without its calls: counted as the archive counts."""

    def __init__(self, session: Session) -> None:
        self.prompts: list[str] = []
        """What a person typed."""
        self.texts: list[str] = []
        """What a person typed and the assistant said, in order."""
        self.context_window: int | None = None
        self.compactions = 0
        texts = self.texts
        calls = before = 0
        asked: set[str | int] = set()
        used: dict[str, Usage] = {}
        for event in session.events:
            if isinstance(event, ToolCall):
                calls += 1
                asked.add(event.response or event.line)
            elif isinstance(event, ToolResult):
                calls += 1
            elif isinstance(event, AssistantMessage):
                if event.text:
                    texts.append(event.text)
                if event.usage is not None:
                    used[event.response or f"line {event.line}"] = event.usage
            elif isinstance(event, UserMessage):
                if event.origin == "human":
                    self.prompts.append(event.text)
                    texts.append(event.text)
            elif isinstance(event, Compaction):
                self.compactions += 1
                before = max(before, event.tokens_before or 0)
            elif isinstance(event, Other) and event.name == CONTEXT_WINDOW and type(event.raw) is int:
                self.context_window = event.raw
        self.messages = calls + len(texts)
        self.seconds = _duration(session)
        inputs = [each.input + each.cache_read + each.cache_write for each in used.values()]
        total = sum(inputs) + sum([each.output for each in used.values()])
        self.tokens = total or (session.reported.total if session.reported else 0)
        whole = 2 * len(used) < len(asked)  # tokens are recorded for many responses together, not for each
        self.context_peak = max(0 if whole else max(inputs, default=0), before) or None
        """The most tokens that stood before the model at once, by its responses or by what a compaction said it replaced."""


def _duration(session: Session) -> float | None:
    """From the first event to the last; the heading knows, where the reader filled it in."""
    start, end = session.started_at, session.ended_at
    if start is None or end is None:
        times = [event.at for event in session.events if event.at is not None]
        start, end = (min(times), max(times)) if times else (None, None)
    return None if start is None or end is None else max(0.0, end - start)


# How a person writes to an agent, by the first implementation's rules
def user_style(messages: Sequence[str]) -> UserStyle:
    """The style of what a person typed; the first rule that holds decides."""
    total = len(messages)
    if not total:
        return UserStyle(0, 0.0, 0.0, 0.0, "unknown")
    length = sum(map(len, messages)) / total
    questions = sum("?" in text for text in messages) / total
    commands = sum(text.startswith("/") for text in messages) / total
    style: WritingStyle = "balanced"
    if commands > 0.3:
        style = "command_driven"
    elif questions > 0.5:
        style = "conversational"
    elif length < 50:
        style = "terse"
    elif length > 200:
        style = "detailed"
    return UserStyle(total, length, questions, commands, style)


# What people and an assistant refer to in a conversation
MOST = 20
_LONGEST = 200
_LONGEST_BLOCK = 100
_BREAKS = r"\s\"'`<>()\[\]{}|*,;"
_BEFORE = re.compile(f"[^{_BREAKS}/=]+")
_AFTER = re.compile(f"[^{_BREAKS}]+")
_CLOSINGS = ".:!?…"
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_PLACE = re.compile(r"(?::\d+(?:[:-]\d+)*|#L?\d[\w-]*)$")


def find_context_markers(texts: Iterable[str], project: str = "") -> tuple[str, ...]:
    """Paths, addresses and code blocks, the most frequent first and then the first seen, at most twenty. Paths inside the
    project begin there."""
    inside = project.rstrip("/") + "/" if len(project) > 1 else ""
    words: list[str] = []
    blocks: list[str] = []
    for text in texts:
        if "/" in text:
            _places(text, words)
        if "```" in text:
            _blocks(text, blocks)
    if not words and not blocks:
        return ()
    counts: Counter[str] = Counter()
    for word, number in Counter(words).items():  # each word is looked at once
        marker = _marker(word, inside)
        if marker:
            counts[marker] += number
    counts.update(blocks)
    return tuple(" ".join(marker.split()) for marker, _ in counts.most_common(MOST))


def _places(text: str, words: list[str]) -> None:
    """The words with a slash."""
    at = text.find("/")
    while at >= 0:
        before = _BEFORE.match(text[at - _LONGEST if at > _LONGEST else 0 : at][::-1])
        end = _AFTER.match(text, at).end()  # type: ignore[union-attr] # the slash itself at least
        if end - at > 1:
            words.append(text[at - before.end() if before else at : end])
        at = text.find("/", end)


def _marker(word: str, inside: str) -> str:
    """The word as a marker; empty where it is none (`and/or`, `1/2`, a command)."""
    word = word.rstrip(_CLOSINGS)
    if "//" in word:
        return word if word.startswith(("https://", "http://")) and len(word) > 8 else ""
    word = _PLACE.sub("", word)
    if inside and word.startswith(inside):
        return word[len(inside) :]
    if word.startswith((".", "/", "~")):
        return word if word.count("/") > word.startswith("/") else ""
    return word if "/" in word and _ENDING.search(word) else ""


def _blocks(text: str, found: list[str]) -> None:
    """The fence of each block, with its language, and the first line in it."""
    at = text.find("```")
    while at >= 0:
        close = text.find("```", at + 3)
        line = text.find("\n", at, close) + 1
        end = text.find("\n", line, close)
        if line and end > line:
            found.append(text[at : min(end, at + _LONGEST_BLOCK)])
        at = text.find("```", close + 3) if close >= 0 else -1


# The profile
FEWEST_FOR_FIFTHS = 5
SHORTEST_SCORED = 10
"""Messages; the seeds give a shorter session the score 0."""
FULL_LENGTH = 100
"""Messages from which on length adds nothing to the seeds' score."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RUNS_CODE = frozenset(["code", "repl", "ipython", "jupyter", "interpreter"])
_TYPES: dict[ToolKind, ToolType] = {
    "shell": "terminal",
    "edit": "file",
    "write": "file",
    "read": "file",
    "search": "research",
    "web": "research",
    "plan": "meta",
    "delegate": "meta",
    "other": "general",
}
_ORDER: tuple[ToolType, ...] = ("terminal", "code", "file", "research", "meta", "general")


class _Tally:
    """The calls of a session counted once, by what they are and what came of them: all that the sums need."""

    def __init__(self, counted: Sequence[CallRecord]) -> None:
        self.statuses: dict[str, int] = dict.fromkeys(STATUSES, 0)
        self.rungs: dict[str, int] = dict.fromkeys(RUNGS, 0)
        self.types = dict.fromkeys(_ORDER, 0)
        self._tools: dict[str, list[int]] = {}
        self.repeated = self.reads = self.reread = 0
        alike = Counter(
            [
                (each.tool, each.kind, each.activity, each.status, each.rung, each.cause, each.repeated, each.reread)
                for each in counted
            ]
        )
        for (tool, kind, activity, status, rung, cause, repeated, reread), number in alike.items():
            if repeated:
                self.repeated += number
            if kind == "read" or activity == "shell:read":
                self.reads += number
                self.reread += number if reread else 0
            self.statuses[status] += number
            self.rungs[rung] += number
            self.types[_type(tool, kind)] += number
            numbers = self._tools.setdefault(tool, [0, 0, 0, 0])
            numbers[0] += number
            if status in JUDGED:
                numbers[1] += number
            if status in FAILURES:
                numbers[2] += number
                numbers[3] += number if cause == "mistake" else 0

    @property
    def tools(self) -> dict[str, ToolUse]:
        """The most used first."""
        ordered = sorted(self._tools.items(), key=lambda item: (-item[1][0], item[0]))
        return {
            name: ToolUse(calls, rate_of(failed, judged), rate_of(mistakes, judged))
            for name, (calls, judged, failed, mistakes) in ordered
        }

    @property
    def dominant(self) -> ToolType:
        """What most calls are; of two with as many, the one that stands first in the order."""
        return max(_ORDER, key=self.types.__getitem__) if any(self.types.values()) else "general"


def profile_session(session: Session, outcomes: Sequence[Outcome], records: Sequence[CallRecord]) -> SessionProfile:
    """The measures of a session; `records` are its traced calls, and hold everything that `outcomes` says."""
    conversation = Conversation(session)
    counted = [record for record in records if not record.bookkeeping]
    judged = [record for record in counted if record.status in JUDGED]
    places = [place for place, record in enumerate(judged) if record.status in FAILURES]
    failures = [judged[place] for place in places]
    tally = _Tally(counted)
    errors = rate_of(len(failures), len(judged))
    early, late = _fifths(places, len(judged))
    slope = fit_trend(places, len(judged))
    recovered = [record.recovered_in for record in failures if record.recovered_in is not None]
    return SessionProfile(
        agent=session.agent,
        session=session.id,
        model=session.model,
        project=session.project,
        messages=conversation.messages,
        prompts=len(conversation.prompts),
        calls=len(counted),
        bookkeeping_calls=len(records) - len(counted),
        statuses=_nonzero(tally.statuses),
        causes=_causes(failures),
        rungs=_nonzero(tally.rungs),
        errors=errors,
        mistakes=rate_of(sum([record.cause == "mistake" for record in failures]), len(judged)),
        tools=tally.tools,
        early=early,
        late=late,
        proficiency_gain=None if late.value is None or early.value is None else late.value - early.value,
        slope=slope.slope if slope else None,
        slope_low=slope.low if slope else None,
        slope_high=slope.high if slope else None,
        recovery=rate_of(len(recovered), len(failures)),
        recovery_calls=sum(recovered) / len(recovered) if recovered else None,
        repeats=rate_of(tally.repeated, len(counted)),
        repeated_failures=rate_of(_seen_before(failures), len(failures)),
        rereads=rate_of(tally.reread, tally.reads),
        lost_seconds=sum([record.lost_seconds for record in failures]),
        lost_tokens=sum([record.lost_tokens for record in failures]),
        seconds=conversation.seconds,
        tokens=conversation.tokens,
        context_peak=conversation.context_peak,
        context_window=conversation.context_window,
        compactions=conversation.compactions,
        user=user_style(conversation.prompts),
        dominant_tool_type=tally.dominant,
        context_markers=find_context_markers(conversation.texts, session.project),
        proficiency=_proficiency(errors, conversation.messages),
    )


def _nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts above zero, in the order of the model."""
    return {name: number for name, number in counts.items() if number}


def _causes(failures: Sequence[CallRecord]) -> dict[str, int]:
    counts: dict[str, int] = dict.fromkeys(CAUSES, 0)
    for record in failures:
        counts[record.cause or "unknown"] += 1
    return _nonzero(counts)


def _fifths(places: Sequence[int], total: int) -> tuple[Rate, Rate]:
    """Errors in the first and in the last fifth of the judged calls; two empty rates where there are too few."""
    fifth = total // 5 if total >= FEWEST_FOR_FIFTHS else 0
    return (
        rate_of(sum(place < fifth for place in places), fifth),
        rate_of(sum(place >= total - fifth for place in places), fifth),
    )


def _seen_before(failures: Sequence[CallRecord]) -> int:
    """Failures with a signature that an earlier one had."""
    signatures = [record.signature for record in failures if record.signature]
    return len(signatures) - len(set(signatures))


@lru_cache(4096)
def _type(tool: str, kind: ToolKind) -> ToolType:
    if kind in ("shell", "other") and not _RUNS_CODE.isdisjoint(word.lower() for word in _WORDS.findall(tool[:200])):
        return "code"
    return _TYPES[kind]


def _proficiency(errors: Rate, messages: int) -> float:
    """The seeds' score. Calls that nobody could judge show nothing, so without any the first part is 0."""
    if messages < SHORTEST_SCORED:
        return 0.0
    success = 0.0 if errors.value is None else 1.0 - errors.value
    return 0.7 * success + 0.3 * min(1.0, messages / FULL_LENGTH)
