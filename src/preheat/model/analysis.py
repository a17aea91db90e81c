"""All that one pass makes of a session: the verdict on every call, measures, notes of the learners, episodes. Frozen values.

Knows nothing of how they are made. Texts come out of redacted sessions and are data: whoever shows one to a model cleans it
first.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.profile import CallRecord, SessionProfile
from preheat.model.project import SessionPlace

# Episodes.
FileUseKind: TypeAlias = Literal["read", "changed", "made", "removed"]
"""What was done to a file. `made`: written as a whole. `removed` may be a folder with everything in it."""

CheckEnding: TypeAlias = Literal["passed", "failed", "unclear"]
"""How a check ended; `unclear` where it gave no result: mistyped, refused, cut off."""


class FileUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One use of a file of the project, and the calls that made it."""

    path: str
    """Path of the file, relative to the project."""
    use: FileUseKind
    seqs: tuple[int, ...]
    """Numbers (from 0, among the session's calls) of the first calls that used the file so."""


class Rename(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that a call renamed."""

    before: str
    """Path before the rename, relative to the project."""
    after: str
    """Path after the rename, relative to the project."""
    seq: int
    """Number (from 0) of the renaming call among the session's calls."""


class CheckRun(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A test, a build, a linter or a type checker that was run."""

    form: str
    """The command without its variable parts: `pytest` for `pytest tests/test_a.py -q`."""
    command: str
    """The command as it was typed, on one line."""
    purpose: str
    """`test`, `build`, `lint` or `typecheck`."""
    ending: CheckEnding
    seconds: float | None
    """How long it ran; None where that is not known."""
    seq: int
    """Number (from 0) of its call among the session's calls."""


class Episode(msgspec.Struct, frozen=True, array_like=True):
    """One prompt, and what followed it until the next."""

    number: int
    """0-based number among the session's episodes."""
    line: int
    """Line of the prompt in the session's source; line of the first event where nobody prompted."""
    prompt: str
    """The prompt, shortened, on one line; empty for work that nobody prompted."""
    started_at: float | None
    ended_at: float | None
    files: tuple[FileUse, ...]
    """Files of the project that were used, in the order of their first use."""
    renames: tuple[Rename, ...]
    checks: tuple[CheckRun, ...]
    """Checks that were run, in their order."""
    closing: str
    """The last text of the agent, on one line; may be empty."""
    first_seq: int
    """Number (from 0) of the episode's first call among the session's calls; -1 without calls."""
    calls: int
    """How many calls the episode has."""

    def paths(self, *uses: FileUseKind) -> tuple[str, ...]:
        """The paths that were used in one of these ways, each once."""
        return tuple(dict.fromkeys(each.path for each in self.files if each.use in uses))

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, self.ended_at - self.started_at)


class Assessment(NamedTuple):
    """The judged calls of a session, and the session's measures."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class LearnerNote(NamedTuple):
    """What a learner keeps of a session."""

    learner: str
    version: int
    """Version of the learner."""
    notes: Any
    """The learner's own values; None where it found nothing."""


class Analysis(NamedTuple):
    """Everything that the analysis of a session gives."""

    records: tuple[CallRecord, ...]
    """The verdict on every call, in order."""
    profile: SessionProfile
    notes: tuple[LearnerNote, ...]
    """Empty for a session that no person started: nothing is learned from it."""
    episodes: tuple[Episode, ...]
    place: SessionPlace = SessionPlace()
