"""Which items are withdrawn because experiments show that they do not help. Pure; knows no archive and no estimator.

An item costs every session some 35 tokens; a mistake costs some 370 (the median of the shared projects), and a session makes
about 50 calls (33 and 66 on average in two archives of shared sessions). So an item that saves less than 35 / 370 / 50, or 0.002
mistakes a call, is not worth its tokens: it is withdrawn when its whole credible interval is above that. For a pinned item there
is only a warning. An item that a person brought back is withdrawn again only after twice as many sessions.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from preheat.model.experiment import LedgerEntry

ITEM_MARGIN = 0.002
"""The mistakes per call that an item must save to be worth its tokens."""
TEMPLATE_MARGIN = 0.01
"""The same for a whole template: a smaller difference is none."""


class MeasuredItem(Protocol):
    """The measured effect of an item; below zero is good."""

    @property
    def item(self) -> str: ...
    @property
    def shown(self) -> int: ...
    @property
    def withheld(self) -> int: ...
    @property
    def effect(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class Withdrawal(NamedTuple):
    """An item that does not help, and why."""

    item: str
    why: str
    hurts: bool
    shown: int
    withheld: int


def find_useless(found: Iterable[MeasuredItem]) -> list[Withdrawal]:
    """The items that do harm or are not worth their tokens."""
    withdrawn = []
    for each in found:
        if each.effect is None or each.low is None or each.high is None or each.low <= -ITEM_MARGIN:
            continue
        hurts = each.low > 0
        finding = "it does harm" if hurts else "it spares too little to be worth reading"
        why = (
            f"{finding}: {100 * each.effect:+.2f} mistakes per 100 calls (95 %, at every look, {100 * each.low:+.2f} to"
            f" {100 * each.high:+.2f}; shown in {each.shown:,} sessions, withheld in {each.withheld:,})"
        )
        withdrawn.append(Withdrawal(each.item, why, hurts, each.shown, each.withheld))
    return withdrawn


def last_entries(ledger: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """The last entry of the ledger on each item, by item."""
    return {entry.name: entry for entry in ledger if entry.kind in ("withdrawn", "brought back")}


def new_withdrawals(
    found: Iterable[Withdrawal], ledger: Iterable[LedgerEntry], pinned: Iterable[str]
) -> tuple[list[Withdrawal], list[Withdrawal]]:
    """The items to withdraw now, and the pinned ones to warn about."""
    last = last_entries(ledger)
    pinned_items = frozenset(pinned)
    every = list(found)
    return (
        [each for each in every if each.item not in pinned_items and _is_new(each, last)],
        [each for each in every if each.item in pinned_items],
    )


def _is_new(each: Withdrawal, last: Mapping[str, LedgerEntry]) -> bool:
    entry = last.get(each.item)
    if entry is None:
        return True
    if entry.kind == "withdrawn":
        return False
    sessions_then = sum(entry.sessions.values())
    return each.shown + each.withheld >= 2 * max(1, sessions_then)
