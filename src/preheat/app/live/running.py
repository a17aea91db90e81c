"""A running session as a value, folded from the entries of the daemon's journal; and the files that store such values.

The fold is pure: it gives the same live and after a crash. Knows nothing of hooks or sockets.
"""

import os
import time
from collections.abc import Sequence
from hashlib import blake2b

import msgspec

from preheat.answers.facts import update_facts
from preheat.answers.values import SessionFacts
from preheat.daemon_client import live_folder
from preheat.facts.asking import goes_on
from preheat.files import read_file
from preheat.live.advice import record_advice
from preheat.live.progress import Progress, update_progress
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import LiveState, fold
from preheat.model.experiment import Assignment
from preheat.model.live import Advisory, CallEvent, EndEvent, JournalEntry, LiveEvent, PromptEvent
from preheat.model.outcome import FAILURES
from preheat.model.receipt import Receipt
from preheat.receipts.fold import update_receipt

__all__ = [
    "FACT",
    "LiveState",
    "RunningSession",
    "apply_entry",
    "encode_session",
    "load_ended_sessions",
    "load_running_sessions",
    "load_session",
    "session_file",
    "session_files",
    "undelivered_after",
]

FACT = "lesson:"
"""Before the id of a fact's lesson, among what was named with a prompt."""
_KEYS_KEPT = 32
_CALLS_KEPT = 128
_FILES_KEPT = 200


class RunningSession(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    rename={"by_preheat": "own", "stop_held": "held", "event_keys": "keys"},
):
    """A session as the daemon knows it."""

    agent: str
    session: str
    """Its id, as the agent gives it."""
    seq: int = 0
    """The number of the last entry that was folded into it."""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    began_at: float = 0.0
    last_at: float = 0.0
    state: LiveState = LiveState()
    advisory: Advisory | None = None
    """The last advisory that was sent; its time is `advised_at`."""
    advised_at: float = 0.0
    undelivered: Advisory | None = None
    """An advisory that could not be given when it came up, and waits for an event that can carry it."""
    context: str = ""
    """The id of the last context that was handed out to it."""
    context_due: bool = False
    """Whether its start got no answer, or a compaction took its context: it comes with the next event that can carry it."""
    was_compacted: bool = False
    """Whether the context is due because of a compaction: then it says where the work stands, too."""
    progress: Progress = Progress()
    facts: SessionFacts = SessionFacts()
    """What it did with files."""
    held_calls: tuple[str, ...] = ()
    """Hashes of calls that were held once."""
    words: tuple[str, ...] = ()
    """The words of the last prompt that says more than that the work goes on."""
    ended: bool = False
    stop_held: bool = False
    """Whether a stop was held since the last prompt."""
    by_preheat: bool = False
    """Whether Preheat itself started it: then it gets nothing."""
    assigned: Assignment | None = None
    """Its assignment; None if it was not assigned."""
    event_keys: tuple[str, ...] = ()
    """Keys of the last hook events, to recognise one that is sent twice."""
    calls: tuple[str, ...] = ()
    """Ids of the last calls in hook events."""
    oriented: tuple[str, ...] = ()
    """Files that were named with its prompts."""
    told: tuple[str, ...] = ()
    """The ids of the lessons that it was given with its context."""
    opened: tuple[str, ...] = ()
    """The last files that its calls touched, relative to the project."""
    edited: tuple[str, ...] = ()
    """The last files that its calls changed."""
    receipt: Receipt = Receipt()
    """What it was told, what came of it, and what that cost."""

    @property
    def told_lessons(self) -> frozenset[str]:
        """The ids of the lessons that it was given, with its context or with a prompt."""
        return frozenset((*self.told, *(each.removeprefix(FACT) for each in self.oriented if each.startswith(FACT))))


