"""A running session as a value, folded from the entries of the daemon's journal; and the files that store such values.

The fold is pure: it gives the same live and after a crash. Knows nothing of hooks or sockets.
"""

import os
import time
from hashlib import blake2b

import msgspec

from preheat.daemon_client import live_folder
from preheat.live.advice import record_advice
from preheat.live.progress import Progress, update_progress
from preheat.live.signal import DEFAULTS, Thresholds
from preheat.live.state import LiveState, fold
from preheat.model.experiment import Assignment
from preheat.model.live import Advisory, EndEvent, JournalEntry, PromptEvent

__all__ = [
    "LiveState",
    "RunningSession",
    "apply_entry",
    "encode_session",
    "load_running_sessions",
    "load_session",
    "session_file",
    "session_files",
]

_KEYS_KEPT = 32
_CALLS_KEPT = 128


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
    context: str = ""
    """The id of the last context that was handed out to it."""
    progress: Progress = Progress()
    words: tuple[str, ...] = ()
    """The words of the last prompt."""
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


def apply_entry(
    running: RunningSession, entry: JournalEntry, thresholds: Thresholds = DEFAULTS, folded: LiveState | None = None
) -> RunningSession:
    """The session after an entry of the journal. `folded` is the state after the entry, if it is already known."""
    state = running.state if folded is None else folded
    words = running.words
    held = running.stop_held
    progress = running.progress
    ended = running.ended and not entry.events
    for event in entry.events:
        state = fold(state, event, thresholds) if folded is None else state
        progress = update_progress(progress, event)
        ended = isinstance(event, EndEvent)
        if isinstance(event, PromptEvent):
            words, held = event.words, False
    # A withheld advisory counts as sent: it must not come again a turn later.
    counted = entry.advisory or entry.withheld
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
        progress=progress,
        words=words,
        ended=ended,
        stop_held=held or entry.held,
        by_preheat=running.by_preheat or entry.own,
        assigned=assigned,
        event_keys=(*running.event_keys, entry.key)[-_KEYS_KEPT:] if entry.key else running.event_keys,
        calls=(*running.calls, entry.call_id)[-_CALLS_KEPT:] if entry.call_id else running.calls,
    )


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
        with open(path, "rb") as stream:
            return _decode(stream.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
