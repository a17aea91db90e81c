"""How many sessions a comparison needs, by simulation from the sessions of the archive. Knows no formula."""

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from preheat.app.experiments.results import session_facts
from preheat.app.experiments.state import drawn
from preheat.app.later import Later
from preheat.experiments.measure import each_alone
from preheat.model.experiment import MetricName, Went
from preheat.model.experiment_report import Needed
from preheat.statistics.conclude import words_of
from preheat.statistics.sequence import errors_to_hold
from preheat.statistics.spread import quantile

if TYPE_CHECKING:
    from preheat.statistics import power as _power
else:
    _power = Later("preheat.statistics.power")  # all of scipy's distributions, which no other result needs

_WEEK = 7 * 86400.0


def find_needed(
    archive: sqlite3.Connection, metric: MetricName, margin: float, share: float, power: float, now: float
) -> Needed:
    """The sessions needed to detect a difference of `margin`, if the share `share` of them starts cold. The difference is an
    improvement; if the metric has no room for it, a loss of the same size."""
    facts = session_facts(archive, drawn(archive))
    units = each_alone(metric, facts)
    improvement = margin if words_of(metric).better == "higher" else -margin
    effect = _power.with_room(units, improvement)
    size = _power.plan(units, effect=effect, share=1 - share, power=power)
    counted_sessions = {each.session for each in units if each.below > 0}
    a_week = _sessions_a_week((each for each in facts if each.session in counted_sessions), now)
    sessions = float(size.sessions)
    wider = float(errors_to_hold(sessions, sessions) / quantile(sessions, 0.05))
    return Needed(metric=metric, margin=margin, plan=size, worse=effect != improvement, a_week=a_week, wider=wider)


def _sessions_a_week(every: Iterable[Went], now: float) -> float:
    return sum(now - 4 * _WEEK < (each.started_at or 0.0) <= now for each in every) / 4
