"""Takes out what does not pay, and enters that into the ledger; brings it back when a person says so.

Knows no formula. Runs at the end of learning; loads the statistics only if lots were drawn.
"""

import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from preheat.app import trial_store as store
from preheat.archive import experiments as trials
from preheat.archive import lessons as kept
from preheat.archive.writer import writing
from preheat.errors import UserError
from preheat.experiments.retire import PAYS, TEMPLATE_PAYS, Withdrawal, new_ones, not_paying, standing
from preheat.model.experiment import Estimate, LedgerEntry

if TYPE_CHECKING:
    from preheat.statistics.items import Utility

_WITHDRAWN = "withdrawn by measurement: "


class Withdrawn(NamedTuple):
    """What learning took out."""

    lines: tuple[str, ...] = ()
    """What was withdrawn now, a sentence each; likewise what was only warned about."""
    warnings: tuple[str, ...] = ()


def utilities(connection: sqlite3.Connection) -> "list[Utility]":
    """What every item did that a lot was drawn for, with intervals that may be looked at as often as one learns."""
    lots = kept.exposures(connection)
    if not lots:
        return []
    from preheat.statistics.items import utilities as told

    return told(lots, kept.measured(connection, {lot.session for lot in lots}), margin=PAYS, always=True)


def withdraw(folder: str, connection: sqlite3.Connection, now: float | None = None) -> Withdrawn:
    """Take out what does not pay, and see to it that what was taken out stays out."""
    now = time.time() if now is None else now
    ledger = store.ledger(folder)
    marks = kept.marks(connection)
    pinned = [lesson for lesson, (mark, _) in marks.items() if mark == "pinned"]
    gone, warned = new_ones(not_paying(utilities(connection)), ledger, pinned)
    texts = {lesson.id: lesson.text for lesson in kept.lessons(connection)} if gone or warned else {}
    for each in gone:
        ledger.append(store.enter(folder, _entry(each, texts.get(each.item, ""), now)))
    out = [entry for entry in standing(ledger).values() if entry.kind == "withdrawn" and "@" not in entry.name]
    missing = [entry for entry in out if entry.name not in marks]
    if missing:
        with writing(connection):
            for entry in missing:
                kept.mark(connection, entry.name, "retired", _WITHDRAWN + entry.sentence, entry.at)
    lines = [f"withdrawn: {texts.get(each.item) or each.item}: {each.why}" for each in gone]
    lines += _templates(folder, connection, ledger, now)
    warnings = tuple(f"pinned, but {each.why}: {texts.get(each.item) or each.item}" for each in warned)
    return Withdrawn(tuple(lines), warnings)


def _entry(each: Withdrawal, text: str, now: float) -> LedgerEntry:
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
    """Note that a person wants an item that was withdrawn; whether it was."""
    last = standing(store.ledger(folder)).get(item)
    if last is None or last.kind != "withdrawn":
        return False
    now = time.time() if now is None else now
    sentence = "brought back by you; left alone until twice as many sessions speak against it"
    store.enter(
        folder,
        LedgerEntry(kind="brought back", at=now, name=item, sentence=sentence, sessions=last.sessions, text=last.text),
    )
    return True


# Templates that are loaded for a project.
def template_effects(connection: sqlite3.Connection, now: float) -> dict[str, Estimate]:
    """What each template did: warm against cold, among the sessions for which it was the one to give, whatever their arm."""
    given = trials.deliveries(connection)
    names = {each.template for each in given.values() if each.template}
    if not names:
        return {}
    from preheat.app.experiments import facts
    from preheat.experiments.measure import measured
    from preheat.experiments.report import compared

    every = [each for each in trials.assignments(connection) if each.root in given]
    went = facts(connection)
    found = {}
    for name in sorted(names):
        some = [each for each in every if given[each.root].template == name]
        found[name] = compared("misuse", measured(some, went, now), "cold")
    return found


def _templates(folder: str, connection: sqlite3.Connection, ledger: list[LedgerEntry], now: float) -> list[str]:
    """Unload the templates that do harm or nothing, by the interval that may be looked at as often as one learns."""
    last = standing(ledger)
    lines = []
    for name, each in template_effects(connection, now).items():
        low, high = each.always_low, each.always_high
        if low is None or high is None or each.difference is None or name in last:
            continue
        hurts = low > 0
        if not hurts and not (low > -TEMPLATE_PAYS and high < TEMPLATE_PAYS):
            continue
        says = "does harm" if hurts else "makes no difference that matters"
        why = (
            f"it {says}: {100 * each.difference:+.2f} mistakes per 100 calls (95 %, at every look, {100 * low:+.2f} to"
            f" {100 * high:+.2f}; {each.units[0]:,} warm and {each.units[1]:,} cold sessions)"
        )
        sessions = {"warm": each.units[0], "cold": each.units[1]}
        verdict = "hurts" if hurts else "no difference"
        projects = _unload(folder, name)
        store.enter(
            folder,
            LedgerEntry(
                kind="withdrawn", at=now, name=name, sentence=why, verdict=verdict, estimates=(each,), sessions=sessions
            ),
        )
        where = f", unloaded in {', '.join(projects)}" if projects else ""
        lines.append(f"withdrawn: template {name}: {why}{where}; `preheat warm load` brings it back")
    return lines


def _unload(folder: str, name: str) -> list[str]:
    from preheat.templates.loaded import pins, unload

    title, _, digest = name.partition("@")
    try:
        held = [project for project, pin in pins(folder).items() if pin.name == title and pin.digest.startswith(digest)]
        return [project for project in held if unload(folder, project) is not None]
    except UserError:
        return []
