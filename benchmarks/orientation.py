"""Of the files that a session will need, how many are named with its prompt, learning only from what was earlier?

For every session of every project, in time order, the files are ranked for its first prompt and for each later one, from the
episodes that had ended by then and from the repository as it was before the session (`--repositories FOLDER` with bare clones).
Counted over sessions with edits of files that existed then (in the commit, or known from an earlier session):

- recall at 5, 10 and 20 of the files that the session edits;
- the share of file reads before the first edit that are of the first ten files;
- precision of the first five: used in the session. A prompt with fewer files counts those it has, one with none is left out.

At later prompts only files count that the session has not opened before. What all lists of a session together do is in
`benchmarks.orientation_session`. Weights are fitted on all projects but the one that is
measured. `said` is what a session really gets, silence included; the other rules always name something.
"""

import contextlib
import math
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.measuring import table
from benchmarks.orientation_data import RecordedProject, RecordedSession, Use, find_document_part, load_projects
from benchmarks.orientation_fit import Calibration, Example, Weights, calibrate, fit_weights
from benchmarks.orientation_map import NameCache, rank_by_graph
from benchmarks.orientation_session import FIGURES as SESSION_FIGURES
from benchmarks.orientation_session import average, measure_sessions
from preheat.app.orientation import describe
from preheat.model.orientation import PastEpisode, TouchedFiles
from preheat.model.tree import TreeEvidence
from preheat.orientation import History
from preheat.orientation.documents import ask_for
from preheat.orientation.measures import measure_files
from preheat.orientation.prompt import branch_words, count_terms, find_runs, is_telling, with_branch
from preheat.orientation.ranking import LEAST_PROBABILITY, rank
from preheat.prompt_text import own_words
from preheat.provisioning.tokens import estimate_tokens
from preheat.tree.index import TreeIndex
from preheat.tree.sources import CommittedTree

MOST = 20
_RESAMPLES = 1000
DEVELOPMENT = ("oh-my-posh", "cipher-box", "FitToday", "git-sync", "chkit", "cli")
"""Projects that were looked at to choose the measures; of the others nobody saw more than the figures here."""
FIGURES = ("recall_5", "recall_10", "recall_20", "reads", "precision_5")
SAID, ALWAYS = "preheat, as said", "preheat, never silent"
HISTORY_ONLY, TREE_ONLY = "preheat without a tree", "preheat without history"
_WORTH: dict[bool, float] = {True: 1.0, False: 0.3}
_READ_WORTH = 0.6


Lists = dict[int, dict[str, list[str]]]
"""By case the list of each rule."""


class Case(NamedTuple):
    """One prompt, what the session needed after it, and what the rules name."""

    project: str
    session: str
    number: int
    """0 for the first prompt of the session."""
    example: Example
    by_history: Example
    by_tree: Example
    is_telling: bool
    edited: frozenset[str]
    reads: tuple[str, ...]
    read_before_edit: frozenset[str]
    """Files that the session first opened after the prompt, and before its first edit of all."""
    used: frozenset[str]
    baselines: dict[str, list[str]]
    tokens: int
    """Of what is said with the weights of the source."""
    seconds: float


def run(quick: bool, data: str = "", repositories: str = "") -> dict[str, Any]:
    cases: list[Case] = []
    for project in load_projects(data, repositories):
        if quick and len({each.project for each in cases}) >= 3:
            break
        started = time.perf_counter()
        cases += _measure_project(project)
        print(f"{project.name}: {len(project.sessions)} sessions, {time.perf_counter() - started:.0f} s", flush=True)
    lists: Lists = {}
    surest: dict[int, dict[str, float]] = {}
    for case, ranked, sure in _rank_left_out(cases):
        lists[id(case)], surest[id(case)] = ranked, sure
    first = [each for each in cases if each.number == 0 and each.edited]
    later = [each for each in cases if each.number > 0 and each.edited]
    fitted = {part: _fit(cases, is_later) for part, is_later in (("first", False), ("later", True))}
    result = {
        "first": _summarise(first, lists), "later": _summarise(later, lists), "sessions": _measure_whole_sessions(cases, surest),
        "unseen": _summarise([each for each in first if not _is_for_development(each.project)], lists),
        "development": _summarise([each for each in first if _is_for_development(each.project)], lists),
        "projects": {
            name: _summarise([each for each in first if each.project == name], lists)
            for name in sorted({each.project for each in first})
        },
        "seconds": _percentiles([each.seconds for each in cases]),
        "fitted": {part: each._asdict() for part, each in fitted.items()},
    }  # fmt: skip
    _show(result)
    return result


