"""What the lots have shown: the trial's files and the archive together, measured, and told.

Knows no formula: those are in `statistics`, which is loaded by whoever asks for a result.
"""

import os
import sqlite3
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from preheat.app import trial_store as store
from preheat.app.trials import take_in
from preheat.archive import experiments as kept
from preheat.archive.connect import connect
from preheat.errors import NotFound, UserError
from preheat.experiments.plan import called, overlap, standing
from preheat.model.experiment import STANDING, LedgerEntry, Plan, Rating, Went
from preheat.settings import archive_path

if TYPE_CHECKING:
    from preheat.experiments.measure import Measured
    from preheat.experiments.report import Report
    from preheat.model.experiment import Estimate, MetricName
    from preheat.statistics.power import Plan as Sessions

NEXT = 5
"""Calls after an advisory in which it should show."""
_WEEK = 7 * 86400.0


def facts(connection: sqlite3.Connection) -> list[Went]:
    """How every session went."""
    return kept.went(connection, _corrections(connection))


def _corrections(connection: sqlite3.Connection) -> dict[str, int]:
    """By session: the sentences of a person that read like a rule, as far as learning has noted them."""
    from preheat.archive import notes
    from preheat.lessons.conventions import LEARN_CONVENTIONS

    if LEARN_CONVENTIONS.notes is None:
        return {}
    decoder = msgspec.msgpack.Decoder(LEARN_CONVENTIONS.notes)
    name = LEARN_CONVENTIONS.name
    sessions = [session for _, session, _, _ in notes.stamps(connection, name)]
    return {page.session: len(decoder.decode(page.data).rules) for page in notes.kept(connection, name, sessions)}


# Plans.
def running(folder: str) -> list[tuple[str, Plan]]:
    return [(name, plan) for name, plan, stopped in store.plans(folder) if stopped is None]


def begin(folder: str, plan: Plan) -> str:
    """Start a plan; its name with digest. Raises UserError where another one is in its way."""
    for name, other in running(folder):
        if overlap(plan, other):
            raise UserError(
                f"`{other.name}` runs, and a session can be in one experiment only; `preheat experiment stop {other.name}`"
                f" ends it ({name})"
            )
    for _, other, _ in store.plans(folder):
        if other.name == plan.name:
            raise UserError(
                f"there was an experiment `{plan.name}` already; `preheat ledger` shows it; take another name"
            )
    store.make_key(folder)
    name = called(plan)
    store.start(folder, name, plan)
    return name


def find(folder: str, wanted: str) -> tuple[str, Plan, float | None]:
    """A plan by its name; without one the one that runs, else the standing one."""
    every = store.plans(folder)
    if not wanted:
        found = [each for each in every if each[2] is None]
        if len(found) > 1:
            raise UserError(f"several run: {', '.join(f'`{plan.name}`' for _, plan, _ in found)}; name one")
        if found:
            return found[0]
        wanted = STANDING
    if wanted == STANDING:
        return STANDING, _standing(folder), None
    for each in every:
        if wanted in (each[0], each[1].name):
            return each
    raise NotFound(f"no experiment `{wanted}`; `preheat experiment list` shows them")


def _standing(folder: str) -> Plan:
    from preheat.app.assignment import lots_in

    return standing(lots_in(folder).holdout)


# Results.
def _measured(
    folder: str, connection: sqlite3.Connection, experiment: str, plan: Plan, stopped: float | None, now: float
) -> "Measured":
    """What there is to compare for a plan."""
    from preheat.experiments.measure import measured

    take_in(folder, connection)
    every = kept.assignments(connection)
    ours = [each for each in every if each.experiment == experiment]
    elsewhere = [each.session for each in every if each.experiment != experiment]
    return measured(ours, facts(connection), now, plan.at, stopped, elsewhere)


def report(folder: str, wanted: str = "", now: float | None = None) -> "Report":
    """What a plan has shown so far."""
    return _reported(folder, *find(folder, wanted), time.time() if now is None else now)


def _reported(folder: str, experiment: str, plan: Plan, stopped: float | None, now: float) -> "Report":
    from preheat.experiments.report import report as told

    connection = _opened(folder)
    try:
        found = _measured(folder, connection, experiment, plan, stopped, now)
        given = kept.deliveries(connection)
    finally:
        connection.close()
    shown = told(experiment, plan, found, given, stopped, drawing=store.key(folder) is not None)
    damage = tuple(store.plans_damage(folder))
    return msgspec.structs.replace(shown, problems=(*damage, *shown.problems)) if damage else shown


