"""Results of comparisons: the stored assignments joined with the outcomes of their sessions, and measured.

Knows no formula. Loads the statistics: `comparisons` and `withdrawal`, which are light, import it when they need it.
"""

import sqlite3
from typing import Any

import msgspec

from preheat.app.experiments.state import Drawn, drawn, exposures
from preheat.archive import notes
from preheat.archive.experiments import call_failures, went
from preheat.archive.lessons import measured as measured_sessions
from preheat.experiments.measure import measured
from preheat.experiments.report import compared
from preheat.experiments.report import report as describe
from preheat.experiments.retire import PAYS
from preheat.lessons.conventions import LEARN_CONVENTIONS
from preheat.model.experiment import Estimate, Went
from preheat.model.experiment_report import AdviceEffect, Report, Utility
from preheat.state.plans import StoredPlan
from preheat.statistics.excursion import Moment, excursion
from preheat.statistics.items import utilities

NEXT = 5
"""The number of calls after an advisory in which its effect is measured."""


def make_report(archive: sqlite3.Connection, stored: StoredPlan, now: float, drawing: bool) -> Report:
    """The result of a plan so far; `drawing`: whether anything is assigned at all."""
    records = drawn(archive)
    facts = session_facts(archive, records)
    own = [each for each in records.assignments if each.experiment == stored.experiment]
    elsewhere = [each.session for each in records.assignments if each.experiment != stored.experiment]
    trial = measured(own, facts, now, stored.plan.at, stored.stopped, elsewhere)
    return describe(stored.experiment, stored.plan, trial, records.deliveries, stored.stopped, drawing=drawing)


def session_facts(archive: sqlite3.Connection, found: Drawn) -> list[Went]:
    """The facts of every session that a comparison asks for."""
    return went(archive, _corrections(archive), found.ratings)


def _corrections(archive: sqlite3.Connection) -> dict[str, int]:
    """By session: the number of a person's sentences that read like a rule, as far as the learner has noted them."""
    if LEARN_CONVENTIONS.notes is None:
        return {}
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(LEARN_CONVENTIONS.notes)
    name = LEARN_CONVENTIONS.name
    sessions = [session for _, session, _, _ in notes.stamps(archive, name)]
    return {page.session: len(decoder.decode(page.data).rules) for page in notes.kept(archive, name, sessions)}


# Effects of items, templates and advice.
def measure_items(archive: sqlite3.Connection) -> list[Utility]:
    """The effect of every item that was assigned at random, with intervals that hold at every look."""
    found = exposures(archive)
    if not found:
        return []
    return utilities(found, measured_sessions(archive, {each.session for each in found}), margin=PAYS, always=True)


def measure_templates(archive: sqlite3.Connection, now: float) -> dict[str, Estimate]:
    """The effect of each template: warm against cold, over the sessions for which it was chosen, whatever their arm."""
    records = drawn(archive)
    deliveries = records.deliveries
    names = {each.template for each in deliveries.values() if each.template}
    if not names:
        return {}
    facts = session_facts(archive, records)
    by_name = {
        name: [
            each for each in records.assignments if each.root in deliveries and deliveries[each.root].template == name
        ]
        for name in sorted(names)
    }
    return {
        name: compared("mistakes", measured(assignments, facts, now), "cold") for name, assignments in by_name.items()
    }


def measure_advice(archive: sqlite3.Connection) -> AdviceEffect:
    """The effect of advice on the mistakes in the next calls, from advisories that were withheld at random."""
    advice = drawn(archive).advice
    calls = {session: call_failures(archive, session) for session in {each.session for each in advice}}
    moments: list[Moment] = []
    without_calls = 0
    for each in advice:
        after = [failed for at, failed in calls[each.session] if at > each.at][:NEXT]
        if not after:
            without_calls += 1
            continue
        earlier = [failed for at, failed in calls[each.session] if at <= each.at][-NEXT:]
        before = (sum(earlier) / len(earlier) if earlier else 0.0, float(each.turn))
        moments.append(Moment(each.session, each.shown, each.probability, sum(after) / len(after), before))
    estimate = excursion(moments, metric="mistakes")
    return AdviceEffect(estimate=estimate, next_calls=NEXT, moments_without_calls_after=without_calls)
