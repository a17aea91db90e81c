"""Splits a session into episodes: each prompt of a person with the files, checks and closing words that followed it.

Knows no archive and no learner. What was taken back (a person went back in the conversation) is left out, and so is what was
copied from another session: it counts there.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from preheat.calls.files import Touch, find_touches
from preheat.calls.shell import command_form
from preheat.commands import command_text, understand
from preheat.model.analysis import CheckEnding, CheckRun, Episode, FileUse, FileUseKind, Rename
from preheat.model.outcome import FAILURES
from preheat.model.profile import CallRecord
from preheat.model.session import AssistantMessage, Event, Session, ToolCall, UserMessage, surviving_events
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.paths import make_paths_relative

__all__ = ["VERSION", "split_episodes"]

VERSION = 1
"""Of the rules: a session taken apart by older ones is taken apart again."""
_PROMPT, _CLOSING, _COMMAND = 600, 300, 200
"""Characters that are kept."""
_MOST_FILES, _MOST_SEQS, _MOST_CHECKS = 150, 8, 40
"""Of one episode; of one file in it; the last checks of it."""
_WORKED = frozenset(["ok", "empty"])

TouchesOf = Callable[[int, ToolCall], Sequence[Touch]]
"""The files that a call in a place named."""


class _MadeCall(NamedTuple):
    """A call that was made in an episode, with what came of it."""

    call: ToolCall
    record: CallRecord

    @property
    def worked(self) -> bool:
        return self.record.status in _WORKED

    @property
    def has_findings(self) -> bool:
        """It failed by telling bad news: a check that did its work."""
        return self.record.status in FAILURES and self.record.cause == "finding"


class _Stretch:
    """The events from a prompt to the next, while they are gathered."""

    def __init__(self, line: int, prompt: str, at: float | None) -> None:
        self.line = line
        self.prompt = prompt
        self.started_at = self.ended_at = at
        self.calls: list[_MadeCall] = []
        self.closing = ""
        self.copied = False
        """Calls of it, or of something after it, stand in another session."""

    def extend_to(self, at: float | None) -> None:
        """Take in the time of one more event."""
        if at is not None:
            self.started_at = at if self.started_at is None else self.started_at
            self.ended_at = at if self.ended_at is None else max(at, self.ended_at)


def split_episodes(
    session: Session,
    records: Sequence[CallRecord],
    root: str = "",
    copied: Collection[int] = (),
    touches_of: TouchesOf | None = None,
) -> tuple[Episode, ...]:
    """The episodes of a session, in their order. `records` has one of each call; `root` is the project's folder; `copied` are
    the places of calls that stand in another session too; `touches_of` may know already which files each call named."""

    def relate(text: str) -> str:
        return make_paths_relative(text, root, session.project)

    def touched(seq: int, call: ToolCall) -> Sequence[Touch]:
        return find_touches(call, relate)

    stretches = [each for each in _stretches(session, records, copied) if each.calls or not each.copied]
    return tuple(_episode(number, each, relate, touches_of or touched) for number, each in enumerate(stretches))


def _stretches(session: Session, records: Sequence[CallRecord], copied: Collection[int]) -> list[_Stretch]:
    places = {id(call): seq for seq, call in enumerate(event for event in session.events if type(event) is ToolCall)}
    found: list[_Stretch] = []
    task = ""
    for event in surviving_events(session):
        if isinstance(event, UserMessage):
            if event.origin == "human":
                found.append(_Stretch(event.line, event.text, event.at))
                continue
            if event.origin == "injected" and not task and session.relation == "subagent":
                task = event.text  # what it was delegated to do
        elif isinstance(event, ToolCall):
            seq = places[id(event)]
            stretch = _current(found, event, task)
            if seq in copied:
                for each in found:
                    each.copied = True
            else:
                stretch.calls.append(_MadeCall(event, records[seq]))
        elif isinstance(event, AssistantMessage) and event.text.strip():
            _current(found, event, task).closing = event.text
        if found:
            found[-1].extend_to(event.at)
    return found


def _current(found: list[_Stretch], event: Event, task: str) -> _Stretch:
    """The current stretch; a first one where there is no prompt yet."""
    if not found:
        found.append(_Stretch(event.line, task, event.at))
    return found[-1]


def _episode(number: int, stretch: _Stretch, relate: Callable[[str], str], touches_of: TouchesOf) -> Episode:
    files: dict[tuple[str, FileUseKind], list[int]] = {}
    renames: list[Rename] = []
    checks: list[CheckRun] = []
    for made in stretch.calls:
        if made.worked or made.has_findings:
            touched = touches_of(made.record.seq, made.call)
            for path, use in touched:
                seqs = files.setdefault((path, use), [])
                if len(seqs) < _MOST_SEQS:
                    seqs.append(made.record.seq)
            renames += _renames(made, touched)
        if made.call.kind == "shell":
            checks += _checks(made, relate)
    kept = list(files.items())[:_MOST_FILES]
    return Episode(
        number=number,
        line=stretch.line,
        prompt=_shorten(relate(stretch.prompt[: 8 * _PROMPT]), _PROMPT),
        started_at=stretch.started_at,
        ended_at=stretch.ended_at,
        files=tuple([FileUse(path, use, tuple(seqs)) for (path, use), seqs in kept]),
        renames=tuple(renames[:_MOST_FILES]),
        checks=tuple(checks[-_MOST_CHECKS:]),
        closing=_shorten(relate(stretch.closing[: 8 * _CLOSING]), _CLOSING),
        first_seq=stretch.calls[0].record.seq if stretch.calls else -1,
        calls=len(stretch.calls),
    )


def _renames(made: _MadeCall, touched: Sequence[Touch]) -> list[Rename]:
    """The rename by a call that moves one file only: with several files the pairs are unknown."""
    if made.call.kind != "shell" or not made.worked:
        return []
    removed = [touch.path for touch in touched if touch.how == "removed"]
    arrived = [touch.path for touch in touched if touch.how == "made"]
    moves = [each for each in understand(command_text(made.call.input)).commands if _moves(each.words)]
    if len(moves) != 1 or len(removed) != 1 or len(arrived) != 1:
        return []
    return [Rename(removed[0], arrived[0], made.record.seq)]


def _moves(words: tuple[str, ...]) -> bool:
    return words[:1] == ("mv",) or words[:2] == ("git", "mv")


def _checks(made: _MadeCall, relate: Callable[[str], str]) -> list[CheckRun]:
    text = command_text(made.call.input)
    understood = understand(text)
    if not understood.checks:
        return []
    ended: CheckEnding = "passed" if made.worked else "failed" if made.has_findings else "unclear"
    shown = relate(text[: 8 * _COMMAND])
    return [
        CheckRun(
            _shorten(command_form(text), _COMMAND),
            _shorten(shown, _COMMAND),
            understood.purpose,
            ended,
            made.record.seconds,
            made.record.seq,
        )
    ]


def _shorten(text: str, most: int) -> str:
    """A text on one line that any encoding can hold: half a surrogate pair is none."""
    return one_line(text, most).encode("utf-8", "replace").decode()
