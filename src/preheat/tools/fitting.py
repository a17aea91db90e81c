"""Keeps answers short: how many rows fit, and what is said of the rest. Knows no tool.

A tool that has more than fits says so itself, with how to get more. `bounded` is for what no tool foresaw.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.app.context.model_text import estimate_tokens
from preheat.tools.tool import MOST_TOKENS

LEAST, MOST = 200, 20_000
"""Bounds of `max_tokens`."""
MAX_TOKENS = {
    "type": "integer",
    "minimum": LEAST,
    "maximum": MOST,
    "description": f"Length of the answer; default {MOST_TOKENS:,}.",
}
OFFSET = {"type": "integer", "minimum": 0, "description": "Skip this many rows, to continue an earlier answer."}
_CUTS = ((4000, 200), (1500, 60), (600, 25), (250, 10), (120, 5), (60, 3))
_DEPTH = 8


def count_tokens(value: Any) -> int:
    """Tokens of a value as JSON."""
    return estimate_tokens(json_text(value))


def json_text(value: Any) -> str:
    """A value as JSON on one line."""
    return msgspec.json.encode(value).decode()


def fit_rows(name: str, rows: Sequence[Any], arguments: dict[str, Any], taken: int = 0) -> dict[str, Any]:
    """The rows that fit into the answer (at least one), and how to get the rest. `taken`: tokens of the rest of the answer."""
    start = arguments.get("offset", 0)
    room = arguments.get("max_tokens", MOST_TOKENS) - taken - 60
    fitting: list[Any] = []
    for row in rows[start:]:
        room -= count_tokens(row)
        if fitting and room < 0:
            break
        fitting.append(row)
    left = len(rows) - start - len(fitting)
    answer: dict[str, Any] = {name: fitting}
    if left > 0:
        answer["left_out"] = left
        answer["more"] = (
            f"the same with `offset` {start + len(fitting)} gives the next; `max_tokens` gives more at once"
        )
    elif start and not fitting:
        answer["more"] = f"there are only {len(rows):,}; a smaller `offset` gives some"
    return answer


def shorten_answer(answer: dict[str, Any], most: int) -> dict[str, Any]:
    """The answer within `most` tokens, whatever is in it; if it was cut, it says so."""
    if count_tokens(answer) <= most:
        return answer
    for letters, rows in _CUTS:
        cut = {
            **_cut(answer, letters, rows, _DEPTH),
            "cut": f"too long: lists end after {rows}, texts after {letters} characters; ask for less at once",
        }
        if count_tokens(cut) <= most:
            return cut
    return {
        "success": answer.get("success") is True,
        "cut": "the answer is far too long; ask for less at once",
    }


def _cut(value: Any, letters: int, rows: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= letters else f"{value[: letters - 1]}…"
    if not isinstance(value, dict | list):
        return value
    if not depth:
        return "…"
    if isinstance(value, list):
        return [_cut(each, letters, rows, depth - 1) for each in value[:rows]]
    return {name[:100]: _cut(each, letters, rows, depth - 1) for name, each in list(value.items())[: max(rows, 12)]}
