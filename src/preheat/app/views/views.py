"""What a screen shows at once, as values: pages of sessions, one session with its calls, parts of its transcript.

Knows nothing of screens. Fast: everything but a transcript is read from rows, and a transcript is read once for its parts.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import closing, suppress
from threading import Lock

import msgspec

from preheat.app.analysis.reliability import Reliability
from preheat.app.experiments.comparisons import Experiments
from preheat.app.project_assignment import assign_archive
from preheat.app.sessions.archive import load_session
from preheat.app.views.sharing import redact_for_sharing
from preheat.app.views.transcript import Entry, cut_part, list_entries, whole_text
from preheat.app.views.trial import try_prompt
from preheat.archive import views as rows
from preheat.archive.connect import connect, server_stamp
from preheat.archive.database import ArchiveConnection
from preheat.archive.notes import load_episodes
from preheat.archive.queries import find_session, list_children
from preheat.errors import UserError
from preheat.model.analysis import Episode
from preheat.model.experiment_report import SessionArm
from preheat.model.listing import SessionFilter
from preheat.model.mistake import Mistake, Mistakes
from preheat.model.session import Usage
from preheat.model.views import (
    Activity,
    ContextSize,
    FilterChoices,
    SessionOrder,
    SessionPage,
    SessionView,
    TranscriptPart,
    TriedPrompt,
    UsedFile,
)
from preheat.prices import price_usage
from preheat.settings import archive_path, state_path

_KEPT_TRANSCRIPTS = 4
_LARGEST_KEPT = 40_000
"""Entries of a transcript that is kept for its next part."""


class Views:
    """Views of the archive in a folder. Keep one object: it remembers the transcripts that it was asked for last."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._transcripts: OrderedDict[tuple[str, int, int], list[Entry]] = OrderedDict()
        self._lock = Lock()

    def stamp(self) -> tuple[float | str, ...]:
        """Changes whenever the archive or the state beside it changes."""
        found: list[float] = []
        for path in (archive_path(self._folder), f"{archive_path(self._folder)}-wal", state_path(self._folder)):
            with suppress(OSError):
                status = os.stat(path)
                found += [status.st_mtime, status.st_size]
        return (*found, server_stamp(self._folder))

    # Lists.
    def sessions(
        self,
        chosen: SessionFilter,
        words: str = "",
        order: SessionOrder = "started",
        descending: bool = True,
        start: int = 0,
        limit: int = 100,
    ) -> SessionPage:
        """Some of the chosen sessions in an order; with words, those that have them, the newest passage first."""
        with self._open_archive() as connection:
            if words.strip():
                return rows.search_page(connection, words, chosen, start, limit)
            return rows.list_page(connection, chosen, order, descending, start, limit)

    def choices(self) -> FilterChoices:
        """The projects, agents and models that there are to choose from."""
        with self._open_archive() as connection:
            assign_archive(connection)
            return rows.load_choices(connection)

    def activity(self, chosen: SessionFilter) -> Activity:
        """When the calls of the chosen sessions were made, in local time."""
        with self._open_archive() as connection:
            calls, begun = rows.count_activity(connection, chosen)
        grid = [[0] * 24 for _ in range(7)]
        days: dict[str, list[int]] = {}
        for hour, number, failed in calls:
            local = time.localtime(hour * 3600)
            grid[local.tm_wday][local.tm_hour] += number
            day = days.setdefault(time.strftime("%Y-%m-%d", local), [0, 0, 0])
            day[1] += number
            day[2] += failed
        for hour in begun:
            days.setdefault(time.strftime("%Y-%m-%d", time.localtime(hour * 3600)), [0, 0, 0])[0] += 1
        return Activity(
            calls=tuple(map(tuple, grid)),
            days=tuple((day, each[0], each[1], each[2]) for day, each in sorted(days.items())),
        )

    def mistakes(self, chosen: SessionFilter, most: int = 500) -> Mistakes:
        """Repeated mistakes of the chosen sessions by the time that they cost; of each the newest occurrences, at most `most`."""
        found = Reliability(self._folder, analyse=False).mistakes(chosen, by="minutes")
        return msgspec.structs.replace(found, mistakes=tuple(_with_newest(each, most) for each in found.mistakes))

    # One session.
    def session(self, name: str) -> SessionView:
        """One session with all its calls, by its name. Raises NotFound."""
        with self._open_archive() as connection:
            summary = find_session(connection, name)
            calls, judged = rows.load_viewed_calls(connection, summary.key)
            episodes = load_episodes(connection, summary.key)
            responses = rows.load_responses(connection, summary.key)
            children = list_children(connection, summary)
            project = rows.load_project_name(connection, summary.key)
        money = _Money(responses)
        return SessionView(
            summary=summary,
            project=project,
            calls=tuple(calls),
            judged=judged,
            episodes=episodes,
            contexts=tuple(
                ContextSize(each.at, each.usage.input + each.usage.cache_read + each.usage.cache_write)
                for each in responses
                if each.usage.total
            ),
            usage=money.usage,
            money=money.total if money.is_known else None,
            failed_money=money.failed,
            unpriced_tokens=money.unpriced,
            files=_list_files(episodes),
            children=tuple(children),
            arm=self._find_arm(summary.key),
        )

    def _find_arm(self, key: str) -> SessionArm | None:
        if not os.path.exists(state_path(self._folder)):
            return None
        try:
            return Experiments(self._folder).find_arm(key)
        except UserError:  # a damaged state is reported by `doctor`, and hides no session
            return None

    def transcript(self, name: str, start: int = 0, limit: int = 60, errors_only: bool = False) -> TranscriptPart:
        """Some entries of a session's transcript; with `errors_only` only the calls that failed. Raises NotFound."""
        return cut_part(self._load_entries(name), start, limit, errors_only)

    def find_entry(self, name: str, seq: int | None = None, line: int | None = None) -> int:
        """The number of the entry of a call by its place among the calls, or of the first entry from a line on."""
        for each in self._load_entries(name):
            if (each.call is not None and each.call.seq == seq) if seq is not None else each.event.line >= (line or 0):
                return each.number
        return 0

    def entry_text(self, name: str, number: int) -> str:
        """The whole text of an entry; of a call its arguments and its result. Raises UserError if there is no such entry."""
        entries = self._load_entries(name)
        if not 0 <= number < len(entries):
            raise UserError(f"there is no entry {number} in this session; it has {len(entries)}")
        return whole_text(entries[number])

    # Before something is done.
    def try_prompt(self, prompt: str, where: str, command: str = "", printed: str = "") -> TriedPrompt:
        """What each moment of a session with this prompt would say in a folder, and why. Raises UserError."""
        return try_prompt(self._folder, prompt, where, command, printed)

    def redact_for_sharing(self, text: str) -> str:
        """A text without secrets, names in home folders and e-mail addresses."""
        return redact_for_sharing(text)

    def _load_entries(self, name: str) -> list[Entry]:
        with self._open_archive() as connection:
            summary = find_session(connection, name)
            place = (summary.key, summary.events, summary.calls)
            with self._lock:
                if place in self._transcripts:
                    self._transcripts.move_to_end(place)
                    return self._transcripts[place]
            calls, _ = rows.load_viewed_calls(connection, summary.key)
            episodes = load_episodes(connection, summary.key)
            entries = list_entries(load_session(connection, summary.key), calls, episodes)
        if len(entries) <= _LARGEST_KEPT:
            with self._lock:
                self._transcripts[place] = entries
                while len(self._transcripts) > _KEPT_TRANSCRIPTS:
                    self._transcripts.popitem(last=False)
        return entries

    def _open_archive(self) -> closing[ArchiveConnection]:
        return closing(connect(self._folder))