def _is_for_development(project: str) -> bool:
    return project.rpartition("+")[2] in DEVELOPMENT


# One project.
def _measure_project(project: RecordedProject) -> Iterator[Case]:
    names = NameCache()
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as folder, contextlib.ExitStack() as stack:
        index: TreeIndex | None = None
        for place, session in enumerate(project.sessions):
            earlier = [
                past
                for each in project.sessions[:place]
                for past in each.past
                if (past.episode.ended_at or each.ended_at) <= session.started_at
            ]
            tree = CommittedTree(project.repository, session.commit) if session.commit else None
            if tree is not None:
                index = index or stack.enter_context(TreeIndex.open_source(folder, tree))
                index.update(tree)
            yield from _measure_session(project.name, session, earlier, index if tree else None, tree, names)


def _measure_session(
    project: str,
    session: RecordedSession,
    earlier: Sequence[PastEpisode],
    index: TreeIndex | None,
    tree: CommittedTree | None,
    names: NameCache,
) -> Iterator[Case]:
    history = History(earlier)
    files = tree.list_files(100_000).files if tree is not None else {}
    uses = session.uses
    folders = {folder for path in files for folder in _folders_above(path)}
    known = {*history.recent} - folders
    made = {path for path, first in {use.path: use for use in reversed(uses)}.items() if first.is_new}
    existing = {use.path for use in uses if use.path in files or (use.path in known and use.path not in made)}
    present = {*files, *known}
    first_edit = min((use.seq for use in uses if use.is_edit), default=0)
    for number, prompt in enumerate(session.prompts):
        before = [use for use in uses if use.episode < prompt.episode]
        opened = frozenset(use.path for use in before)
        touched = TouchedFiles(opened, frozenset(use.path for use in before if use.is_edit))
        after = [use for use in uses if use.episode >= prompt.episode]
        started = time.perf_counter()
        part = find_document_part(prompt.text, session, tree, files)
        text = ask_for(prompt.text, part)
        evidence, cited = TreeEvidence(), TreeEvidence()
        if index is not None:
            evidence = index.look_up(f"{text}\n{branch_words(session.branch)}", sorted(opened))
            cited = index.look_up(part) if part else cited
        said = rank(text, history, evidence, touched, session.branch, present.__contains__, cited=cited)
        seconds = time.perf_counter() - started
        own = count_terms(text)
        terms = with_branch(own, session.branch)
        reads = _reads_before_edit(after, existing - opened)
        edited = frozenset(use.path for use in after if use.is_edit) & existing - opened
        before_edit = frozenset(use.path for use in after if use.seq < first_edit) & existing - opened
        needed = {use.path: _READ_WORTH if use.path in reads else _WORTH[False] for use in after}
        needed.update(dict.fromkeys(edited, _WORTH[True]))

        def measure(past: History, found: TreeEvidence) -> Example:
            measured = measure_files(
                terms, past, past.find_similar(terms), found, touched, session.branch, find_runs(text),  # noqa: B023
                cited if found.file_count else TreeEvidence(),  # noqa: B023
            )  # fmt: skip
            kept = {
                path: {name: value for name, value in each.items() if value}
                for path, each in measured.items()
                if path in present
            }
            return Example(project, kept, needed)  # noqa: B023

        yield Case(
            project, session.key, number, measure(history, evidence), measure(history, TreeEvidence()),
            measure(History(), evidence), is_telling(own) or any(each.named_by for each in (*evidence.files, *cited.files)),
            edited, reads, before_edit, frozenset(use.path for use in after),
            _rank_baselines(prompt.text, history, evidence, opened, number, index, tree, files, names),
            estimate_tokens(describe(said)), seconds,
        )  # fmt: skip


