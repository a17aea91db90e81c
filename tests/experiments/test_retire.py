"""What is withdrawn, what is only warned about, and what is left alone."""

from typing import NamedTuple

import pytest

from preheat.experiments.withdrawal import find_useless, last_entries, new_withdrawals
from preheat.model.experiment import LedgerEntry, LedgerKind


class Told(NamedTuple):
    item: str
    shown: int = 90
    withheld: int = 10
    effect: float | None = 0.0
    low: float | None = -0.001
    high: float | None = 0.001


def line(item: str, kind: LedgerKind, sessions: int = 100) -> LedgerEntry:
    return LedgerEntry(kind=kind, at=1.0, name=item, sentence="", sessions={"shown": sessions - 10, "withheld": 10})


@pytest.mark.parametrize(
    ("low", "high", "gone"),
    [(0.001, 0.03, True), (-0.001, 0.001, True), (-0.001, 0.03, True), (-0.01, 0.03, False), (-0.03, -0.01, False),
     (None, None, False)],
)  # fmt: skip
def test_what_surely_does_not_pay_is_withdrawn(low: float | None, high: float | None, gone: bool) -> None:
    """Harm, nothing, or at best too little: the whole interval is above what an item must spare. What may help stays, and so
    does what was not measured."""
    found = find_useless([Told("x", effect=None if low is None else 0.0, low=low, high=high)])
    assert bool(found) == gone
    if gone:
        assert found[0].hurts == (low is not None and low > 0)
        assert "mistakes per 100 calls" in found[0].why


def test_a_person_has_the_last_word() -> None:
    """Pinned: warned about only. Withdrawn already: not entered again. Brought back: left alone until twice as many speak."""
    found = find_useless(
        [Told(name) for name in ("new", "pinned", "gone", "back")] + [Told("again", shown=180, withheld=20)]
    )
    ledger = [
        line("gone", "withdrawn"),
        line("back", "withdrawn"),
        line("back", "brought back"),
        line("again", "brought back"),
    ]
    gone, warned = new_withdrawals(found, ledger, ["pinned"])
    assert [each.item for each in gone] == ["new", "again"]
    assert [each.item for each in warned] == ["pinned"]
    assert {name: entry.kind for name, entry in last_entries(ledger).items()} == {
        "gone": "withdrawn", "back": "brought back", "again": "brought back",
    }  # fmt: skip
