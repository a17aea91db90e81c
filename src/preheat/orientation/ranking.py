"""Ranks the files of a project for a prompt, and says how sure that is; nothing where nothing stands out.

A linear score over the measures, whose few weights were fitted on recorded projects (`weights.py`).
"""

import math
import re
import statistics
from collections.abc import Callable
from itertools import islice

from preheat.model.analysis import CheckRun
from preheat.model.orientation import (
    NOTHING_TOUCHED,
    EarlierCheck,
    Orientation,
    OrientationReason,
    OrientedFile,
    SimilarWork,
    TouchedFiles,
)
from preheat.model.tree import NO_EVIDENCE, FileEvidence, TreeEvidence
from preheat.orientation.history import History, Similar
from preheat.orientation.measures import Measures, measure_files
from preheat.orientation.prompt import count_terms, find_runs, find_words, is_telling, with_branch
from preheat.orientation.weights import FIRST, LATER, Model

MOST_FILES = 10
LEAST_PROBABILITY = 0.06
"""If even the first file is less sure than this, nothing stands out."""
LEAST_AGAIN = 0.1
"""The same for a session that was named files before: more files must be worth another look."""
_MOST_SIMILAR, _LEAST_SIMILARITY = 2, 0.2
_MOST_WORDS, _MOST_OF_SIMILAR = 6, 4
_MOST_SYMBOLS, _MOST_TESTS = 3, 2
_REASONS: dict[OrientationReason, tuple[str, ...]] = {
    "named": ("named",),
    "symbol": ("symbol",),
    "words": ("content", "content_place", "path", "name_share", "whole_name", "name_run"),
    "similar": ("similar", "similar_total"),
    "together": ("changed_with", "together", "twin", "folder"),
    "recent": ("branch", "recent", "frequent", "known", "committed", "commits"),
    "titles": ("titles", "titles_total"),
}
_AROUND = re.compile(r"^cd \./? && |\s*(?:2>&1)?\s*\|\s*(?:tail|head)\b[^|;&]*$")
"""The way to the project's own folder before a command, where an agent is already; and the cutting of its output."""
_FILE_NAME = re.compile(r"\.[A-Za-z]\w{0,4}$")
_TEST_PART = re.compile(r"^test_|_test$|_spec$|Tests?$")
_MOST_REASONS = 3
_LEAST_SHARE = 0.12
"""A reason that adds less than this share of the score is not named."""


def rank(
    prompt: str,
    history: History,
    evidence: TreeEvidence,
    touched: TouchedFiles = NOTHING_TOUCHED,
    branch: str = "",
    exists: Callable[[str], bool] = lambda path: True,
    most: int = MOST_FILES,
    cited: TreeEvidence = NO_EVIDENCE,
) -> Orientation:
    """The files that a prompt will need, of those that exist and that the session has neither opened nor been named. `branch` is
    the one that it works on; `evidence` is what the working tree says, and may be empty, as may the history; `cited` is what
    that says about a document which the prompt refers to."""
    named = (each.named_by for each in (*evidence.files, *cited.files))
    if not is_telling(count_terms(prompt)) and not any(named):
        return Orientation(silence="no telling words")
    terms = with_branch(count_terms(prompt), branch)
    similar = history.find_similar(terms)
    measured = measure_files(terms, history, similar, evidence, touched, branch, find_runs(prompt), cited)
    model = LATER if touched.opened else FIRST
    scores = {path: score(measures, model) for path, measures in measured.items()}
    ordered = sorted(scores, key=lambda path: (-scores[path], path))
    chosen = _choose(ordered, touched.named, exists, most)
    if touched.named:
        chosen = [path for path in chosen if probability(scores[path], model) >= LEAST_PROBABILITY]
    if not chosen or probability(scores[chosen[0]], model) < (LEAST_AGAIN if touched.named else LEAST_PROBABILITY):
        return Orientation(silence="nothing stands out")
    known = {each.path: each for each in evidence.files}
    return Orientation(
        files=tuple(_describe(path, measured[path], model, known.get(path)) for path in chosen),
        check=_find_check(history, chosen),
        similar=tuple(
            work
            for each in _distinct(history, similar)
            if (work := _describe_similar(history, each, prompt, exists)).files
        ),
    )


