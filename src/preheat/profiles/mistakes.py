"""Finds the mistakes that sessions make again and again, what they cost, and how they are usually put right.

Knows nothing of where failures are kept. Two failures are the same mistake when they come from the same family of tools
and their messages begin with the same eight words and end with the same three; masks, numbers and punctuation are no words.
Messages that differ only in the middle name different things, and are one mistake.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from preheat.calls.words import MASK, telling_words
from preheat.model.mistake import CostBy, Mistake, Mistakes, Occurrence
from preheat.model.outcome import CAUSES, Cause
from preheat.model.profile import FailureFact
from preheat.profiles.repairs import Steps, usual_repair

MISTAKEN: tuple[Cause, ...] = ("misuse", "environment")
"""Causes that count unless others are asked for: a failing test is work, not a mistake."""
LONGEST_TITLE = 200
_GAPS = re.compile(r"…(?:[\s:,/]*…)+")
_PREFIX = re.compile(r"(?:(?:fatal )?error|exception)\s*[:\-]\s+", re.IGNORECASE)

_Key = tuple[str, tuple[str, ...]]


def mistakes(
    failures: Iterable[FailureFact],
    *,
    by: CostBy = "calls",
    min_sessions: int = 2,
    causes: Sequence[Cause] = MISTAKEN,
    steps: Steps | None = None,
) -> Mistakes:
    """The failures that at least `min_sessions` sessions met, the dearest first.

    `steps` gives the calls from a failure to its recovery; without it a repair is known by its last call only.
    """
    groups: defaultdict[_Key, list[FailureFact]] = defaultdict(list)
    total = unnamed = 0
    for failure in failures:
        if failure.cause is None or failure.cause not in causes or failure.bookkeeping:
            continue
        total += 1
        words = telling_words(failure.signature)
        if words:
            groups[family_of(failure), words].append(failure)
        else:
            unnamed += 1
    found = [
        _mistake(key, group, steps)
        for key, group in groups.items()
        if len({failure.key for failure in group}) >= min_sessions
    ]
    found.sort(key=lambda each: (*_rank(each, by), each.id))
    return Mistakes(
        by=by,
        min_sessions=min_sessions,
        causes=tuple(causes),
        mistakes=tuple(found),
        calls=sum(each.calls for each in found),
        seconds=sum(each.seconds for each in found),
        tokens=sum(each.tokens for each in found),
        failures=total,
        unnamed=unnamed,
        sessions=len({session for each in found for session in each.sessions}),
    )


def family_of(failure: FailureFact) -> str:
    """The kind of tool, whatever an agent calls it; a tool of no kind is its own family."""
    return failure.tool if failure.kind == "other" else failure.kind


def _rank(mistake: Mistake, by: CostBy) -> tuple[float, ...]:
    costs = {"calls": float(mistake.calls), "minutes": mistake.seconds, "tokens": float(mistake.tokens)}
    return (-costs.pop(by), -float(len(mistake.sessions)), *(-cost for cost in costs.values()))


def _mistake(key: _Key, group: list[FailureFact], steps: Steps | None) -> Mistake:
    family, words = key
    causes = Counter(failure.cause for failure in group if failure.cause is not None)
    signatures = _commonest(failure.signature for failure in group)
    moments = [failure.at for failure in group if failure.at is not None]
    return Mistake(
        id="m" + blake2b("\0".join((family, *words)).encode("utf-8", "replace"), digest_size=3).hexdigest(),
        title=_title(signatures[0]),
        family=family,
        cause=max(CAUSES, key=lambda cause: causes[cause]),
        signatures=signatures,
        tools=_commonest(failure.tool for failure in group),
        calls=len(group),
        sessions=_commonest(failure.key for failure in group),
        seconds=sum(failure.lost_seconds for failure in group),
        tokens=sum(failure.lost_tokens for failure in group),
        agents=_commonest(failure.agent for failure in group),
        projects=_commonest(failure.project for failure in group if failure.project),
        first_seen=min(moments, default=None),
        last_seen=max(moments, default=None),
        recovered=sum(failure.recovered_in is not None for failure in group),
        repair=usual_repair(group, steps),
        occurrences=tuple(map(_occurrence, group)),
    )


def _title(signature: str) -> str:
    """The message on one line: gaps for what is masked, and without a word that only says that it is an error."""
    flat = " ".join(_GAPS.sub("…", MASK.sub("…", signature[: 4 * LONGEST_TITLE])).split())
    bare = _PREFIX.sub("", flat, count=1) if _PREFIX.match(flat) else flat
    flat = bare if bare.strip() else flat
    return flat if len(flat) <= LONGEST_TITLE else flat[: LONGEST_TITLE - 1] + "…"


def _commonest(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, the commonest first, then in their own order."""
    counts = Counter(values)
    return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def _occurrence(failure: FailureFact) -> Occurrence:
    return Occurrence(
        session=failure.key,
        seq=failure.seq,
        at=failure.at,
        tool=failure.tool,
        summary=failure.summary,
        seconds=failure.lost_seconds,
        tokens=failure.lost_tokens,
        recovered_in=failure.recovered_in,
        repair=failure.repair_summary or "",
    )
