"""The working set: files and folders of a project that its sessions come back to (UpdateWorkingSetRanking).

Knows no archive and no task. What counts is the share of sessions that touched a file, newer sessions counting more: it says
how likely the next one touches it too. A session counts by the inverse square root of how many sessions ago it was (the
decay that human memory and caches of files show), halved for each `HALF_LIFE` days. That beat most-frequent and most-recent
on six real projects; weights for edits and checks beyond a tenth made the guess worse, so they only order what is close.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from preheat.calls.files import is_file
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.lessons.call_facts import safe_touches, says_file_missing
from preheat.lessons.learner import Learner, SessionNotes
from preheat.model.lesson import DAY, Evidence, Lesson, Scope, Support, lesson_id, select_evidence

HALF_LIFE = 14.0
MOST_FILES = 25
MOST_FOLDERS = 8
LIKELY = 0.6
"""A file that fewer of the sessions touch is not worth a line to the next one: work moves on, on real projects shares above a
half come true a tenth less often, and below this the line would be wrong more often than right."""
_RARE = 0.1
"""Files that fewer sessions touch are not ranked."""
_TENTH = 0.1
_BROAD = 12
"""A folder at the top with more files than that is the project itself: listing the project shows it."""
_LAST = 12
"""Sessions that the text speaks of."""
_MOST_NOTED = 400
_CHECKED = frozenset(["shell:test", "shell:build", "shell:lint", "shell:typecheck"])
_MOSTLY = 0.8
"""A folder inside another that has this much of the other's share says the same, more exactly."""


class FileNotes(msgspec.Struct, frozen=True, array_like=True):
    """What one session did with one file."""

    path: str
    reads: int = 0
    changes: int = 0
    failures: int = 0
    verified: bool = False
    """A check passed after it was changed."""
    made: bool = False
    """The first thing done to it was to write it whole."""
    gone: bool = False
    """It was not there any more when the session ended."""
    last: int = 0
    """The place of the last call that touched it."""


class WorkingNotes(msgspec.Struct, frozen=True, array_like=True):
    files: tuple[FileNotes, ...] = ()
    removed: tuple[str, ...] = ()
    """Files and folders that were removed, with everything below them."""


class _File:
    """A file while its session is read."""

    __slots__ = ("changes", "failures", "gone", "last", "made", "open", "path", "reads", "verified")

    def __init__(self, path: str, made: bool) -> None:
        self.path, self.made = path, made
        self.reads = self.changes = self.failures = self.last = 0
        self.verified = self.gone = self.open = False

    def notes(self) -> FileNotes:
        return FileNotes(
            self.path, self.reads, self.changes, self.failures, self.verified, self.made, self.gone, self.last
        )


def take_notes(seen: JudgedSession) -> WorkingNotes | None:
    """Which files a session touched, and how that went."""
    files: dict[str, _File] = {}
    removed: dict[str, None] = {}
    for each in seen.calls:
        if each.worked or each.failed:
            _touch(seen, each, files, removed)
        if each.worked and each.record.activity in _CHECKED:
            for file in files.values():
                file.verified |= file.open
                file.open = False
    kept = sorted(files.values(), key=lambda file: (-file.changes, -file.reads, file.path))[:_MOST_NOTED]
    if not kept and not removed:
        return None
    return WorkingNotes(tuple(file.notes() for file in sorted(kept, key=lambda file: file.path)), tuple(removed))


def _touch(seen: JudgedSession, each: JudgedCall, files: dict[str, _File], removed: dict[str, None]) -> None:
    for path, how in safe_touches(seen, each):
        if how == "removed":
            if each.worked:
                removed[path] = None
                for file in files.values():
                    file.gone |= _below(file.path, path)
            continue
        file = files.get(path) or files.setdefault(path, _File(path, how == "made"))
        file.last = each.record.seq
        if each.failed:  # a shell may stand in another folder than it seems, and so its word is not enough
            file.gone |= says_file_missing(each) and each.call.kind != "shell"
            file.failures += 1
            continue
        file.gone = False
        if how == "read":
            file.reads += 1
        else:
            file.changes += 1
            file.open = True


def learn(project: str, sessions: Sequence[SessionNotes[WorkingNotes]]) -> list[Lesson]:
    """The files and folders that the next session most likely needs."""
    if not project:
        return []
    working = [each for each in sessions if any(_was_used(file) for file in each.notes.files)]
    weights = _weights(working)
    if len(working) < 2:
        return []
    files = _Ranking(working, weights)
    lasting = _lasting_files(working)
    for each in working:
        for file in each.notes.files:
            if file.path in lasting and _was_used(file):
                files.add(each, file.path, [file])
    folders = _Ranking(working, weights)
    for each in working:
        for folder, inside in _folders(file for file in each.notes.files if file.path in lasting and _was_used(file)):
            folders.add(each, folder, inside)
    named = [files.lesson(project, path, "file") for path in files.best(MOST_FILES)]
    ranked = folders.best(len(folders.scores))
    telling = [folder for folder in ranked if folders.tells(folder)][:MOST_FOLDERS]
    return named + [folders.lesson(project, folder, "folder") for folder in telling]


