"""Numbers, times, sizes and paths as people read them. Light, because the quick path of a sync loads it.

Knows nothing of terminals or colours.
"""

from __future__ import annotations

from preheat.amounts import date_time as date_time
from preheat.amounts import day as day
from preheat.amounts import duration as duration
from preheat.amounts import format_bytes as format_bytes
from preheat.amounts import format_count
from preheat.amounts import one_line as one_line
from preheat.amounts import printable as printable
from preheat.amounts import short_path as short_path
from preheat.amounts import time_of_day as time_of_day
from preheat.amounts import tokens as tokens

TYPE_CHECKING = False  # importing `typing` would take longer than the quick path
if TYPE_CHECKING:
    from collections.abc import Sequence

count = format_count  # as the command line calls it


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows as aligned lines: the first `left` columns left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
