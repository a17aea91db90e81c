"""Where the work of a prompt lies: files with reasons, the check that covers them, similar earlier work. Frozen values.

How they are found is in `orientation`. Paths, symbols and words come from files and sessions of others: they are data, and
whoever shows them to a model writes them through the slots of `safe_text`.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat.model.analysis import Episode
from preheat.model.tree import Symbol

OrientationReason: TypeAlias = Literal["named", "symbol", "words", "similar", "together", "recent", "titles"]
"""Why a file is named: the prompt has its name, or a document that the prompt refers to; a symbol of it; words of it or of its
path; similar earlier work used it; it was used or changed together with files that stand out; it was in work lately; commits
with such a title changed it."""


class PastEpisode(NamedTuple):
    """An episode with what its session says of it."""

    session: str
    """The key of the session in the archive."""
    branch: str
    """The branch of the session; empty if unknown."""
    episode: Episode


class TouchedFiles(NamedTuple):
    """What a session has done to files so far, as paths relative to the project."""

    opened: frozenset[str] = frozenset()
    """Read, changed or made: the session knows them."""
    edited: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    """Named to it with an earlier prompt: not named again."""


NOTHING_TOUCHED = TouchedFiles()


class OrientedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that a prompt will need."""

    path: str
    probability: float
    """How sure: the share of files with such a score that recorded sessions went on to use."""
    reasons: tuple[OrientationReason, ...]
    """The strongest first."""
    symbols: tuple[Symbol, ...] = ()
    """Symbols of it that the prompt has in words, the surest first."""
    tests: tuple[str, ...] = ()
    """Tests that cover it."""
    measures: dict[str, float] = {}
    """The measures that the score is made of, by name, each from 0 to 1."""


class EarlierCheck(NamedTuple):
    """A check that earlier work on these files ran."""

    command: str
    purpose: str
    passed: int
    """How often it passed there."""
    seconds: float | None
    """How long it took, in the middle; None if unknown."""


class SimilarWork(NamedTuple):
    """An earlier piece of work that is like the prompt."""

    session: str
    at: float | None
    similarity: float
    """From 0 to 1."""
    words: tuple[str, ...]
    """Words that both prompts have, the rarest first."""
    files: tuple[str, ...]
    """Files that it changed, else those that it read."""
    verified: str
    """The command of the last check that passed; empty without one."""
    failed: str
    """The command of a check that failed on the way; empty without one."""


class Orientation(msgspec.Struct, frozen=True, kw_only=True):
    """Where the work of a prompt lies."""

    files: tuple[OrientedFile, ...] = ()
    """In order, the surest first."""
    check: EarlierCheck | None = None
    similar: tuple[SimilarWork, ...] = ()
    silence: Literal["", "no telling words", "nothing stands out"] = ""
    """Why there is nothing to say; empty if there is."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return not self.files
