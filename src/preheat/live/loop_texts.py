"""The advisory texts on loops: what is repeated, how often, and what would end it. Does not know how a loop is found."""

from collections.abc import Callable
from typing import Any, Literal

from preheat.calls.words import MASK
from preheat.live.loop_state import FailingCheck, Repeat, Retry, UnchangedOutput
from preheat.safe_text.reasons import order_reason

LoopKind = Literal["repeat", "retry", "cycle", "still"]


def _repeat(each: Repeat) -> str:
    end = (
        "Nothing was changed in between: one more would show the same."
        if each.looks
        else "One more would end the same way."
    )
    return f"`{quote_unless_order(each.what)}` was called {each.times} times with the same result. {end} What it said still stands above."


def _retry(retry: Retry) -> str:
    if retry.target:
        of = f"on `{quote_unless_order(retry.target)}` "
        hint = (
            "Its text as it is now, read once more and copied to the letter, or that part written anew, would end this."
        )
    else:
        of = ""
        hint = "Another form of the call may end this, another try of the same form would not."
    return f"{retry.times} calls of `{quote_unless_order(retry.tool)}` {of}failed in a row with `{_error(retry.what)}`. {hint}"


def _cycle(line: FailingCheck) -> str:
    begin = f"{line.times} rounds of change and `{quote_unless_order(line.what)}`"
    if line.back:
        return (
            f"{begin} ended where they began: `{_error(line.error)}` is back. The changes undo each other; what the errors in "
            "between have in common is worth a look before the next change."
        )
    return (
        f"{begin} ended with the same failure: `{_error(line.error)}`. The changes did not reach its cause; the values at the "
        "place it names, or the last changes undone, would show more than another variation."
    )


def _still(still: UnchangedOutput) -> str:
    return (
        f"`{quote_unless_order(still.what)}` printed the same {len(still.turns)} times, though files were changed before each run. What was "
        "changed may not be what runs: a print at its beginning, or the place it is imported from, would tell."
    )


TEXTS: dict[LoopKind, Callable[[Any], str]] = {
    "repeat": _repeat, "retry": _retry, "cycle": _cycle, "still": _still,
}  # fmt: skip


def quote_unless_order(text: str) -> str:
    """A text of a call or a tool for use in backticks; `…` if it reads like an instruction."""
    return "…" if order_reason(text) else text.replace("`", "'")


def _error(signature: str) -> str:
    return MASK.sub("…", quote_unless_order(signature))
