"""Which items are withdrawn, which are only warned about, and which stay."""

from typing import NamedTuple

import pytest

from preheat.experiments.withdrawal import find_useless, last_entries, new_withdrawals
from preheat.model.experiment import LedgerEntry, LedgerKind


class Measured(NamedTuple):
    item: str
    shown: int = 90
    withheld: int = 10
    effect: float | None = 0.0
    low: float | None = -0.001
    high: float | None = 0.001


def entry(item: str, kind: LedgerKind, sessions: int = 100) -> LedgerEntry:
    return LedgerEntry(kind=kind, at=1.0, name=item, sentence="", sessions={"shown": sessions - 10, "withheld": 10})


@pytest.mark.parametrize(
    ("low", "high", "withdrawn"),
    [(0.001, 0.03, True), (-0.001, 0.001, True), (-0.001, 0.03, True), (-0.01, 0.03, False), (-0.03, -0.01, False),
     (None, None, False)],
)  # fmt: skip
def test_an_item_is_withdrawn_if_its_whole_interval_is_above_the_margin(
    low: float | None, high: float | None, withdrawn: bool
) -> None:
    """It does harm, nothing or too little. An item that may help stays, and so does one that was not measured."""
    found = find_useless([Measured("x", effect=None if low is None else 0.0, low=low, high=high)])
    assert bool(found) == withdrawn
    if withdrawn:
        assert found[0].hurts == (low is not None and low > 0)


def test_a_pinned_item_is_warned_about_and_one_brought_back_waits_for_twice_the_sessions() -> None:
    """An item that is withdrawn already is not withdrawn again."""
    found = find_useless(
        [Measured(name) for name in ("new", "pinned", "gone", "back")] + [Measured("again", shown=180, withheld=20)]
    )
    ledger = [
        entry("gone", "withdrawn"),
        entry("back", "withdrawn"),
        entry("back", "brought back"),
        entry("again", "brought back"),
    ]
    withdrawn, warned = new_withdrawals(found, ledger, ["pinned"])
    assert [each.item for each in withdrawn] == ["new", "again"]
    assert [each.item for each in warned] == ["pinned"]
    assert {name: last.kind for name, last in last_entries(ledger).items()} == {
        "gone": "withdrawn", "back": "brought back", "again": "brought back",
    }  # fmt: skip
