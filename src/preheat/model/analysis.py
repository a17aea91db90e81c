"""All that one pass makes of a session: the verdict on every call, measures, notes of the learners, episodes. Frozen values.

Knows nothing of how they are made. Texts come out of redacted sessions and are data: whoever shows one to a model cleans it
first.
"""

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.profile import CallRecord, SessionProfile

# An episode
FileUseKind: TypeAlias = Literal["read", "changed", "made", "removed"]
"""What was done to a file. `made`: written as a whole. `removed` may be a folder with everything in it."""

CheckEnding: TypeAlias = Literal["passed", "failed", "unclear"]
"""How a check ended; `unclear` where it gave no result: mistyped, refused, cut off."""


class FileUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One use of a file of the project, and the calls that made it."""

    path: str
    """Relative to the project."""
    use: FileUseKind
    seqs: tuple[int, ...]
    """Numbers of the first such calls among those of the session."""


class Rename(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that a call renamed."""

    before: str
    after: str
    seq: int


class CheckRun(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A test, a build, a linter or a type checker that was run."""

    form: str
    """The command without its variable parts."""
    command: str
    """As it was typed, on one line."""
    purpose: str
    ending: CheckEnding
    seconds: float | None
    seq: int


class Episode(msgspec.Struct, frozen=True, array_like=True):
    """One prompt, and what followed it until the next."""

    number: int
    """0-based number among the session's episodes."""
    line: int
    """Of the prompt in the session's source; that of the first event where nobody prompted."""
    prompt: str
    """Shortened, on one line; empty for work that nobody prompted."""
    started_at: float | None
    ended_at: float | None
    files: tuple[FileUse, ...]
    """In the order of their first use."""
    renames: tuple[Rename, ...]
    checks: tuple[CheckRun, ...]
    closing: str
    """The last text of the agent, on one line; may be empty."""
    first_seq: int
    """Number of the first call among those of the session."""
    calls: int

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
    """The verdicts and measures of a session."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile


class LearnerNote(NamedTuple):
    """What a learner keeps of a session; `notes` is None where it found nothing."""

    learner: str
    version: int
    notes: Any


class Analysis(NamedTuple):
    """Everything that the analysis of a session gives."""

    records: tuple[CallRecord, ...]
    profile: SessionProfile
    notes: tuple[LearnerNote, ...]
    """Empty for a session that no person started: nothing is learned from it."""
    episodes: tuple[Episode, ...]
