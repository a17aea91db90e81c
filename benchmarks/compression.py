"""What each compression strategy costs and keeps, over every real session of at least 50 calls.

The measure counts what `preheat.compress.proficiency` calls proficiency markers, and one of the strategies is made to keep them:
its shares say that it does what it promises, not that a model works better with it. The strategies with a small `keep` show
what the others keep where they leave about as few tokens.
"""

import statistics
import time
from typing import Any

from benchmarks.measuring import table
from benchmarks.real import real_sessions
from preheat.agents.openai_chat import to_messages
from preheat.app.analysis.assessment import assess
from preheat.compress import Compressed, compress
from preheat.compress.view import MARKER_KINDS
from preheat.model.session import ToolCall
from preheat.provisioning.tokens import estimate_tokens

LEAST_CALLS = 50
TRIED: tuple[tuple[str, int | None], ...] = (
    ("none", None), ("mask", None), ("mask", 0), ("headtail", None), ("headtail", 5), ("markers", None), ("markers", 0),
)  # fmt: skip


def run(quick: bool, data: str = "") -> dict[str, Any]:
    found: dict[tuple[str, int], list[Compressed]] = {}
    seconds = 0.0
    for real in real_sessions(not quick, data):
        session = real.session
        if sum(isinstance(event, ToolCall) for event in session.events) < LEAST_CALLS:
            continue
        assessed = assess(session)
        for strategy, keep in TRIED:
            started = time.perf_counter()
            compressed = compress(
                session,
                assessed.records,
                strategy,
                render=to_messages,
                estimate=estimate_tokens,
                keep=keep,
                references=assessed.profile.context_markers,
            )
            seconds += time.perf_counter() - started
            found.setdefault((strategy, compressed.keep), []).append(compressed)
    rows = [["strategy", "keep", "tokens", "left", "quartiles", "calls", *MARKER_KINDS]]
    result: dict[str, Any] = {}
    for (strategy, keep), sessions in found.items():
        figures = _figures(sessions)
        result[f"{strategy} {keep}"] = figures
        low, high = figures["ratio_quartiles"]
        rows.append(
            [
                strategy, str(keep), f"{figures['tokens_after']:,}", f"{figures['ratio']:.1%}", f"{low:.0%}–{high:.0%}",
                f"{figures['calls']:g}", *(f"{figures['kept'][sort]:.0%}" for sort in MARKER_KINDS),
            ]
        )  # fmt: skip
    table(rows)
    number = len(next(iter(found.values()), []))
    each = seconds / max(1, number * len(TRIED))
    print(f"{number} sessions; {each * 1000:.0f} ms for one, by one strategy")
    return {"sessions": number, "least_calls": LEAST_CALLS, "seconds_each": round(each, 4), "strategies": result}


def _figures(sessions: list[Compressed]) -> dict[str, Any]:
    """Medians over sessions; shares of all markers of a sort together."""
    ratios = sorted(each.ratio or 1.0 for each in sessions)
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    totals = {sort: sum(each.markers[sort].total for each in sessions) for sort in MARKER_KINDS}
    kept = {sort: sum(each.markers[sort].kept for each in sessions) for sort in MARKER_KINDS}
    return {
        "tokens_before": int(statistics.median(each.before for each in sessions)),
        "tokens_after": int(statistics.median(each.after for each in sessions)),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_quartiles": [round(quartiles[0], 4), round(quartiles[2], 4)],
        "calls": statistics.median(len(each.calls) for each in sessions),
        "kept": {sort: round(kept[sort] / totals[sort], 4) if totals[sort] else 0.0 for sort in MARKER_KINDS},
        "markers": totals,
    }
