"""Results of comparisons: the stored assignments joined with the outcomes of their sessions, and measured.

Knows no formula. Loads the statistics: `comparisons` and `withdrawal`, which are light, import it when they need it.
"""

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any

import msgspec

from preheat.app.experiments.assignment import ORIENTATION
from preheat.app.experiments.records import Records, load_exposures, load_records
from preheat.app.lazy import LazyModule
from preheat.archive import notes
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_measured_sessions as measured_sessions
from preheat.archive.results import load_call_costs, load_call_failures, load_session_results
from preheat.experiments.measure import build_trial, single_units
from preheat.experiments.report import estimate_effect
from preheat.experiments.report import make_report as report_trial
from preheat.experiments.withdrawal import ITEM_MARGIN
from preheat.lessons.conventions import LEARN_CONVENTIONS
from preheat.model.experiment import EffectEstimate, MetricName, SessionResult
from preheat.model.experiment_report import (
    AdviceEffect,
    ExperimentReport,
    LessonUtility,
    OrientationEffect,
    SampleSizeForecast,
)
from preheat.state.experiments import StoredPlan
from preheat.statistics.arms import student_quantile
from preheat.statistics.effect import always_valid_errors
from preheat.statistics.excursion import AdviceMoment, estimate_excursion
from preheat.statistics.utility import estimate_utilities
from preheat.statistics.verdict import words_of

if TYPE_CHECKING:
    from preheat.statistics import power as _power
else:
    _power = LazyModule("preheat.statistics.power")  # all of scipy's distributions, which no other result needs

CALLS_AFTER_ADVICE = 5
"""The number of calls after an advisory in which its effect is measured."""


def make_report(
    archive: ArchiveConnection, stored: StoredPlan, now: float, assigning: bool, ended: Iterable[str] = ()
) -> ExperimentReport:
    """The result of a plan so far; `assigning`: whether anything is assigned at all; `ended`: sessions whose agent said that
    they are over."""
    records = load_records(archive)
    facts = session_results(archive, records)
    own = [each for each in records.assignments if each.experiment == stored.experiment]
    elsewhere = [each.session for each in records.assignments if each.experiment != stored.experiment]
    trial = build_trial(own, facts, now, stored.plan.at, stored.stopped, elsewhere, ended)
    return report_trial(stored.experiment, stored.plan, trial, records.deliveries, stored.stopped, assigning=assigning)


def session_results(archive: ArchiveConnection, found: Records) -> list[SessionResult]:
    """The facts of every session that a comparison asks for."""
    return load_session_results(archive, _corrections(archive), found.ratings)


def _corrections(archive: ArchiveConnection) -> dict[str, int]:
    """By session: the number of a person's sentences that read like a rule, as far as the learner has noted them."""
    if LEARN_CONVENTIONS.notes_type is None:
        return {}
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(LEARN_CONVENTIONS.notes_type)
    name = LEARN_CONVENTIONS.name
    sessions = [session for _, session, _, _ in notes.load_note_stamps(archive, name)]
    return {page.session: len(decoder.decode(page.data).rules) for page in notes.load_notes(archive, name, sessions)}


# Effects of items, templates and advice.
def measure_items(archive: ArchiveConnection) -> list[LessonUtility]:
    """The effect of every item that was assigned at random, with intervals that hold at every look."""
    found = load_exposures(archive)
    if not found:
        return []
    return estimate_utilities(
        found, measured_sessions(archive, {each.session for each in found}), margin=ITEM_MARGIN, always=True
    )


def measure_templates(archive: ArchiveConnection, now: float) -> dict[str, EffectEstimate]:
    """The effect of each template: warm against cold, over the sessions for which it was chosen, whatever their arm."""
    records = load_records(archive)
    deliveries = records.deliveries
    names = {each.template for each in deliveries.values() if each.template}
    if not names:
        return {}
    facts = session_results(archive, records)
    by_name = {
        name: [
            each for each in records.assignments if each.root in deliveries and deliveries[each.root].template == name
        ]
        for name in sorted(names)
    }
    return {
        name: estimate_effect("mistakes", build_trial(assignments, facts, now), "cold")
        for name, assignments in by_name.items()
    }


