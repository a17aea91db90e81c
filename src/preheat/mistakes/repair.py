"""Says how a mistake is usually put right: the form that the calls which recovered from it share.

Knows nothing of where calls are kept. A recovery is the first success of the same intent within five calls (`calls.intent`);
that call and what was done on the way to it are the repair. What came out of tools is never looked at: only calls are.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

from preheat.calls.files import base_name
from preheat.calls.form import form
from preheat.calls.shell import told
from preheat.model.mistake import Repair, Step
from preheat.model.profile import FailureFact

FEWEST = 2
"""Recoveries that must look alike before they are called usual."""
_COMPARED = 30
"""Pairs of a failed and a successful call that are looked through for an example, the shortest ones."""
_ALIKE = 0.6
_LOOKING = frozenset(["read", "search", "list", "poll", "other"])


Steps: TypeAlias = Callable[[str, int, int], Sequence[Step]]
"""By the key of a session, the calls from one place to another, both included."""


def usual_repair(failures: Sequence[FailureFact], steps: Steps | None) -> Repair | None:
    """What put most of these right; None when no two recoveries look alike."""
    ways: defaultdict[str, list[tuple[FailureFact, list[Step]]]] = defaultdict(list)
    for failure in failures:
        way = _way(failure, steps)
        if way:
            ways[form(way[-1])].append((failure, way))
    if not ways:
        return None
    last, cases = max(ways.items(), key=lambda item: (len(item[1]), item[0]))
    if len(cases) < FEWEST:
        return None
    shared = [name for name in _shared([(failure, way[:-1]) for failure, way in cases]) if name != last]
    failed, worked = _example(cases)
    if not shared and failures[0].kind != "shell":
        last += " with other arguments"  # the same tool, or there would have been no recovery
    return Repair(
        form=" → ".join((*shared, last)),
        count=len(cases),
        failed=failed,
        worked=worked,
    )


def _way(failure: FailureFact, steps: Steps | None) -> list[Step]:
    if failure.recovered_in is None:
        return []
    if steps is not None:
        return list(steps(failure.key, failure.seq + 1, failure.seq + failure.recovered_in))
    if failure.repair_tool is None:
        return []
    kind = failure.kind if failure.repair_tool == failure.tool else "other"
    return [Step(failure.repair_tool, kind, failure.repair_summary or "")]


def _shared(cases: Iterable[tuple[FailureFact, list[Step]]]) -> list[str]:
    """What at least half of the cases did on the way: reads of the file that the failed call was about, and commands."""
    total = 0
    counts: Counter[str] = Counter()
    for failure, way in cases:
        total += 1
        counts.update({form(step) for step in way if _belongs(step, failure)})
    return [name for name, number in counts.most_common(2) if number >= FEWEST and 2 * number >= total]


def _belongs(step: Step, failure: FailureFact) -> bool:
    if step.kind == "shell":  # only looking around mends nothing
        return failure.kind == "shell" and told(step.summary)[0] not in _LOOKING
    about = base_name(failure.summary)
    return bool(about) and about == base_name(step.summary)


def _example(cases: Sequence[tuple[FailureFact, list[Step]]]) -> tuple[str, str]:
    """The failed and the successful call that differ least, but do differ: there the repair can be seen. Two empty texts
    if they have nothing in common anywhere."""
    pairs = {(failure.summary, way[-1].summary) for failure, way in cases if failure.summary != way[-1].summary}
    shortest = sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), pair))[:_COMPARED]
    best = max(shortest, key=_likeness, default=("", ""))
    return best if _likeness(best) >= _ALIKE else ("", "")


def _likeness(pair: tuple[str, str]) -> float:
    return SequenceMatcher(None, pair[0], pair[1], autojunk=False).ratio() if all(pair) else 0.0
