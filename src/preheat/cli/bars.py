"""Rates on a terminal: percentages, intervals, and the interval drawn as a small bar.

Knows nothing of what the rates are of.
"""

from preheat.cli.screen import has_unicode
from preheat.model.population import IntervalEstimate
from preheat.model.profile import Rate

WIDTH = 24


def format_percent(value: float | None) -> str:
    """`7.2 %`; `-` for none."""
    return "-" if value is None else f"{100 * value:.1f} %"


def format_interval(low: float | None, high: float | None) -> str:
    """`5.7-8.5`, in percent; blank where there is too little data."""
    return "" if low is None or high is None else f"{100 * low:.1f}{'–' if has_unicode() else '-'}{100 * high:.1f}"


def bar_scale(rates: list[Rate]) -> float:
    """The right end of the scale for bars below each other: the highest interval end, but at most twice the highest rate."""
    ends = sorted(rate.high for rate in rates if rate.high is not None)
    if not ends:
        return 1.0
    return max(0.01, min(ends[-1], 2 * max(rate.value or 0.0 for rate in rates if rate.high is not None)))


def draw_bar(low: float | None, value: float | None, high: float | None, top: float, width: int = WIDTH) -> str:
    """The interval from `low` to `high` with its value, drawn on a line from 0 to `top`; an end beyond `top` is cut."""
    if low is None or value is None or high is None:
        return ""
    line, dot, more = ("─", "●", "›") if has_unicode() else ("-", "o", ">")

    def place(share: float) -> int:
        return min(width - 1, max(0, round(share / top * (width - 1))))

    cells = [" "] * width
    cells[place(low) : place(high) + 1] = line * (place(high) - place(low) + 1)
    if high > top * (1 + 0.5 / width):
        cells[-1] = more
    cells[place(value)] = dot
    return "".join(cells).rstrip()


def format_points(estimate: IntervalEstimate) -> str:
    """A difference with its interval, in points, as this terminal can show it."""
    return str(estimate) if has_unicode() else str(estimate).replace("−", "-")