def _folders_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _reads_before_edit(after: Sequence[Use], existing: set[str]) -> tuple[str, ...]:
    first = next((use.seq for use in after if use.is_edit), None)
    return tuple(use.path for use in after if first is not None and use.seq < first and use.path in existing)


def _rank_baselines(
    prompt: str, history: History, evidence: TreeEvidence, opened: frozenset[str], number: int, index: TreeIndex | None,
    tree: CommittedTree | None, files: dict[str, Any], names: NameCache,
) -> dict[str, list[str]]:  # fmt: skip
    edits = Counter(path for used in history.files for path, weight in used.items() if weight == 1.0)
    named = {
        each.path: {"path": 4.0, "suffix": 3.0, "name": 2.0, "stem": 1.0, "": 0.0}[each.named_by]
        for each in evidence.files
    }
    scores: dict[str, dict[str, float]] = {
        "most edited": dict(edits),
        "recency": history.recent,
        "words in paths": {each.path: each.path_score for each in evidence.files},
        "named in the prompt": named,
        "search of the tree": {each.path: each.content_score for each in evidence.files},
    }
    found = {rule: _best(values, opened) for rule, values in scores.items()}
    found["repository map"] = []
    if index is not None and tree is not None and number == 0:
        meant = [path for path, how in named.items() if how]
        ranked = rank_by_graph(own_words(prompt), index, names.count(tree, files), meant)
        found["repository map"] = [path for path in ranked if path not in opened][:MOST]
    return found


def _best(values: dict[str, float], opened: frozenset[str]) -> list[str]:
    wanted = [path for path, value in values.items() if value > 0 and path not in opened]
    return sorted(wanted, key=lambda path: (-values[path], path))[:MOST]


# Ranking with weights of the other projects.
class Fitted(NamedTuple):
    """A ranking model, for first prompts or for later ones."""

    weights: Weights
    calibration: Calibration


def _fit(cases: Sequence[Case], is_later: bool, without: str = "") -> Fitted:
    examples = [each.example for each in cases if bool(each.number) == is_later and each.project != without]
    weights = fit_weights(examples)
    return Fitted(weights, calibrate(examples, weights))


def _rank_left_out(cases: Sequence[Case]) -> Iterator[tuple[Case, dict[str, list[str]], dict[str, float]]]:
    """Of each prompt the lists of all rules, and the files with their probabilities, the surest first."""
    for project in sorted({each.project for each in cases}):
        fitted = {is_later: _fit(cases, is_later, project) for is_later in (False, True)}
        for case in cases:
            if case.project == project:
                yield case, *_rank_case(case, *fitted[bool(case.number)])


def _rank_case(case: Case, weights: Weights, calibration: Calibration) -> tuple[dict[str, list[str]], dict[str, float]]:
    lists = dict(case.baselines)
    for rule, example in ((HISTORY_ONLY, case.by_history), (TREE_ONLY, case.by_tree)):
        lists[rule] = list(_order(example, weights))[:MOST]
    scores = _order(case.example, weights)
    lists[ALWAYS] = list(scores)[:MOST]
    sure = {path: _make_probability(calibration.slope * value + calibration.offset) for path, value in scores.items()}
    speaks = case.is_telling and next(iter(sure.values()), 0.0) >= LEAST_PROBABILITY
    lists[SAID] = lists[ALWAYS] if speaks else []
    return lists, sure


def _order(example: Example, weights: Weights) -> dict[str, float]:
    """The scores of the files, the highest first."""
    scores = {path: _sum(found, weights) for path, found in example.measured.items()}
    return {path: scores[path] for path in sorted(scores, key=lambda path: (-scores[path], path))}


def _sum(measures: dict[str, float], weights: Weights) -> float:
    return sum(weights[name] * value for name, value in measures.items())


def _make_probability(reached: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, reached))))


