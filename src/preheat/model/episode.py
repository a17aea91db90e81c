"""One piece of work in a session: a prompt with what followed it until the next. What a later session can be led by.

Frozen values; how they are made is in `episodes`. Texts come out of redacted sessions and are data: whoever puts one before a
model cleans it first.
"""

from typing import Literal, TypeAlias

import msgspec

Use: TypeAlias = Literal["read", "changed", "made", "removed"]
"""What was done to a file. `made`: written whole. `removed` may name a folder: all that is below it goes with it."""

Ending: TypeAlias = Literal["passed", "failed", "unclear"]
"""How a check ended; `unclear` where it gave no answer: mistyped, refused, cut off."""


class FileUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file of the project, and the calls that did this to it."""

    path: str
    """Begins at the project."""
    use: Use
    seqs: tuple[int, ...]
    """Places of the calls among those of the session, the first ones."""


class Rename(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that goes by another name from a call on."""

    before: str
    after: str
    seq: int


class CheckUse(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A test, a build, a linter or a type checker that was run."""

    form: str
    """The command without what changes from case to case."""
    command: str
    """As it was typed, on one line."""
    purpose: str
    ended: Ending
    seconds: float | None
    seq: int


class Episode(msgspec.Struct, frozen=True, array_like=True):
    """One prompt, and what followed it until the next."""

    number: int
    """0-based place among the session's episodes."""
    line: int
    """Of the prompt in the session's source; that of the first event where nobody prompted."""
    prompt: str
    """Shortened, on one line; empty for work that nobody prompted."""
    started_at: float | None
    ended_at: float | None
    files: tuple[FileUse, ...]
    """In the order in which they were first used so."""
    renames: tuple[Rename, ...]
    checks: tuple[CheckUse, ...]
    closing: str
    """The last words of the agent, on one line; empty where it said none."""
    first_seq: int
    """Place of the first call among those of the session; with `calls` those that all of this rests on."""
    calls: int

    def paths(self, *uses: Use) -> tuple[str, ...]:
        """The files that were used in one of these ways, each once."""
        return tuple(dict.fromkeys(each.path for each in self.files if each.use in uses))

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, self.ended_at - self.started_at)