class _Ranking:
    """Paths with the sessions that touched them."""

    def __init__(self, sessions: Sequence[SessionNotes[WorkingNotes]], weights: dict[str, float]) -> None:
        self.sessions, self.weights = sessions, weights
        self.total = sum(weights.values())
        self.places = {each.session: place for place, each in enumerate(sessions)}
        self.shares: defaultdict[str, float] = defaultdict(float)
        self.scores: defaultdict[str, float] = defaultdict(float)
        self.touched: defaultdict[str, list[tuple[SessionNotes[WorkingNotes], list[FileNotes]]]] = defaultdict(list)

    def add(self, each: SessionNotes[WorkingNotes], path: str, files: list[FileNotes]) -> None:
        weight = self.weights[each.session] / self.total
        changed, verified = any(file.changes for file in files), any(file.verified for file in files)
        self.shares[path] += weight
        self.scores[path] += weight * (1 + _TENTH * changed + _TENTH * verified)
        self.touched[path].append((each, files))

    def best(self, most: int) -> list[str]:
        again = [path for path, share in self.shares.items() if share >= _RARE and len(self.touched[path]) > 1]
        return sorted(again, key=lambda path: (-self.scores[path], path))[:most]

    def tells(self, folder: str) -> bool:
        """Whether a folder has several files of interest, but not all, and none inside it says the same more exactly."""
        count = len({file.path for _, files in self.touched[folder] for file in files})
        if count < 2 or ("/" not in folder and count > _BROAD):
            return False
        inside = f"{folder}/"
        return not any(
            other.startswith(inside) and share >= _MOSTLY * self.shares[folder] for other, share in self.shares.items()
        )

    def lesson(self, project: str, path: str, topic: str) -> Lesson:
        touched = self.touched[path]
        first = self.places[touched[0][0].session]
        against = len(self.sessions) - first - len(touched)
        share = self.shares[path]
        scope = Scope(project=project)
        evidence = [
            Evidence(
                each.session,
                max(file.last for file in files),
                each.ended_at or each.started_at,
                text=_describe_use(files),
            )
            for each, files in touched
        ]
        times = [at for each, _ in touched if (at := each.ended_at or each.started_at) is not None]
        likely = share >= LIKELY
        return Lesson(
            id=lesson_id("working_set", scope, topic, path),
            kind="working_set",
            scope=scope,
            topic=topic,
            text=self._text(path, topic),
            use=path,
            files=(path,),
            support=Support(len(touched), len(touched), against, against),
            first_seen=min(times, default=None),
            last_seen=max(times, default=None),
            half_life=HALF_LIFE,
            evidence=select_evidence(evidence),
            status="active" if likely else "weak",
            why="" if likely else f"about {share:.0%} of the sessions touch it, counted by how recent they are",
        )

    def _text(self, path: str, topic: str) -> str:
        last = {each.session for each in self.sessions[-_LAST:]}
        recent = [files for each, files in self.touched[path] if each.session in last]
        changed = sum(any(file.changes for file in files) for files in recent)
        verified = sum(any(file.verified for file in files) for files in recent)
        text = f"`{path}{'/' if topic == 'folder' else ''}`: touched in {len(recent)} of the last {len(last)} sessions"
        if topic == "folder":
            counts = Counter(file.path for _, files in self.touched[path] for file in files)
            often = sorted(counts, key=lambda each: (-counts[each], each))[:3]
            text += ", most often " + ", ".join(f"`{each[len(path) + 1 :]}`" for each in often)
        if changed:
            text += f", changed in {changed}"
        if verified:
            text += f" (in {verified} a check passed after it)"
        return text


def _weights(sessions: Sequence[SessionNotes[WorkingNotes]]) -> dict[str, float]:
    """How much each session counts, by its age in sessions and in days before the newest."""
    newest = max((each.started_at for each in sessions if each.started_at is not None), default=None)
    found: dict[str, float] = {}
    for age, each in enumerate(reversed(sessions)):
        days = (newest - each.started_at) / DAY if newest is not None and each.started_at is not None else 0.0
        found[each.session] = (1 + age) ** -0.5 * 0.5 ** (days / HALF_LIFE)
    return found


def _lasting_files(sessions: Sequence[SessionNotes[WorkingNotes]]) -> set[str]:
    """Files that stay: not removed later, and not made anew by one session after the other."""
    gone: dict[str, bool] = {}
    made: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for each in sessions:
        for path in each.notes.removed:
            for known in [path] if is_file(path) else list(gone):
                gone[known] = gone.get(known, False) or _below(known, path)
        for file in each.notes.files:
            gone[file.path] = file.gone
            seen[file.path] += 1
            made[file.path] += file.made
    return {path for path in seen if not gone[path] and not (made[path] > 1 and 2 * made[path] > seen[path])}


def _was_used(file: FileNotes) -> bool:
    return file.reads > 0 or file.changes > 0


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _folders(files: Iterable[FileNotes]) -> Iterator[tuple[str, list[FileNotes]]]:
    """Every folder above the files, with those below it."""
    found: defaultdict[str, list[FileNotes]] = defaultdict(list)
    for file in files:
        parts = file.path.split("/")
        for length in range(1, len(parts)):
            found["/".join(parts[:length])].append(file)
    yield from found.items()


def _describe_use(files: list[FileNotes]) -> str:
    reads, changes = sum(file.reads for file in files), sum(file.changes for file in files)
    return f"read {reads}, changed {changes} times"


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    count: Counter[str] = Counter(each.topic for each in lessons if each.status == "active")
    if not lessons:
        return "no file comes back from session to session"
    return f"{count['file']} files and {count['folder']} folders that most sessions touch, of {len(lessons)} ranked"


UPDATE_WORKING_SET_RANKING = Learner(
    name="UpdateWorkingSetRanking",
    version=1,
    notes_type=WorkingNotes,
    take_notes=take_notes,
    learn=learn,
    describe=describe,
)