# Figures.
def _measure_case(case: Case, ranked: Sequence[str]) -> dict[str, float]:
    found = {f"recall_{most}": len(case.edited & set(ranked[:most])) / len(case.edited) for most in (5, 10, 20)}
    if case.reads:
        found["reads"] = sum(path in ranked[:10] for path in case.reads) / len(case.reads)
    if ranked:
        found["precision_5"] = len(case.used & set(ranked[:5])) / len(ranked[:5])
    return found


def _summarise(cases: Sequence[Case], lists: Lists) -> dict[str, Any]:
    rules = lists[id(cases[0])] if cases else {}
    found: dict[str, Any] = {
        "sessions": len(cases),
        "tokens": _percentiles([each.tokens for each in cases if each.tokens]),
    }
    for rule in rules:
        measured = [_measure_case(case, lists[id(case)][rule]) for case in cases]
        found[rule] = {figure: _mean(measured, figure) for figure in FIGURES}
        found[rule]["silent"] = sum(not lists[id(case)][rule] for case in cases) / len(cases)
        if rule in (SAID, ALWAYS):
            found[rule]["intervals"] = {figure: _interval(measured, figure) for figure in FIGURES}
    return found


def _mean(measured: Iterable[dict[str, float]], figure: str) -> float | None:
    values = [each[figure] for each in measured if figure in each]
    return statistics.fmean(values) if values else None


def _interval(measured: Sequence[dict[str, float]], figure: str) -> tuple[float, float] | None:
    return _spread([each[figure] for each in measured if figure in each])


def _spread(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval, from resampling."""
    if not values:
        return None
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1]


def _measure_whole_sessions(cases: Sequence[Case], surest: dict[int, dict[str, float]]) -> dict[str, Any]:
    """What all lists of a session together do (`benchmarks.orientation_session`)."""
    parts = {
        "all": cases,
        "development": [each for each in cases if _is_for_development(each.project)],
        "unseen": [each for each in cases if not _is_for_development(each.project)],
    }
    parts.update(
        {name: [each for each in cases if each.project == name] for name in sorted({each.project for each in cases})}
    )
    found: dict[str, Any] = {}
    for name, some in parts.items():
        measured = measure_sessions(some, lambda case: surest[id(case)])
        found[name] = average(measured)
        found[name]["intervals"] = {figure: _spread(measured[figure]) for figure in ("recall", "reads", "precision")}
    return found


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    pick: Callable[[float], float] = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]  # noqa: E731
    return {"p50": pick(0.5), "p95": pick(0.95), "p99": pick(0.99), "most": ordered[-1]} if ordered else {}


def _show(result: dict[str, Any]) -> None:
    for part in ("first", "later", "development", "unseen"):
        print(f"\n{part} prompts, {result[part]['sessions']} with edits; tokens {result[part]['tokens']}")
        rows = [["rule", *FIGURES, "silent"]]
        rows += [
            _row(rule, found) for rule, found in result[part].items() if isinstance(found, dict) and "silent" in found
        ]
        table(rows)
    print("\nintervals, first prompts:", result["first"].get(SAID, {}).get("intervals"))
    print("of projects that were not looked at:", result["unseen"].get(SAID, {}).get("intervals"))
    rows = [["whole sessions", *SESSION_FIGURES]]
    rows += [
        [name, *("–" if found[each] is None else f"{found[each]:.2f}" for each in SESSION_FIGURES)]
        for name, found in result["sessions"].items()
    ]
    table(rows)
    print("intervals, whole sessions:", {part: result["sessions"][part]["intervals"] for part in ("all", "unseen")})
    rows = [["project", "sessions", *FIGURES, "silent"]]
    rows += [[_row(name, found[SAID])[0], str(found["sessions"]), *_row(name, found[SAID])[1:]]
             for name, found in result["projects"].items()]  # fmt: skip
    table(rows)
    print("seconds for one prompt:", result["seconds"])
    print("fitted on all:", result["fitted"])


def _row(name: str, found: dict[str, Any]) -> list[str]:
    return [name, *("–" if found[each] is None else f"{found[each]:.2f}" for each in (*FIGURES, "silent"))]