def measure_advice(archive: ArchiveConnection) -> AdviceEffect:
    """The effect of advice on the mistakes in the next calls, from advisories that were withheld at random."""
    advice = [each for each in load_records(archive).advice if each.signal != ORIENTATION]
    calls = {session: load_call_failures(archive, session) for session in {each.session for each in advice}}
    moments: list[AdviceMoment] = []
    without_calls = 0
    for each in advice:
        after = [failed for at, failed in calls[each.session] if at > each.at][:CALLS_AFTER_ADVICE]
        if not after:
            without_calls += 1
            continue
        earlier = [failed for at, failed in calls[each.session] if at <= each.at][-CALLS_AFTER_ADVICE:]
        before = (sum(earlier) / len(earlier) if earlier else 0.0, float(each.turn))
        moments.append(AdviceMoment(each.session, each.shown, each.probability, sum(after) / len(after), before))
    estimate = estimate_excursion(moments, metric="mistakes")
    return AdviceEffect(estimate=estimate, next_calls=CALLS_AFTER_ADVICE, moments_without_calls_after=without_calls)


def measure_orientation(archive: ArchiveConnection) -> OrientationEffect:
    """The effect of naming files with a prompt on the calls and tokens before the next edit, from moments at which it was
    withheld at random. A moment without an edit counts, too: whether there is one may depend on what was named."""
    drawn = [each for each in load_records(archive).advice if each.signal == ORIENTATION]
    calls: list[AdviceMoment] = []
    tokens: list[AdviceMoment] = []
    without_calls = without_edit = 0
    for session in sorted({each.session for each in drawn}):
        costs = load_call_costs(archive, session)
        edits = _find_edits(archive, session)
        moments = sorted((each for each in drawn if each.session == session), key=lambda each: each.at)
        ends = [*(each.at for each in moments[1:]), inf]
        for moment, end in zip(moments, ends, strict=True):
            after = [cost for cost in costs if moment.at < cost.at <= end]
            if not after:
                without_calls += 1
                continue
            place = next((place for place, cost in enumerate(after) if cost.seq in edits), None)
            without_edit += place is None
            until = after if place is None else after[:place]
            about = (session, moment.shown, moment.probability)
            calls.append(AdviceMoment(*about, float(len(until)), (float(moment.turn),)))
            tokens.append(AdviceMoment(*about, float(sum(cost.tokens for cost in until)), (float(moment.turn),)))
    return OrientationEffect(
        calls=estimate_excursion(calls, metric="calls before the next edit"),
        tokens=estimate_excursion(tokens, metric="tokens before the next edit"),
        moments_without_calls_after=without_calls,
        moments_without_edit_after=without_edit,
    )


def _find_edits(archive: ArchiveConnection, session: str) -> frozenset[int]:
    """The numbers of the calls that changed or made a file of the project."""
    episodes = notes.load_episodes(archive, session)
    return frozenset(
        seq for episode in episodes for each in episode.files if each.use in ("changed", "made") for seq in each.seqs
    )


# How many sessions a comparison needs, by simulation from the sessions of the archive.
_WEEK = 7 * 86400.0


def required_sample(
    archive: ArchiveConnection, metric: MetricName, margin: float, share: float, power: float, now: float
) -> SampleSizeForecast:
    """The sessions needed to detect a difference of `margin`, if the share `share` of them starts cold. The difference is an
    improvement; if the metric has no room for it, a loss of the same size."""
    facts = session_results(archive, load_records(archive))
    units = single_units(metric, facts)
    improvement = margin if words_of(metric).better == "higher" else -margin
    effect = _power.find_possible_effect(units, improvement)
    size = _power.plan_sample_size(units, effect=effect, share=1 - share, power=power)
    counted_sessions = {each.session for each in units if each.below > 0}
    a_week = _sessions_a_week((each for each in facts if each.session in counted_sessions), now)
    sessions = float(size.sessions)
    wider = float(always_valid_errors(sessions, sessions) / student_quantile(sessions, 0.05))
    return SampleSizeForecast(
        metric=metric,
        margin=margin,
        plan=size,
        is_loss=effect != improvement,
        sessions_per_week=a_week,
        interval_factor=wider,
    )


def _sessions_a_week(every: Iterable[SessionResult], now: float) -> float:
    return sum(now - 4 * _WEEK < (each.started_at or 0.0) <= now for each in every) / 4
