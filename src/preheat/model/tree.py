"""The working tree of a project as its index knows it: files, symbols, and what they say about a prompt.

Frozen values; how they are found is in `tree`. Paths, names and words come from files of others: they are data, and whoever shows
them removes what a terminal, a page or a model would take for more.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec

SymbolKind: TypeAlias = Literal["class", "function", "interface", "module", "type", "constant", "heading", "other"]
"""What a symbol is; `heading` is one of a document."""

FileKind: TypeAlias = Literal["text", "generated", "minified", "binary", "data", "large", "secret", "unreadable"]
"""What is in a file. Of all but `text` only the path is known: nothing of their contents is in the index."""

NamedBy: TypeAlias = Literal["", "path", "suffix", "name", "stem"]
"""How a prompt names a file: by its path, by the end of its path, by its name, or by its name without the ending."""


class Symbol(NamedTuple):
    """A definition in a file, or a heading of a document."""

    name: str
    kind: SymbolKind
    first_line: int
    """From 1."""
    last_line: int
    """Inclusive; of a heading the last line before the next one of its level."""


class TreeFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the working tree."""

    path: str
    """Relative to the root, with slashes."""
    language: str
    """Such as `python`; empty if the ending is of no known language."""
    kind: FileKind
    size: int
    is_test: bool


class SymbolMatch(NamedTuple):
    """A symbol that the prompt has in words."""

    symbol: Symbol
    is_exact: bool
    """The prompt has the name as it is written; otherwise its words, such as "parse the config" for `parse_config`."""
    rarity: float
    """1 if one file of the tree defines it, 1/2 if two do; 0 if many do, or if the prompt has only some of its words."""


class FileEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks for one file."""

    path: str
    language: str
    is_test: bool
    named_by: NamedBy
    content_score: float
    """BM25 of the prompt's words over the contents; 0 if none is there. Only comparable within one prompt."""
    path_score: float
    """The same over the words of the paths."""
    words: tuple[str, ...]
    """The words of the prompt that add most to both scores, at most five."""
    symbols: tuple[SymbolMatch, ...]
    changed_with: int
    """Recent commits in which it changed together with a file that was touched."""
    commits: int
    """Recent commits that changed it."""
    title_score: float = 0.0
    """How much the titles of recent commits that changed it are like the prompt; 0 if none is. Comparable within one prompt."""
    days_since_change: float | None
    """Days from its last recent commit to the newest commit; None if no recent commit changed it."""
    tests: tuple[str, ...]
    """Tests that cover it, the surest first, at most three; only filled for the best files of each measure."""


class TreeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the working tree says about a prompt."""

    files: tuple[FileEvidence, ...] = ()
    """Every file that any measure puts among its first, by path."""
    file_count: int = 0
    """Files in the index; 0 means there is none."""
    word_count: int = 0
    """Different words of the prompt that the tree has."""


NO_EVIDENCE = TreeEvidence()


class TreeUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """What an update of an index did."""

    root: str
    files: int
    """Files in the index afterwards."""
    read: int
    """Files that were read, new or changed."""
    removed: int
    left_out: int
    """Files beyond the limit, which are not in the index."""
    seconds: float
    cpu_seconds: float


class TreeSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One index on this machine."""

    root: str
    files: int
    symbols: int
    bytes: int
    """Of the index on the disk."""
    updated_at: float
    exists: bool
    """Whether the folder is still there."""
