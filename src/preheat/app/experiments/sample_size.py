"""How many sessions a comparison needs, from the sessions of the archive. Knows no formula.

Loads the slowest part of the statistics, which nothing else needs.
"""

import sqlite3
from collections.abc import Iterable

from preheat.app.experiments.results import session_facts
from preheat.app.experiments.state import drawn
from preheat.experiments.measure import each_alone
from preheat.model.experiment import MetricName, Went
from preheat.model.experiment_report import Needed
from preheat.statistics.conclude import words_of
from preheat.statistics.power import plan, with_room
from preheat.statistics.sequence import errors_to_hold
from preheat.statistics.spread import quantile

_WEEK = 7 * 86400.0


def find_needed(
    archive: sqlite3.Connection, metric: MetricName, margin: float, share: float, power: float, now: float
) -> Needed:
    """What a comparison needs to see a difference of `margin`, drawn from the sessions of the archive; `share` of them cold.
    The difference is an improvement (fewer, or for success and ratings more); where the metric has no room for that, as large a
    loss."""
    every = session_facts(archive, drawn(archive))
    units = each_alone(metric, every)
    better = margin if words_of(metric).better == "higher" else -margin
    effect = with_room(units, better)
    found = plan(units, effect=effect, share=1 - share, power=power)
    counted = {each.session for each in units if each.below > 0}
    a_week = _a_week((each for each in every if each.session in counted), now)
    sessions = float(found.sessions)
    wider = float(errors_to_hold(sessions, sessions) / quantile(sessions, 0.05))
    return Needed(metric=metric, margin=margin, plan=found, worse=effect != better, a_week=a_week, wider=wider)


def _a_week(every: Iterable[Went], now: float) -> float:
    return sum(now - 4 * _WEEK < (each.started_at or 0.0) <= now for each in every) / 4
