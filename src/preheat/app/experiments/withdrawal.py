"""Withdraws items and templates that do not help, enters that into the ledger, and brings items back when a person wants them.

Knows no formula. Runs at the end of learning; loads the statistics only if anything was assigned.
"""

import time
from typing import TYPE_CHECKING, NamedTuple

from preheat.app.experiments.records import has_assignments
from preheat.app.lazy import LazyModule
from preheat.app.templates.uses import load_pins, unload_template
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.errors import UserError
from preheat.experiments.withdrawal import TEMPLATE_MARGIN, Withdrawal, find_useless, last_entries, new_withdrawals
from preheat.model.experiment import LedgerEntry
from preheat.state import ledger, marks
from preheat.state.connect import reading, writing

if TYPE_CHECKING:
    from preheat.app.experiments import results as _results
else:
    _results = LazyModule("preheat.app.experiments.results")  # numpy and scipy

_REASON = "withdrawn by measurement: "


class WithdrawalReport(NamedTuple):
    """What was withdrawn."""

    lines: tuple[str, ...] = ()
    """What was withdrawn now, a sentence each."""
    warnings: tuple[str, ...] = ()
    """Pinned items that do not help, a sentence each: they are not withdrawn."""


def items_brought_back(folder: str) -> frozenset[str]:
    """Items that were withdrawn and that a person brought back."""
    with reading(folder) as state:
        entries = ledger.load_entries(state)
    return frozenset(name for name, entry in last_entries(entries).items() if entry.kind == "brought back")


def withdraw(folder: str, archive: ArchiveConnection, now: float | None = None) -> WithdrawalReport:
    """Withdraw what does not help, and retire again what was withdrawn before."""
    if not has_assignments(folder):
        return WithdrawalReport()
    now = time.time() if now is None else now
    with reading(folder) as state:
        entries, marked = ledger.load_entries(state), marks.marks(state)
    pinned = [lesson for lesson, mark in marked.items() if mark.mark == "pinned"]
    withdrawals, pinned_ones = new_withdrawals(find_useless(_results.measure_items(archive)), entries, pinned)
    texts = {lesson.id: lesson.text for lesson in load_lessons(archive)} if withdrawals or pinned_ones else {}
    with writing(folder) as state:
        entries += [ledger.add_entry(state, _ledger_entry(each, texts.get(each.item, ""), now)) for each in withdrawals]
        for entry in last_entries(entries).values():
            if entry.kind == "withdrawn" and "@" not in entry.name and entry.name not in marked:
                marks.set_mark(state, entry.name, "retired", _REASON + entry.sentence, entry.at)
    lines = [f"withdrawn: {texts.get(each.item) or each.item}: {each.why}" for each in withdrawals]
    lines += _withdraw_templates(folder, archive, entries, now)
    warnings = tuple(f"pinned, but {each.why}: {texts.get(each.item) or each.item}" for each in pinned_ones)
    return WithdrawalReport(tuple(lines), warnings)


def _ledger_entry(each: Withdrawal, text: str, now: float) -> LedgerEntry:
    return LedgerEntry(
        kind="withdrawn",
        at=now,
        name=each.item,
        sentence=each.why,
        verdict="hurts" if each.hurts else "no difference",
        sessions={"shown": each.shown, "withheld": each.withheld},
        text=text,
    )


def bring_back(folder: str, item: str, now: float | None = None) -> bool:
    """Enter into the ledger that a person brought a withdrawn item back; whether it was withdrawn."""
    with reading(folder) as state:
        last = last_entries(ledger.load_entries(state)).get(item)
    if last is None or last.kind != "withdrawn":
        return False
    now = time.time() if now is None else now
    sentence = "brought back by you; left alone until twice as many sessions speak against it"
    entry = LedgerEntry(
        kind="brought back", at=now, name=item, sentence=sentence, sessions=last.sessions, text=last.text
    )
    with writing(folder) as state:
        ledger.add_entry(state, entry)
    return True


# Templates that are loaded for a project.
def _withdraw_templates(folder: str, archive: ArchiveConnection, entries: list[LedgerEntry], now: float) -> list[str]:
    """Unload the templates that do harm or nothing, by the interval that holds at every look."""
    last = last_entries(entries)
    lines = []
    for name, estimate in _results.measure_templates(archive, now).items():
        low, high = estimate.always_low, estimate.always_high
        if low is None or high is None or estimate.difference is None or name in last:
            continue
        hurts = low > 0
        if not hurts and not (low > -TEMPLATE_MARGIN and high < TEMPLATE_MARGIN):
            continue
        effect = "does harm" if hurts else "makes no difference that matters"
        why = (
            f"it {effect}: {100 * estimate.difference:+.2f} mistakes per 100 calls (95 %, at every look, {100 * low:+.2f} to"
            f" {100 * high:+.2f}; {estimate.units[0]:,} warm and {estimate.units[1]:,} cold sessions)"
        )
        sessions = {"warm": estimate.units[0], "cold": estimate.units[1]}
        verdict = "hurts" if hurts else "no difference"
        projects = _unload(folder, name)
        entry = LedgerEntry(
            kind="withdrawn", at=now, name=name, sentence=why, verdict=verdict, estimates=(estimate,), sessions=sessions
        )
        with writing(folder) as state:
            ledger.add_entry(state, entry)
        where = f", unloaded in {', '.join(projects)}" if projects else ""
        lines.append(f"withdrawn: template {name}: {why}{where}; `preheat templates load` brings it back")
    return lines


def _unload(folder: str, name: str) -> list[str]:
    title, _, digest = name.partition("@")
    try:
        loaded = [
            project for project, pin in load_pins(folder).items() if pin.name == title and pin.digest.startswith(digest)
        ]
        return [project for project in loaded if unload_template(folder, project) is not None]
    except UserError:
        return []
