"""Charts as SVG: the ribbon of a session, bars by day, the grid of hours, curves, and intervals of effects.

Numbers and our own words only; texts of sessions are put in by the templates, which escape them. Styled by classes: a page allows
no style of its own.
"""

import math
from collections.abc import Sequence
from itertools import groupby, pairwise

from markupsafe import Markup

from preheat.model.outcome import FAILURES
from preheat.model.views import SessionView, ViewedCall

_HEIGHT = 44
_TOP = 10
"""Room above the ribbon for the marks of prompts."""


def class_of(call: ViewedCall) -> str:
    """The class by which a call is coloured: what came of it, and whose fault it was."""
    if call.bookkeeping or call.copied:
        return "quiet"
    if call.status in FAILURES:
        return {"mistake": "mistake", "environment": "environment", "finding": "finding"}.get(
            call.cause or "", "failed"
        )
    return {"ok": "ok", "empty": "empty"}.get(call.status, "other")


def draw_ribbon(view: SessionView) -> Markup:
    """All calls of a session in a row. Failures are tall, so that no colour is needed to see them; above are the prompts, and
    lines across are compactions."""
    calls = view.calls
    width = max(1, len(calls))
    shapes: dict[str, list[str]] = {}
    for name, group in groupby(calls, class_of):
        run = list(group)
        top = _TOP if name in ("mistake", "environment", "finding", "failed") else _TOP + 14
        shapes.setdefault(name, []).append(f"M{run[0].seq} {top}h{len(run)}V{_HEIGHT}h-{len(run)}z")
    paths = "".join(f'<path class="call-{name}" d="{"".join(parts)}"/>' for name, parts in shapes.items())
    marks = "".join(
        f'<path class="mark-prompt" d="M{each.first_seq} 0v8"/>' for each in view.episodes if each.first_seq >= 0
    )
    eras = "".join(
        f'<path class="mark-compaction" d="M{after.seq} 0V{_HEIGHT}"/>'
        for before, after in pairwise(calls)
        if after.era != before.era
    )
    return Markup(  # noqa: S704 - numbers and our own words
        f'<svg class="ribbon" viewBox="0 0 {width} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{len(calls):,} calls in order, {sum(each.is_failure for each in calls):,} failed">'
        f"{paths}{marks}{eras}</svg>"
    )


def draw_curve(values: Sequence[float], label: str, name: str = "curve") -> Markup:
    """Values in order as a line over its area, from zero."""
    if len(values) < 2:
        return Markup("")
    most = max(values) or 1.0
    drawn = thin(values)
    step = 100 / (len(drawn) - 1)
    points = " ".join(f"{place * step:.2f},{40 - 38 * value / most:.2f}" for place, value in enumerate(drawn))
    return Markup(  # noqa: S704 - numbers and our own words
        f'<svg class="{name}" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f'<polygon points="0,40 {points} 100,40"/><polyline points="{points}"/></svg>'
    )


_MOST_POINTS = 400


def thin(values: Sequence[float]) -> list[float]:
    """At most 400 of the values, evenly; of each stretch the largest."""
    if len(values) <= _MOST_POINTS:
        return list(values)
    size = len(values) / _MOST_POINTS
    return [
        max(values[int(place * size) : max(int(place * size) + 1, int((place + 1) * size))])
        for place in range(_MOST_POINTS)
    ]


def draw_bars(values: Sequence[float], parts: Sequence[float], titles: Sequence[str], label: str) -> Markup:
    """Bars in order, each with a darker part of it, and what a pointer over it says."""
    most = max(values, default=0) or 1.0
    width = max(1, len(values))
    bars = "".join(
        f'<g><title>{title}</title><rect class="room" x="{place}" y="0" width="1" height="40"/>'
        f'<rect class="bar" x="{place + 0.1:.1f}" y="{40 - 40 * value / most:.2f}" width="0.8" height="{40 * value / most:.2f}"/>'
        f'<rect class="bar-part" x="{place + 0.1:.1f}" y="{40 - 40 * part / most:.2f}" width="0.8" '
        f'height="{40 * part / most:.2f}"/></g>'
        for place, (value, part, title) in enumerate(zip(values, parts, titles, strict=True))
    )
    return Markup(  # noqa: S704 - numbers and our own words
        f'<svg class="bars" viewBox="0 0 {width} 40" preserveAspectRatio="none" role="img" aria-label="{label}">{bars}</svg>'
    )


_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def draw_hours(calls: Sequence[Sequence[int]]) -> Markup:
    """Calls by weekday and hour, the more the darker."""
    most = max((number for row in calls for number in row), default=0) or 1
    cells = "".join(
        f'<rect class="heat" x="{34 + hour * 14}" y="{day * 14}" width="12" height="12" rx="2" '
        f'fill-opacity="{0.06 + 0.94 * math.sqrt(number / most):.2f}">'
        f"<title>{_WEEKDAYS[day]} {hour}:00, {number:,} calls</title></rect>"
        for day, row in enumerate(calls)
        for hour, number in enumerate(row)
    )
    days = "".join(f'<text x="0" y="{day * 14 + 10}">{name}</text>' for day, name in enumerate(_WEEKDAYS))
    hours = "".join(f'<text x="{34 + hour * 14}" y="110">{hour}</text>' for hour in range(0, 24, 3))
    return Markup(  # noqa: S704 - numbers and our own words
        f'<svg class="hours" viewBox="0 0 372 114" role="img" aria-label="Calls by weekday and hour">{cells}{days}{hours}</svg>'
    )


def draw_interval(low: float | None, high: float | None, effect: float | None, reach: float, is_known: bool) -> Markup:
    """One row of a forest plot: an interval around an effect, and the line of no effect. Grey where nothing is known yet."""
    if low is None or high is None or effect is None or not math.isfinite(low + high + effect):
        return Markup('<svg class="interval" viewBox="0 0 200 18" role="img" aria-label="too little data">'
                      '<path class="zero" d="M100 0V18"/></svg>')  # fmt: skip

    def place(value: float) -> float:
        return max(2.0, min(198.0, 100 + 96 * value / (reach or 1.0)))

    return Markup(  # noqa: S704 - numbers and our own words
        f'<svg class="interval{"" if is_known else " grey"}" viewBox="0 0 200 18" role="img" '
        f'aria-label="{effect:+.3f}, between {low:+.3f} and {high:+.3f}"><path class="zero" d="M100 0V18"/>'
        f'<path class="span" d="M{place(low):.1f} 9H{place(high):.1f}"/>'
        f'<rect x="{place(effect) - 3:.1f}" y="6" width="6" height="6"/></svg>'
    )
