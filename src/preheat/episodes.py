"""Splits a session into episodes: each prompt of a person with the files, checks and closing words that followed it.

Knows no archive and no learner. What a person undid by going back in the conversation is left out, and so is what was
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
from preheat.prompt_text import own_words
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.paths import make_paths_relative

__all__ = ["VERSION", "split_episodes"]

VERSION = 2
"""Version of the rules: a session that older ones split is split again."""
_PROMPT_LENGTH, _CLOSING_LENGTH, _COMMAND_LENGTH = 600, 300, 200
"""Characters of each text that are kept."""
_MOST_FILES, _MOST_SEQS, _MOST_CHECKS = 150, 8, 40
"""Files of an episode, calls of each of these files, and checks (the last ones) that are kept."""
_WORKED = frozenset(["ok", "empty"])

FindTouches = Callable[[int, ToolCall], Sequence[Touch]]
"""Finds the files that a call named; takes the number of the call in the session, and the call."""


class _JudgedCall(NamedTuple):
    """A call of an episode with its verdict."""

    call: ToolCall
    record: CallRecord

    @property
    def worked(self) -> bool:
        return self.record.status in _WORKED

    @property
    def reported_finding(self) -> bool:
        """Whether it failed because it reports a problem: a check that did its work."""
        return self.record.status in FAILURES and self.record.cause == "finding"


class _OpenEpisode:
    """An episode while its events are gathered."""

    def __init__(self, line: int, prompt: str, at: float | None) -> None:
        self.line = line
        self.prompt = prompt
        self.started_at = self.ended_at = at
        self.calls: list[_JudgedCall] = []
        self.closing = ""
        self.copied = False
        """Calls of it, or of an episode after it, were copied from another session."""

    def extend_to(self, at: float | None) -> None:
        """Include this time."""
        if at is not None:
            self.started_at = at if self.started_at is None else self.started_at
            self.ended_at = at if self.ended_at is None else max(at, self.ended_at)


def split_episodes(
    session: Session,
    records: Sequence[CallRecord],
    root: str = "",
    copied: Collection[int] = (),
    touches_of: FindTouches | None = None,
) -> tuple[Episode, ...]:
    """The episodes of a session, in their order.

    `records` has the verdict on each call; `root` is the project's folder; `copied` are the numbers of calls that were copied
    from another session; `touches_of` finds the files that a call named, where the caller knows them already."""

    def relate(text: str) -> str:
        return make_paths_relative(text, root, session.project)

    def find_in_call(seq: int, call: ToolCall) -> Sequence[Touch]:
        return find_touches(call, relate)

    episodes = [each for each in _split(session, records, copied) if each.calls or not each.copied]
    return tuple(
        _close_episode(number, each, relate, touches_of or find_in_call) for number, each in enumerate(episodes)
    )


def _split(session: Session, records: Sequence[CallRecord], copied: Collection[int]) -> list[_OpenEpisode]:
    places = {id(call): seq for seq, call in enumerate(event for event in session.events if type(event) is ToolCall)}
    episodes: list[_OpenEpisode] = []
    task = ""
    for event in surviving_events(session):
        if isinstance(event, UserMessage):
            if event.origin == "human":
                episodes.append(_OpenEpisode(event.line, event.text, event.at))
                continue
            if event.origin == "injected" and not task and session.relation == "subagent":
                task = event.text  # what it was delegated to do
        elif isinstance(event, ToolCall):
            seq = places[id(event)]
            episode = _current_episode(episodes, event, task)
            if seq in copied:
                for each in episodes:
                    each.copied = True
            else:
                episode.calls.append(_JudgedCall(event, records[seq]))
        elif isinstance(event, AssistantMessage) and event.text.strip():
            _current_episode(episodes, event, task).closing = event.text
        if episodes:
            episodes[-1].extend_to(event.at)
    return episodes


def _current_episode(episodes: list[_OpenEpisode], event: Event, task: str) -> _OpenEpisode:
    """The current episode; a first one where there is no prompt yet."""
    if not episodes:
        episodes.append(_OpenEpisode(event.line, task, event.at))
    return episodes[-1]


def _close_episode(
    number: int, episode: _OpenEpisode, relate: Callable[[str], str], touches_of: FindTouches
) -> Episode:
    files: dict[tuple[str, FileUseKind], list[int]] = {}
    renames: list[Rename] = []
    checks: list[CheckRun] = []
    for judged in episode.calls:
        if judged.worked or judged.reported_finding:
            touched = touches_of(judged.record.seq, judged.call)
            for path, use in touched:
                seqs = files.setdefault((path, use), [])
                if len(seqs) < _MOST_SEQS:
                    seqs.append(judged.record.seq)
            renames += _find_renames(judged, touched)
        if judged.call.kind == "shell":
            checks += _find_checks(judged, relate)
    kept = list(files.items())[:_MOST_FILES]
    return Episode(
        number=number,
        line=episode.line,
        prompt=_shorten(relate(own_words(episode.prompt)[: 8 * _PROMPT_LENGTH]), _PROMPT_LENGTH),
        started_at=episode.started_at,
        ended_at=episode.ended_at,
        files=tuple([FileUse(path, use, tuple(seqs)) for (path, use), seqs in kept]),
        renames=tuple(renames[:_MOST_FILES]),
        checks=tuple(checks[-_MOST_CHECKS:]),
        closing=_shorten(relate(episode.closing[: 8 * _CLOSING_LENGTH]), _CLOSING_LENGTH),
        first_seq=episode.calls[0].record.seq if episode.calls else -1,
        calls=len(episode.calls),
    )


def _find_renames(judged: _JudgedCall, touched: Sequence[Touch]) -> list[Rename]:
    """The rename by a call that moves one file only: with several files the pairs are unknown."""
    if judged.call.kind != "shell" or not judged.worked:
        return []
    removed = [touch.path for touch in touched if touch.how == "removed"]
    arrived = [touch.path for touch in touched if touch.how == "made"]
    moves = [each for each in understand(command_text(judged.call.input)).commands if _is_move(each.words)]
    if len(moves) != 1 or len(removed) != 1 or len(arrived) != 1:
        return []
    return [Rename(removed[0], arrived[0], judged.record.seq)]


def _is_move(words: tuple[str, ...]) -> bool:
    return words[:1] == ("mv",) or words[:2] == ("git", "mv")


def _find_checks(judged: _JudgedCall, relate: Callable[[str], str]) -> list[CheckRun]:
    text = command_text(judged.call.input)
    understood = understand(text)
    if not understood.checks:
        return []
    ended: CheckEnding = "passed" if judged.worked else "failed" if judged.reported_finding else "unclear"
    shown = relate(text[: 8 * _COMMAND_LENGTH])
    return [
        CheckRun(
            _shorten(command_form(text), _COMMAND_LENGTH),
            _shorten(shown, _COMMAND_LENGTH),
            understood.purpose,
            ended,
            judged.record.seconds,
            judged.record.seq,
        )
    ]


def _shorten(text: str, most: int) -> str:
    """A text on one line that every encoding can hold: half a surrogate pair becomes a question mark."""
    return one_line(text, most).encode("utf-8", "replace").decode()