def end(folder: str, wanted: str = "", now: float | None = None) -> "tuple[Report, LedgerEntry]":
    """Stop a plan and enter what it has shown into the ledger, whatever that is."""
    now = time.time() if now is None else now
    experiment, plan, stopped = find(folder, wanted)
    if plan.standing:
        raise UserError(
            f"nothing runs but the standing holdout; `holdout = 0` below `[experiment]` in "
            f"`{os.path.join(folder, 'settings.toml')}` turns that off"
        )
    if stopped is not None:
        raise UserError(
            f"`{plan.name}` was stopped already; `preheat experiment report {plan.name}` shows what it showed"
        )
    connect(folder).close()  # without an archive there is nothing to tell, and that is entered, too
    found = _reported(folder, experiment, plan, now, now)
    entry = LedgerEntry(
        kind="experiment",
        at=now,
        name=plan.name,
        sentence=found.sentence,
        verdict=found.verdict,
        plan=plan,
        digest=experiment.partition("@")[2],
        estimates=found.estimates,
        problems=found.problems,
        sessions=found.drawn,
    )
    store.stop(folder, experiment, now)
    return found, store.enter(folder, entry)


def rated(folder: str, session: str, good: bool, note: str, now: float | None = None) -> Rating:
    """Keep what a person thought of a session."""
    rating = Rating(session=session, good=good, at=time.time() if now is None else now, note=note)
    store.rate(folder, rating)
    return rating


def _opened(folder: str) -> sqlite3.Connection:
    if not os.path.exists(archive_path(folder)):
        raise UserError(f"there is no archive in `{folder}` yet; `preheat sync` makes one")
    return connect(folder)


# How many sessions it takes.
def power(
    folder: str, metric: "MetricName", margin: float, share: float, wanted: float, now: float | None = None
) -> "Needed":
    """What a comparison needs to see a difference of `margin`, drawn from the sessions of the archive; `share` of them cold.
    The difference is an improvement (fewer, or for success and ratings more); where the metric has no room for that, as large a
    loss."""
    from preheat.experiments.measure import each_alone
    from preheat.statistics.conclude import words_of
    from preheat.statistics.power import plan, with_room

    connection = _opened(folder)
    try:
        take_in(folder, connection)
        went = facts(connection)
    finally:
        connection.close()
    units = each_alone(metric, went)
    better = margin if words_of(metric).better == "higher" else -margin
    effect = with_room(units, better)
    found = plan(units, effect=effect, share=1 - share, power=wanted)
    counted = {each.session for each in units if each.below > 0}
    a_week = _a_week((each for each in went if each.session in counted), time.time() if now is None else now)
    return Needed(plan=found, metric=metric, worse=effect != better, a_week=a_week)


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs, and how long that takes here."""

    metric: str
    plan: "Sessions"
    worse: bool
    """The metric cannot get better by as much: the plan is for getting worse."""
    a_week: float
    """Sessions that began in a week, over the last four, and that had something to count."""

    @property
    def weeks(self) -> float | None:
        return self.plan.sessions / self.a_week if self.a_week else None


def wider(sessions: int) -> float:
    """How much wider the interval is that holds at every look, with so many sessions."""
    from preheat.statistics.sequence import errors_to_hold
    from preheat.statistics.spread import quantile

    return float(errors_to_hold(float(sessions), float(sessions)) / quantile(float(sessions), 0.05))


def _a_week(went: Iterable[Went], now: float) -> float:
    return sum(now - 4 * _WEEK < (each.started_at or 0.0) <= now for each in went) / 4


# What advice does.
def advice(connection: sqlite3.Connection) -> tuple["Estimate", int]:
    """What saying something does to the mistakes in the next calls, from what was withheld by lot; and of how many moments it
    cannot be told, because the archive has no calls after them that say when they were made."""
    from preheat.statistics.excursion import Moment, excursion

    moments: list[Moment] = []
    untold = 0
    calls: dict[str, list[tuple[float, bool]]] = {}
    for lot in kept.advice_lots(connection):
        if lot.session not in calls:
            calls[lot.session] = kept.call_failures(connection, lot.session)
        every = calls[lot.session]
        after = [failed for at, failed in every if at > lot.at][:NEXT]
        if not after:
            untold += 1
            continue
        lately = [failed for at, failed in every if at <= lot.at][-NEXT:]
        before = (sum(lately) / len(lately) if lately else 0.0, float(lot.turn))
        moments.append(Moment(lot.session, lot.shown, lot.probability, sum(after) / len(after), before))
    return excursion(moments, metric="misuse"), untold
