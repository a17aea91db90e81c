"""The measures that speak for a file, each from 0 to 1, for every file that any of them brings in. Knows no weights."""

import math
import re
from collections.abc import Collection, Mapping

from preheat.model.orientation import TouchedFiles
from preheat.model.tree import NO_EVIDENCE, FileEvidence, NamedBy, TreeEvidence
from preheat.orientation.history import History, Similar
from preheat.orientation.prompt import pairs_of
from preheat.terms import split, tokens_of

Measures = dict[str, float]

MEASURES = (
    "named", "symbol", "content", "content_place", "path", "name_share", "whole_name", "name_run",
    "similar", "similar_total", "branch", "recent", "frequent", "known", "committed", "commits", "titles", "titles_total",
    "changed_with", "together", "twin", "folder", "test",
    "document",
)  # fmt: skip
"""The order in which the weights have them."""

_NAMED: dict[NamedBy, float] = {"path": 1.0, "suffix": 0.9, "name": 0.75, "stem": 0.4, "": 0.0}
_DAYS = 14.0
"""After so many days a commit counts for a third."""
_SEEDS = 6
"""Files that stand out at first sight: others may belong to them."""
_OPENED_WEIGHT, _EDITED_WEIGHT = 2.0, 4.0
_TEST = re.compile(r"(?i)(?:^|/)(?:tests?|specs?|__tests__|e2e)/|[_.-](?:test|spec)s?\.|(?:^|/)test_")
_DOCUMENT = re.compile(r"(?i)\.(?:mdx?|txt|rst|adoc)$")
_TEST_NAME = re.compile(r"(?i)[_.-]?(?:tests?|specs?)(?![a-z])[_.-]?")
_NAMING_PARTS = 3
"""Parts of a path, the last ones, whose words are compared as they follow each other."""
_CITED_WHOLE = 10
"""Files up to which each one that a document names counts whole."""
_MOST_FREQUENT = 60
"""Files that come in because they were used often or lately, of each."""


def measure_files(
    terms: Mapping[str, float],
    history: History,
    similar: list[Similar],
    evidence: TreeEvidence,
    touched: TouchedFiles,
    branch: str,
    runs: Collection[tuple[str, str]] = (),
    cited: TreeEvidence = NO_EVIDENCE,
) -> dict[str, Measures]:
    """Every measure of every file that one of them brings in. `runs` are words that follow each other in the prompt; `cited` is
    what the tree says about a document that the prompt refers to."""
    found: dict[str, Measures] = {}
    _add_tree(found, evidence)
    _add_cited(found, cited)
    _add_history(found, history, similar, branch)
    for path in found:
        found[path].update(_measure_name(path, terms, runs))
    _add_neighbours(found, history, touched)
    return {path: measures for path, measures in found.items() if path not in touched.opened}


def _set(found: dict[str, Measures], path: str, name: str, value: float) -> None:
    found.setdefault(path, {})[name] = value


def _add_scaled(found: dict[str, Measures], name: str, values: Mapping[str, float]) -> None:
    most = max(values.values(), default=0.0)
    for path, value in values.items():
        if value > 0:
            _set(found, path, name, value / most)


def _add_tree(found: dict[str, Measures], evidence: TreeEvidence) -> None:
    for each in evidence.files:
        _set(found, each.path, "named", _NAMED[each.named_by])
        _set(found, each.path, "symbol", _measure_symbols(each))
        if each.days_since_change is not None:
            _set(found, each.path, "committed", math.exp(-each.days_since_change / _DAYS))
    _add_scaled(found, "content", {each.path: each.content_score for each in evidence.files})
    _add_scaled(found, "path", {each.path: each.path_score for each in evidence.files})
    _add_scaled(found, "commits", {each.path: float(each.commits) for each in evidence.files})
    _add_scaled(found, "changed_with", {each.path: float(each.changed_with) for each in evidence.files})
    _add_scaled(found, "titles", {each.path: each.title_score for each in evidence.files})
    for each in evidence.files:
        _set(found, each.path, "titles_total", min(1.0, each.title_score))
    ordered = sorted(evidence.files, key=lambda each: (-each.content_score, each.path))
    for place, each in enumerate(ordered):
        if each.content_score > 0:
            _set(found, each.path, "content_place", 1 / math.sqrt(1 + place))


