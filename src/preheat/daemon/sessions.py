"""The running sessions of a daemon: the most recent in memory, each in a file of its own.

A file is written shortly after its session changed; until then the change is in the journal. Knows nothing of hooks or sockets,
nor of how an entry changes a session.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from preheat.app.live.running import RunningSession, encode_session, load_session, session_file, session_files
from preheat.files import write_atomically
from preheat.model.live import JournalEntry

MOST = 256
"""Sessions in memory."""
MOST_FILES = 20_000
MOST_DAYS = 14

Apply = Callable[[RunningSession, JournalEntry], RunningSession]
"""Gives the session after an entry."""


class Sessions:
    """All running sessions, by agent and id."""

    def __init__(self, folder: str, most: int = MOST) -> None:
        self._folder = folder
        self._most = most
        self._held: OrderedDict[tuple[str, str], RunningSession] = OrderedDict()
        self._changed: dict[tuple[str, str], None] = {}
        self._newer: set[str] = set()
        """Files that were written since a flush began: what it has for them is older."""
        self._writing = threading.Lock()
        self.new_files = 0
        """Files that were made since old ones were removed, or more."""
        self.is_complete = True
        """Every session that left the memory was written to its file."""

    def get(self, agent: str, session: str) -> RunningSession:
        """A session as it is now; a new one if it is not known."""
        key = (agent, session)
        found = self._held.get(key)
        if found is None:
            found = load_session(session_file(self._folder, key)) or RunningSession(agent=agent, session=session)
            self.new_files += not found.seq
            if (found.agent, found.session) != key:
                found = RunningSession(agent=agent, session=session)
            self._held[key] = found
            self._make_room()
        else:
            self._held.move_to_end(key)
        return found

    def put(self, running: RunningSession) -> None:
        """A session after an entry."""
        key = (running.agent, running.session)
        self._held[key] = running
        self._held.move_to_end(key)
        self._changed[key] = None

    def rebuild(self, entries: Iterable[JournalEntry], apply: Apply) -> int:
        """Apply the entries that no file has yet; gives their number."""
        number = 0
        for entry in entries:
            running = self.get(entry.agent, entry.session)
            if entry.seq > running.seq:
                self.put(apply(running, entry))
                number += 1
        return number

    def in_memory(self) -> list[RunningSession]:
        """The sessions in memory, the most recent last."""
        return list(self._held.values())

    def prepare_flush(self) -> Callable[[], None]:
        """A function that writes the changed sessions, for another thread. It raises OSError; then call `mark_unwritten`."""
        changed = [self._held[key] for key in self._changed if key in self._held]
        self._changed.clear()
        files = [(session_file(self._folder, (each.agent, each.session)), encode_session(each)) for each in changed]
        with self._writing:
            self._newer = set()

        def write() -> None:
            for path, data in files:
                with self._writing:
                    if path not in self._newer:
                        write_atomically(path, data)

        return write

    def mark_unwritten(self) -> None:
        """Mark all sessions as not written, after writing failed."""
        self._changed.update(dict.fromkeys(self._held))

    def _make_room(self) -> None:
        while len(self._held) > self._most:
            key, running = self._held.popitem(last=False)
            if key in self._changed:
                del self._changed[key]
                try:
                    self._write_evicted(session_file(self._folder, key), encode_session(running))
                except OSError:
                    self.is_complete = False  # the journal still has it

    def _write_evicted(self, path: str, data: bytes) -> None:
        with self._writing:
            self._newer.add(path)
            write_atomically(path, data)

    def remove_old_files(self, now: float) -> None:
        """Remove the files of old sessions, and the oldest if there are too many."""
        self.new_files = 0
        ages = []
        for path in session_files(self._folder):
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
