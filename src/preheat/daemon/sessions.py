"""The running sessions: each a value that is a pure fold over the journal's entries, kept in memory and on disk.

Knows nothing of hooks or sockets. In memory are those that were heard of last; every one is in a file of its own, written a
moment after it changed. What a file does not have yet is in the journal.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b

import msgspec

from preheat.daemon.journal import Entry
from preheat.daemon.packet import Progress, noted
from preheat.daemon.place import live_folder
from preheat.files import write_whole
from preheat.live.advise import told
from preheat.live.fold import fold
from preheat.live.state import LiveState
from preheat.live.thresholds import DEFAULTS, Thresholds
from preheat.model.experiment import Assignment
from preheat.model.live import Advisory, Asked, Ended

MOST = 256
"""Sessions in memory."""
MOST_FILES = 2_000
MOST_DAYS = 14
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


def applied(
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


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Running).decode


class Sessions:
    """All of them, by agent and id."""

    def __init__(self, folder: str, most: int = MOST) -> None:
        self._folder = folder
        self._most = most
        self._held: OrderedDict[tuple[str, str], Running] = OrderedDict()
        self._changed: dict[tuple[str, str], None] = {}
        self.whole = True
        """No session had to leave the memory without being written."""

    def get(self, agent: str, session: str) -> Running:
        """A session as it is now; a new one if nothing is known of it."""
        key = (agent, session)
        found = self._held.get(key)
        if found is None:
            found = _load(_path(self._folder, key)) or Running(agent=agent, session=session)
            if (found.agent, found.session) != key:
                found = Running(agent=agent, session=session)
            self._held[key] = found
            self._make_room()
        else:
            self._held.move_to_end(key)
        return found

    def put(self, running: Running) -> None:
        """A session after an entry."""
        key = (running.agent, running.session)
        self._held[key] = running
        self._held.move_to_end(key)
        self._changed[key] = None

    def rebuild(self, entries: Iterable[Entry], thresholds: Thresholds) -> int:
        """Take in the entries that no file has yet; how many there were."""
        number = 0
        for entry in entries:
            running = self.get(entry.agent, entry.session)
            if entry.seq > running.seq:
                self.put(applied(running, entry, thresholds))
                number += 1
        return number

    def held(self) -> list[Running]:
        """Those in memory, the one that was heard of last at the end."""
        return list(self._held.values())

    def flush(self) -> Callable[[], None]:
        """What is to be written, as a job that another thread can do. It raises OSError; `unwritten` is called then."""
        changed = [self._held[key] for key in self._changed if key in self._held]
        self._changed.clear()
        files = [(_path(self._folder, (each.agent, each.session)), _encode(each)) for each in changed]

        def write() -> None:
            for path, data in files:
                write_whole(path, data)

        return write

    def unwritten(self) -> None:
        """Writing failed: all of them are to be written again."""
        self._changed.update(dict.fromkeys(self._held))

    def _make_room(self) -> None:
        while len(self._held) > self._most:
            key, running = self._held.popitem(last=False)
            if key in self._changed:
                del self._changed[key]
                try:
                    write_whole(_path(self._folder, key), _encode(running))
                except OSError:
                    self.whole = False  # the journal still has it; a full disk must not fill the memory

    def clean(self, now: float) -> None:
        """Remove the files of sessions that are long over, and the oldest where there are too many."""
        ages = []
        for name in _names(self._folder):
            path = os.path.join(self._folder, name)
            try:
                ages.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
        ages.sort(reverse=True)
        for place, (at, path) in enumerate(ages):
            if place >= MOST_FILES or now - at > MOST_DAYS * 86400:
                try:
                    os.unlink(path)
                except OSError:
                    continue


def running(folder: str | None = None, within: float = 6 * 3600, now: float | None = None) -> list[Running]:
    """The sessions that were heard of in the last hours and are not over, the newest first: for whoever watches."""
    now = time.time() if now is None else now
    place = os.path.join(live_folder(folder), "sessions")
    found = [_load(os.path.join(place, name)) for name in _names(place)]
    kept = [each for each in found if each and not each.own and not each.ended and abs(now - each.last_at) < within]
    return sorted(kept, key=lambda each: (-each.last_at, each.agent, each.session))


def _names(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(".state")]
    except OSError:
        return []


def _path(folder: str, key: tuple[str, str]) -> str:
    name = blake2b("\0".join(key).encode("utf-8", "replace"), digest_size=12).hexdigest()
    return os.path.join(folder, f"{name}.state")


def _load(path: str) -> Running | None:
    """What a file has; nothing if it is damaged or another version wrote it otherwise."""
    try:
        with open(path, "rb") as stream:
            return _decode(stream.read())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