def _choose(ordered: list[str], named: frozenset[str], exists: Callable[[str], bool], most: int) -> list[str]:
    """The first files that exist and were not named before."""
    return list(islice((path for path in ordered if path not in named and exists(path)), most))


def score(measures: Measures, model: Model = FIRST) -> float:
    """The weighted sum of a file's measures."""
    return sum(model.weights[name] * value for name, value in measures.items())


def probability(value: float, model: Model = FIRST) -> float:
    """How often a file with this score was used."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, model.slope * value + model.offset))))


def _describe(path: str, measures: Measures, model: Model, evidence: FileEvidence | None) -> OrientedFile:
    shares = {
        reason: sum(model.weights[name] * measures.get(name, 0.0) for name in names)
        for reason, names in _REASONS.items()
    }
    total = sum(max(0.0, share) for share in shares.values()) or 1.0
    reasons = sorted((each for each in shares if shares[each] >= _LEAST_SHARE * total), key=lambda each: -shares[each])
    matches = evidence.symbols if evidence is not None else ()
    return OrientedFile(
        path=path,
        probability=round(probability(score(measures, model), model), 3),
        reasons=tuple(reasons[:_MOST_REASONS]),
        symbols=tuple(match.symbol for match in matches[:_MOST_SYMBOLS]),
        tests=evidence.tests[:_MOST_TESTS] if evidence is not None else (),
        measures={name: round(each, 3) for name, each in measures.items() if each},
    )


# The check that covers these files.
def _find_check(history: History, chosen: list[str]) -> EarlierCheck | None:
    """The check that passed most often in episodes that changed one of these files: one that names a file of these, or none at
    all; a check of other files says nothing about these."""
    wanted, stems = set(chosen), {_stem(path) for path in chosen}
    runs: dict[str, list[CheckRun]] = {}
    for past, files in zip(history.episodes, history.files, strict=True):
        if any(weight == 1.0 and path in wanted for path, weight in files.items()):
            for run in past.episode.checks:
                if run.ending == "passed":
                    runs.setdefault(_AROUND.sub("", run.command), []).append(run)
    fitting = {
        command: each for command, each in runs.items() if (named := _named_stems(command)) <= stems or named & stems
    }
    if not fitting:
        return None
    command = max(fitting, key=lambda each: (fitting[each][-1].purpose == "test", len(fitting[each]), each))
    best = fitting[command]
    seconds = [run.seconds for run in best if run.seconds is not None]
    return EarlierCheck(command, best[-1].purpose, len(best), statistics.median(seconds) if seconds else None)


def _named_stems(command: str) -> set[str]:
    """The stems of the files that a command names."""
    return {_stem(word) for word in command.split() if _FILE_NAME.search(word) and not word.startswith("-")}


def _stem(path: str) -> str:
    """The name of a file without its ending and without what makes it a test."""
    return _TEST_PART.sub("", path.rpartition("/")[2].partition(".")[0])


# Similar earlier work.
def _distinct(history: History, similar: list[Similar]) -> list[Similar]:
    """The most similar episodes that used files, one of each session."""
    found: dict[str, Similar] = {}
    for each in similar:
        if each.similarity >= _LEAST_SIMILARITY and history.files[each.place]:
            found.setdefault(history.episodes[each.place].session, each)
    return list(found.values())[:_MOST_SIMILAR]


def _describe_similar(history: History, similar: Similar, prompt: str, exists: Callable[[str], bool]) -> SimilarWork:
    past, files = history.episodes[similar.place], history.files[similar.place]
    changed = [path for path, weight in files.items() if weight == 1.0]
    checks = past.episode.checks
    return SimilarWork(
        session=past.session,
        at=past.episode.started_at,
        similarity=round(similar.similarity, 3),
        words=tuple(find_words(prompt, history.shared_terms(similar.place, count_terms(prompt))))[:_MOST_WORDS],
        files=tuple(path for path in changed or files if exists(path))[:_MOST_OF_SIMILAR],
        verified=next((run.command for run in reversed(checks) if run.ending == "passed"), ""),
        failed=next((run.command for run in checks if run.ending == "failed"), ""),
    )
