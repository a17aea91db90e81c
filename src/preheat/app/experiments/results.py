"""What chance has shown: what was drawn, held against how those sessions went, measured and put into words.

Knows no formula. Loads the statistics: reached through `comparisons` and `withdrawal`, which are light.
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
"""Calls after an advisory in which it should show."""


def make_report(archive: sqlite3.Connection, stored: StoredPlan, now: float, drawing: bool) -> Report:
    """What a plan has shown so far; `drawing`: whether anything is left to chance at all."""
    found = drawn(archive)
    every = session_facts(archive, found)
    ours = [each for each in found.assignments if each.experiment == stored.experiment]
    elsewhere = [each.session for each in found.assignments if each.experiment != stored.experiment]
    lines = measured(ours, every, now, stored.plan.at, stored.stopped, elsewhere)
    return describe(stored.experiment, stored.plan, lines, found.deliveries, stored.stopped, drawing=drawing)


def session_facts(archive: sqlite3.Connection, found: Drawn) -> list[Went]:
    """How every session went."""
    return went(archive, _corrections(archive), found.ratings)


def _corrections(archive: sqlite3.Connection) -> dict[str, int]:
    """By session: the sentences of a person that read like a rule, as far as learning has noted them."""
    if LEARN_CONVENTIONS.notes is None:
        return {}
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(LEARN_CONVENTIONS.notes)
    name = LEARN_CONVENTIONS.name
    sessions = [session for _, session, _, _ in notes.stamps(archive, name)]
    return {page.session: len(decoder.decode(page.data).rules) for page in notes.kept(archive, name, sessions)}


# What items, templates and advice did.
def measure_items(archive: sqlite3.Connection) -> list[Utility]:
    """What every item did that chance decided on, with intervals that may be looked at as often as one learns."""
    found = exposures(archive)
    if not found:
        return []
    return utilities(found, measured_sessions(archive, {each.session for each in found}), margin=PAYS, always=True)


def measure_templates(archive: sqlite3.Connection, now: float) -> dict[str, Estimate]:
    """What each template did: warm against cold, among the sessions for which it was the one to give, whatever their arm."""
    found = drawn(archive)
    given = found.deliveries
    names = {each.template for each in given.values() if each.template}
    if not names:
        return {}
    every = session_facts(archive, found)
    by_name = {
        name: [each for each in found.assignments if each.root in given and given[each.root].template == name]
        for name in sorted(names)
    }
    return {name: compared("mistakes", measured(some, every, now), "cold") for name, some in by_name.items()}


def measure_advice(archive: sqlite3.Connection) -> AdviceEffect:
    """What saying something does to the mistakes in the next calls, from what was withheld by chance."""
    said = drawn(archive).advice
    calls = {session: call_failures(archive, session) for session in {each.session for each in said}}
    moments: list[Moment] = []
    without = 0
    for each in said:
        after = [failed for at, failed in calls[each.session] if at > each.at][:NEXT]
        if not after:
            without += 1
            continue
        lately = [failed for at, failed in calls[each.session] if at <= each.at][-NEXT:]
        before = (sum(lately) / len(lately) if lately else 0.0, float(each.turn))
        moments.append(Moment(each.session, each.shown, each.probability, sum(after) / len(after), before))
    estimate = excursion(moments, metric="mistakes")
    return AdviceEffect(estimate=estimate, next_calls=NEXT, moments_without_calls_after=without)