def _with_newest(mistake: Mistake, most: int) -> Mistake:
    """A mistake with its newest occurrences only, the newest first."""
    ordered = sorted(mistake.occurrences, key=lambda each: -(each.at or 0.0))
    return msgspec.structs.replace(mistake, occurrences=tuple(ordered[:most]))


class _Money:
    """What the responses of a session cost."""

    def __init__(self, responses: Sequence[rows.ResponseRow]) -> None:
        self.usage = Usage()
        self.total = self.failed = 0.0
        self.unpriced = 0
        self.is_known = False
        for each in responses:
            self.usage += each.usage
            money = price_usage(each.model, each.usage, each.at)
            if money is None:
                self.unpriced += each.usage.total
            else:
                self.is_known = True
                self.total += money
                self.failed += money * each.failed_share


def _list_files(episodes: Sequence[Episode]) -> tuple[UsedFile, ...]:
    """Every file that the episodes used, in the order of its first use."""
    uses: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for each in (use for episode in episodes for use in episode.files):
        kinds = uses.setdefault(each.path, [])
        if each.use not in kinds:
            kinds.append(each.use)
        first.setdefault(each.path, each.seqs[0] if each.seqs else 0)
    return tuple(UsedFile(path=path, uses=tuple(kinds), first_seq=first[path]) for path, kinds in uses.items())