def _add_cited(found: dict[str, Measures], cited: TreeEvidence) -> None:
    """What a document names counts as if the prompt had named it; less if it names many."""
    named = {each.path: _NAMED[each.named_by] for each in cited.files if each.named_by not in ("", "stem")}
    share = min(1.0, _CITED_WHOLE / len(named)) if named else 0.0
    for path, value in named.items():
        _set(found, path, "named", max(value * share, found.get(path, {}).get("named", 0.0)))


def _measure_symbols(evidence: FileEvidence) -> float:
    return max((match.rarity * (1.0 if match.is_exact else 0.5) for match in evidence.symbols), default=0.0)


def _add_history(found: dict[str, Measures], history: History, similar: list[Similar], branch: str) -> None:
    sums: dict[str, float] = {}
    for each in similar:
        for path, weight in history.files[each.place].items():
            sums[path] = sums.get(path, 0.0) + each.similarity * weight
    _add_scaled(found, "similar", sums)
    for path, value in sums.items():
        _set(found, path, "similar_total", min(1.0, value))
    for path, value in history.files_of_branch(branch).items():
        _set(found, path, "branch", value)
    for values in (history.recent, history.frequent):
        for path in sorted(values, key=lambda path: (-values[path], path))[:_MOST_FREQUENT]:
            found.setdefault(path, {})
    most = max(history.frequent.values(), default=0.0)
    for path in found:
        if path in history.recent:
            _set(found, path, "recent", history.recent[path])
            _set(found, path, "frequent", history.frequent[path] / most)
            _set(found, path, "known", 1.0)


def _measure_name(path: str, terms: Mapping[str, float], runs: Collection[tuple[str, str]]) -> Measures:
    name = path.rpartition("/")[2].partition(".")[0] or path.rpartition("/")[2]
    run_count = sum(pair in runs for part in path.split("/")[-_NAMING_PARTS:] for pair in pairs_of(part)) if runs else 0
    words = {term for token in tokens_of(name) for term in split(token) if "_" not in term}
    share = sum(word in terms for word in words) / len(words) if words else 0.0
    return {
        "name_share": share,
        "whole_name": float(share == 1.0),
        "name_run": min(1.0, run_count / 2),
        "test": float(bool(_TEST.search(path))),
        "document": float(bool(_DOCUMENT.search(path))),
    }


def _add_neighbours(found: dict[str, Measures], history: History, touched: TouchedFiles) -> None:
    seeds = _choose_seeds(found, touched)
    total = sum(seeds.values())
    if not total:
        return
    _add_scaled(found, "together", history.used_together(seeds))
    folders: dict[str, float] = {}
    names: dict[str, float] = {}
    for path, weight in seeds.items():
        folder = path.rpartition("/")[0]
        folders[folder] = folders.get(folder, 0.0) + weight / total
        names[_bare_name(path)] = max(weight / max(seeds.values()), names.get(_bare_name(path), 0.0))
    for path, measures in found.items():
        measures["folder"] = folders.get(path.rpartition("/")[0], 0.0)
        if path not in seeds or measures.get("test"):
            measures["twin"] = names.get(_bare_name(path), 0.0)
        measures.setdefault("test", float(bool(_TEST.search(path))))
        measures.setdefault("document", float(bool(_DOCUMENT.search(path))))


def _choose_seeds(found: Mapping[str, Measures], touched: TouchedFiles) -> dict[str, float]:
    """The files that stand out at first sight, and those that the session has touched."""
    sights = {path: _judge_at_sight(measures) for path, measures in found.items()}
    first = sorted(sights, key=lambda path: (-sights[path], path))[:_SEEDS]
    seeds = {path: sights[path] for path in first}
    for path in touched.opened:
        weight = _EDITED_WEIGHT if path in touched.edited else _OPENED_WEIGHT
        seeds[path] = max(weight, seeds.get(path, 0.0))
    return seeds


def _judge_at_sight(measures: Measures) -> float:
    get = measures.get
    return (
        3 * get("named", 0.0) + 1.5 * get("symbol", 0.0) + 1.2 * get("content", 0.0) + 1.2 * get("similar", 0.0)
        + 0.8 * get("path", 0.0) + 0.4 * get("whole_name", 0.0) + 0.3 * get("recent", 0.0)
    )  # fmt: skip


def _bare_name(path: str) -> str:
    """The name of a file without its ending and without what makes it a test."""
    return _TEST_NAME.sub("", path.rpartition("/")[2].partition(".")[0]).lower()
