"""Episodes and evidence, made short."""

from preheat.model.analysis import CheckEnding, CheckRun, Episode, FileUse, Rename
from preheat.model.orientation import PastEpisode
from preheat.model.tree import FileEvidence, NamedBy, Symbol, SymbolMatch, TreeEvidence


def episode(
    at: int,
    prompt: str,
    changed: tuple[str, ...] = (),
    read: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
    renamed: tuple[tuple[str, str], ...] = (),
    check: CheckEnding | None = None,
    branch: str = "main",
    command: str = "uv run pytest -q",
) -> PastEpisode:
    """An episode of a session of its own, which ended at a moment."""
    uses = [FileUse(path, "changed", (1,)) for path in changed]
    uses += [FileUse(path, "read", (0,)) for path in read]
    uses += [FileUse(path, "removed", (2,)) for path in removed]
    checks = (CheckRun("uv run pytest", command, "test", check, 12.0, 4),) if check else ()
    renames = tuple(Rename(before, after, 3) for before, after in renamed)
    made = Episode(0, 1, prompt, at * 100.0, at * 100.0 + 50, tuple(uses), renames, checks, "", 0, 5)
    return PastEpisode(f"agent:{at}", branch, made)


def evidence(
    path: str, content: float = 0.0, path_score: float = 0.0, named_by: NamedBy = "", symbol: str = "", test: str = ""
) -> FileEvidence:
    """What a tree says of one file."""
    symbols = (SymbolMatch(Symbol(symbol, "function", 12, 40), True, 1.0),) if symbol else ()
    return FileEvidence(
        path=path, language="python", is_test=False, named_by=named_by, content_score=content, path_score=path_score, words=(),
        symbols=symbols, changed_with=0, commits=0, days_since_change=None, tests=(test,) if test else (),
    )  # fmt: skip


def tree(*files: FileEvidence) -> TreeEvidence:
    """What a tree says."""
    return TreeEvidence(files=files, file_count=100, word_count=5)
