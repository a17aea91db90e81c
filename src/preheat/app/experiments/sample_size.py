"""How many sessions a comparison needs, by simulation from the sessions of the archive. Knows no formula."""

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from preheat.app.experiments.results import session_results
from preheat.app.experiments.state import load_records
from preheat.app.later import LazyModule
from preheat.experiments.measure import single_units
from preheat.model.experiment import MetricName, SessionResult
from preheat.model.experiment_report import SampleSizeForecast
from preheat.statistics.conclude import words_of
from preheat.statistics.sequence import always_valid_errors
from preheat.statistics.spread import student_quantile

if TYPE_CHECKING:
    from preheat.statistics import power as _power
else:
    _power = LazyModule("preheat.statistics.power")  # all of scipy's distributions, which no other result needs

_WEEK = 7 * 86400.0


def required_sample(
    archive: sqlite3.Connection, metric: MetricName, margin: float, share: float, power: float, now: float
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
