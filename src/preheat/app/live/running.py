"""A running session as a value: how it goes on with every entry of the daemon's journal, and the files that hold them.

A pure fold over entries, the same live and when they are read again after a crash. Knows nothing of hooks or sockets.
"""

import os
import time
from hashlib import blake2b

import msgspec

from preheat.live.advise import told
from preheat.live.fold import fold
from preheat.live.progress import Progress, noted
from preheat.live.state import LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.experiment import Assignment
from preheat.model.journal import Entry
from preheat.model.live import Advisory, Asked, Ended
from preheat.running.place import live_folder

__all__ = ["LiveState", "Running", "apply_entry", "encode", "file_of", "files_in", "load", "running_sessions"]

_RECENT = 32
_CALLS = 128


class Running(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session as the daemon knows it."""

    agent: str
    session: str
    """The host's own id of it."""
    seq: int = 0
    """The last entry that is in it."""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    began_at: float = 0.0
    last_at: float = 0.0
    state: LiveState = LiveState()
    advisory: Advisory | None = None
    """The last one that was told, with its time."""
    advised_at: float = 0.0
    context: str = ""
    """The id of the last context that it was given."""
    progress: Progress = Progress()
    words: tuple[str, ...] = ()
    """Of the last prompt: what the session is about."""
    ended: bool = False
    held: bool = False
    """A stop was held up since the person last said something."""
    own: bool = False
    """Preheat itself started it: it is left alone."""
    assigned: Assignment | None = None
    """Its arm, as long as it lasts; None: no lot was drawn for it."""
    keys: tuple[str, ...] = ()
    """Of the last hooks, to know one that fires twice."""
    calls: tuple[str, ...] = ()
    """Ids of the last calls that a hook told of."""


def apply_entry(
    running: Running, entry: Entry, thresholds: Thresholds = DEFAULTS, folded: LiveState | None = None
) -> Running:
    """The session after an entry of the journal. The same live and when it is read again after a crash; whoever has `folded`
    the entry's events and its advisory already need not have it done twice."""
    state = running.state if folded is None else folded
    words = running.words
    held = running.held
    progress = running.progress
    ended = running.ended and not entry.events
    for event in entry.events:
        state = fold(state, event, thresholds) if folded is None else state
        progress = noted(progress, event)
        ended = isinstance(event, Ended)
        if isinstance(event, Asked):
            words, held = event.words, False
    counted = (
        entry.advisory or entry.withheld
    )  # what was withheld counts as said: a lot must not bring it back a turn later
    if counted is not None and folded is None:
        state = told(state, counted)
    assigned = running.assigned or next((each for each in entry.lots if isinstance(each, Assignment)), None)
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
        held=held or entry.held,
        own=running.own or entry.own,
        assigned=assigned,
        keys=(*running.keys, entry.key)[-_RECENT:] if entry.key else running.keys,
        calls=(*running.calls, entry.call_id)[-_CALLS:] if entry.call_id else running.calls,
    )


# Their files.
encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Running).decode


def running_sessions(folder: str | None = None, within: float = 6 * 3600, now: float | None = None) -> list[Running]:
    """The sessions that were heard of in the last hours and are not over, the newest first: for whoever watches."""
    now = time.time() if now is None else now
    place = os.path.join(live_folder(folder), "sessions")
    found = [load(path) for path in files_in(place)]
    kept = [each for each in found if each and not each.own and not each.ended and abs(now - each.last_at) < within]
    return sorted(kept, key=lambda each: (-each.last_at, each.agent, each.session))


def files_in(folder: str) -> list[str]:
    """The files of sessions in a folder; none if there is no such folder."""
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".state")]
    except OSError:
        return []


def file_of(folder: str, key: tuple[str, str]) -> str:
    """The file of one session, by its agent and id."""
    name = blake2b("\0".join(key).encode("utf-8", "replace"), digest_size=12).hexdigest()
    return os.path.join(folder, f"{name}.state")


def load(path: str) -> Running | None:
    """What a file has; nothing if it is damaged or another version wrote it otherwise."""
    try:
        with open(path, "rb") as stream:
            return _decode(stream.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
