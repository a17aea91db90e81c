"""What is withdrawn because it does not pay, by what lots have shown. Pure; knows no archive and no estimator.

An item costs every session some 35 tokens to read; a mistake costs some 370 (the median of the shared projects), and a session
makes about 50 calls (33 and 66 on the average in two archives of shared sessions): what surely spares less than 35 / 370 / 50,
or 0.002 mistakes a call, does not pay. So an item is withdrawn when the whole of its credible interval is above that: because it
does harm, or because it does nothing that is worth its tokens. What a person pinned is only warned about. What a person brought
back is left alone until twice as many sessions speak.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from preheat.model.experiment import LedgerEntry

PAYS = 0.002
"""Mistakes per call that an item must spare to be worth reading."""
TEMPLATE_PAYS = 0.01
"""The same for a whole template: a difference within this is none."""


class Shown(Protocol):
    """What lots have shown of an item: below zero is good."""

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
    """An item that does not pay."""

    item: str
    why: str
    hurts: bool
    shown: int
    withheld: int


def not_paying(found: Iterable[Shown]) -> list[Withdrawal]:
    """The items that do harm or are not worth their tokens."""
    withdrawn = []
    for each in found:
        if each.effect is None or each.low is None or each.high is None or each.low <= -PAYS:
            continue
        hurts = each.low > 0
        says = "it does harm" if hurts else "it spares too little to be worth reading"
        why = (
            f"{says}: {100 * each.effect:+.2f} mistakes per 100 calls (95 %, at every look, {100 * each.low:+.2f} to"
            f" {100 * each.high:+.2f}; shown in {each.shown:,} sessions, withheld in {each.withheld:,})"
        )
        withdrawn.append(Withdrawal(each.item, why, hurts, each.shown, each.withheld))
    return withdrawn


def standing(ledger: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """By item, the last line of the ledger on it."""
    return {entry.name: entry for entry in ledger if entry.kind in ("withdrawn", "brought back")}


def new_ones(
    found: Iterable[Withdrawal], ledger: Iterable[LedgerEntry], pinned: Iterable[str]
) -> tuple[list[Withdrawal], list[Withdrawal]]:
    """Those that are to be withdrawn now, and those that a person pinned and is warned about."""
    last = standing(ledger)
    held = frozenset(pinned)
    every = list(found)
    return (
        [each for each in every if each.item not in held and _again(each, last)],
        [each for each in every if each.item in held],
    )


def _again(each: Withdrawal, last: Mapping[str, LedgerEntry]) -> bool:
    entry = last.get(each.item)
    if entry is None:
        return True
    if entry.kind == "withdrawn":
        return False
    then = sum(entry.sessions.values())
    return each.shown + each.withheld >= 2 * max(1, then)
