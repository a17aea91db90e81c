"""Charts as SVG that stretches with the page (rates with intervals, curves, bars split by cause), and the HTML around them.

Every value is escaped. A chart is a box of 100 x 100 with strokes that do not stretch; labels are HTML beside it, and stay
readable on a narrow screen. Knows nothing of what the rates mean.
"""

from collections.abc import Iterable, Sequence
from html import escape
from math import floor, log10

from preheat.model.population import FailureMeasure, PopulationCell
from preheat.model.profile import Rate

# HTML as text, in which every value is escaped.
_CONTROL = dict.fromkeys((*range(32), 127, *range(128, 160), 8232, 8233, *range(8234, 8239), *range(8294, 8298)), " ")
"""Characters that break lines, end documents or turn the direction of writing."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape_text(value: object) -> Html:
    """Anything as text on the page; markup stays as it is."""
    if isinstance(value, Html):
        return value
    plain = str(value).translate(_CONTROL)
    return Html(escape(plain.encode("utf-8", "replace").decode(), quote=True))


def tag(name: str, *inside: object, **attributes: object) -> Html:
    """An element. `class_` stands for `class`, and underscores in other attributes for hyphens."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_text(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{written}>{join(inside)}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    return Html(between.join(map(escape_text, parts)))


CLASS: dict[FailureMeasure, str] = {"errors": "all", "mistakes": "mistake"}
CAUSES = ("mistake", "finding", "environment", "unknown")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def interval_text(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"


def axis_end(rates: Sequence[Rate]) -> float:
    """A round number above all rates and, unless they are far above, above their bounds."""
    values = [rate.value for rate in rates if rate.value is not None]
    highest = max(values, default=0.1)
    reach = max((rate.high for rate in rates if rate.high is not None), default=highest)
    wanted = max(min(reach, 2.2 * highest), highest, 0.005)
    step = float(10 ** floor(log10(wanted)))
    return min(
        1.0, next(step * factor for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * factor >= wanted)
    )


def _position(share: float, top: float) -> str:
    return f"{min(100.0, 100 * share / top):.2f}"


def _line(x1: object, y1: object, x2: object, y2: object, kind: str) -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _picture(kind: str, title: str, *inside: Html) -> Html:
    return tag(
        "svg", tag("title", title), *inside,
        class_=kind, viewBox="0 0 100 100", preserveAspectRatio="none", role="img", aria_label=title,
    )  # fmt: skip


def _scale_lines() -> Html:
    return join(_line(x, 0, x, 100, "base" if x == 0 else "grid") for x in (0, 25, 50, 75, 100))


def interval_chart(
    cell: PopulationCell, top: float, measures: Sequence[FailureMeasure] = ("errors", "mistakes")
) -> Html:
    """A dot with its interval for every measure, below each other, on a line from 0 to `top`."""
    shapes = [_scale_lines()]
    labels = []
    for row, measure in enumerate(measures):
        rate: Rate = cell.errors if measure == "errors" else cell.mistakes
        height = 100 * (row + 0.5) / len(measures)
        if rate.value is None:
            continue
        if rate.low is not None and rate.high is not None:
            shapes.append(
                _line(_position(rate.low, top), height, _position(rate.high, top), height, f"{CLASS[measure]} reach")
            )
        # A line of no length with round ends is a dot that does not stretch with the box.
        shapes.append(
            _line(_position(rate.value, top), height, _position(rate.value, top), height, f"{CLASS[measure]} mark")
        )
        labels.append(f"{'failed' if measure == 'errors' else 'mistakes'} {percent(rate.value)}")
    return _picture("row", f"{cell.name}: {', '.join(labels) or 'no judged calls'}", *shapes)


def cause_bar(cell: PopulationCell, top: float) -> Html:
    """The error rate as a bar, split by cause, with the interval of the whole as a whisker."""
    total = cell.errors.total
    if not total:
        return _picture("row", f"{cell.name}: no judged calls", _scale_lines())
    shapes, start, labels = [_scale_lines()], 0.0, []
    for cause, number in zip(CAUSES, causes_of(cell), strict=True):
        if number:
            width = 100 * number / total / top
            shapes.append(tag("rect", x=f"{start:.2f}", y=22, width=f"{width:.2f}", height=56, class_=f"bar {cause}"))
            start += width
            labels.append(f"{cause} {number:,}")
    if cell.errors.low is not None and cell.errors.high is not None:
        low, high = _position(cell.errors.low, top), _position(cell.errors.high, top)
        shapes.append(_line(low, 50, high, 50, "whisker"))
        shapes += [_line(end, 35, end, 65, "whisker") for end in (low, high)]
    return _picture("row", f"{cell.name}: {percent(cell.errors.value)} failed ({', '.join(labels)})", *shapes)


def causes_of(cell: PopulationCell) -> tuple[int, int, int, int]:
    """Failures by cause, in the order of `CAUSES`."""
    known = (cell.mistakes.count, cell.findings, cell.environment)
    return (*known, cell.errors.count - sum(known))


def curve(cells: Sequence[PopulationCell], title: str, ends: tuple[str, str, str]) -> Html:
    """Rates along an axis with their intervals as bands; `ends` stand below at its beginning, middle and end. Cells with too
    little data break the line."""
    rates = [rate for cell in cells if cell.has_enough_data for rate in (cell.errors, cell.mistakes)]
    top = axis_end(rates)
    shapes = [_line(0, y, 100, y, "base" if y == 100 else "grid") for y in (0, 25, 50, 75, 100)]
    step = 100 / max(1, len(cells))
    for measure in ("errors", "mistakes"):
        for run in _runs(cells):
            points = [((place + 0.5) * step, cells[place]) for place in run]
            shapes += _curve_shapes(
                [(x, cell.errors if measure == "errors" else cell.mistakes) for x, cell in points], top, measure
            )
    picture = _picture("curve", title, *shapes)
    y_labels = tag("div", *(tag("span", percent(top * share)) for share in (1, 0.75, 0.5, 0.25, 0)), class_="up")
    x_labels = tag("div", *(tag("span", each) for each in ends), class_="across")
    return tag("div", y_labels, picture, x_labels, class_="plot")


def _runs(cells: Sequence[PopulationCell]) -> list[list[int]]:
    """Neighbouring places that have enough data."""
    runs: list[list[int]] = [[]]
    for place, cell in enumerate(cells):
        if cell.has_enough_data:
            runs[-1].append(place)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _curve_shapes(found: list[tuple[float, Rate]], top: float, measure: str) -> list[Html]:
    kind = "all" if measure == "errors" else "mistake"

    def height(share: float) -> str:
        return f"{100 - min(100.0, 100 * share / top):.2f}"

    points = [f"{x:.2f},{height(rate.value)}" for x, rate in found if rate.value is not None]
    above = [f"{x:.2f},{height(rate.high)}" for x, rate in found if rate.high is not None]
    below = [f"{x:.2f},{height(rate.low)}" for x, rate in found if rate.low is not None]
    band = tag("polygon", points=" ".join([*above, *reversed(below)]), class_=f"{kind} band")
    return [band, tag("polyline", points=" ".join(points), class_=f"{kind} line")]