def apply_entry(
    running: RunningSession, entry: JournalEntry, thresholds: Thresholds = DEFAULTS, folded: LiveState | None = None
) -> RunningSession:
    """The session after an entry of the journal. `folded` is the state after the entry, if it is already known."""
    state = running.state if folded is None else folded
    words = running.words
    held = running.stop_held
    progress, facts = running.progress, running.facts
    ended = running.ended and not entry.events
    opened, edited = running.opened, running.edited
    for event in entry.events:
        state = fold(state, event, thresholds) if folded is None else state
        progress = update_progress(progress, event)
        facts = update_facts(facts, event)
        ended = isinstance(event, EndEvent)
        if isinstance(event, PromptEvent) and words and (not event.words or goes_on(" ".join(event.words))):
            held = False  # it asks for what the one before asked
        elif isinstance(event, PromptEvent):
            words, held = event.words, False
        elif isinstance(event, CallEvent) and event.files:
            opened, edited = _keep_last(opened, event.files), _keep_last(edited, event.edited)
    # A withheld advisory counts as sent: it must not come again a turn later.
    counted = entry.advisory or entry.withheld
    undelivered = entry.undelivered or (None if counted is not None else undelivered_after(running, entry.events))
    is_due = running.context_due if entry.context_due is None else entry.context_due
    if counted is not None and folded is None:
        state = record_advice(state, counted)
    assigned = running.assigned or next((each for each in entry.assignments if isinstance(each, Assignment)), None)
    return msgspec.structs.replace(
        running,
        seq=entry.seq,
        cwd=entry.cwd or running.cwd,
        transcript=entry.transcript or running.transcript,
        model=entry.model or running.model,
        began_at=running.began_at or entry.at,
        last_at=entry.at,
        state=state,
        advisory=entry.advisory or running.advisory,
        advised_at=entry.at if entry.advisory else running.advised_at,
        context=entry.context or running.context,
        undelivered=undelivered,
        context_due=is_due,
        was_compacted=is_due and (running.was_compacted or entry.hook == "before_compaction"),
        progress=progress,
        facts=facts,
        held_calls=(*running.held_calls, entry.held_call)[-_CALLS_KEPT:] if entry.held_call else running.held_calls,
        words=words,
        ended=ended,
        stop_held=held or entry.held,
        by_preheat=running.by_preheat or entry.own,
        assigned=assigned,
        event_keys=(*running.event_keys, entry.key)[-_KEYS_KEPT:] if entry.key else running.event_keys,
        calls=(*running.calls, entry.call_id)[-_CALLS_KEPT:] if entry.call_id else running.calls,
        oriented=_keep_last(running.oriented, entry.orientation),
        told=_keep_last(running.told, entry.told),
        opened=opened,
        edited=edited,
        receipt=update_receipt(running.receipt, entry),
    )


def undelivered_after(running: RunningSession, events: Sequence[LiveEvent]) -> Advisory | None:
    """The advisory that still waits after some events: none on a mistake any more when the program that failed has worked."""
    waiting = running.undelivered
    if waiting is None or waiting.signal != "mistake":
        return waiting
    program = running.state.mistake.program
    is_solved = any(
        isinstance(event, CallEvent) and event.status not in FAILURES and event.form.split(" ")[0] == program
        for event in events
    )
    return None if is_solved else waiting


def _keep_last(known: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    """These and the new ones, each once, the last ones of them."""
    return tuple(dict.fromkeys((*known, *more)))[-_FILES_KEPT:] if more else known


# Files.
encode_session = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(RunningSession).decode


def load_running_sessions(
    folder: str | None = None, within: float = 6 * 3600, now: float | None = None
) -> list[RunningSession]:
    """The sessions that had an event in the last hours and are not over, the newest first."""
    now = time.time() if now is None else now
    place = os.path.join(live_folder(folder), "sessions")
    found = [load_session(path) for path in session_files(place)]
    kept = [
        each for each in found if each and not each.by_preheat and not each.ended and abs(now - each.last_at) < within
    ]
    return sorted(kept, key=lambda each: (-each.last_at, each.agent, each.session))


def load_ended_sessions(folder: str | None = None) -> set[str]:
    """The keys (`agent:id`) of the sessions whose agent said that they are over, as far as the daemon still knows them."""
    place = os.path.join(live_folder(folder), "sessions")
    found = [load_session(path) for path in session_files(place)]
    return {f"{each.agent}:{each.session}" for each in found if each is not None and each.ended}


def session_files(folder: str) -> list[str]:
    """The paths of all session files in a folder; none if there is no such folder."""
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".state")]
    except OSError:
        return []


def session_file(folder: str, key: tuple[str, str]) -> str:
    """The path of one session's file, by agent and id."""
    name = blake2b("\0".join(key).encode("utf-8", "replace"), digest_size=12).hexdigest()
    return os.path.join(folder, f"{name}.state")


def load_session(path: str) -> RunningSession | None:
    """The session in a file; None if it is damaged or in another version's format."""
    try:
        return _decode(read_file(path))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
