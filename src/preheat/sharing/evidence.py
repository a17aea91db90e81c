"""What a shared lesson rests on, in a line of counts and days. Knows no session and no clock.

Counts are rounded down to steps (1, 2, 3, 5, 10, 20, 50 …) and shares to tenths, so that a few more calls do not change a file
that people review.
"""

import re
from bisect import bisect_right
from datetime import UTC, datetime
from typing import NamedTuple

from preheat.model.lesson import Lesson, Support

_STEPS = (1, 2, 3, *(step * 10**power for power in range(7) for step in (5, 10, 20)))
_LINE = re.compile(
    r"(?:(?P<calls>[1-9]\d{0,7})\+ times in (?P<sessions>[1-9]\d{0,7})\+ sessions, (?P<share>\d{1,3}) % for it"
    r"|written by a person), (?P<first>\d{4}-\d\d-\d\d)(?: to (?P<last>\d{4}-\d\d-\d\d))?"
)
_STALE_DAYS = 30
"""Days by which the last day may be behind before it is written anew."""
_DAY = 86400.0
_LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()


class Counts(NamedTuple):
    """What an evidence line says."""

    support: Support
    first_seen: float
    last_seen: float


def round_down(count: int) -> int:
    """The largest step that a count reaches; 0 for none."""
    place = bisect_right(_STEPS, count)
    return _STEPS[place - 1] if place else 0


def write_evidence(lesson: Lesson) -> str:
    """The line of a lesson; empty where nothing says when it was seen."""
    last = lesson.last_seen or lesson.first_seen
    if last is None or not 0 <= last < _LATEST:
        return ""
    days = [_day(min(lesson.first_seen or last, last)), _day(last)]
    when = " to ".join(dict.fromkeys(days))
    support = lesson.support
    if not support.calls_for or not support.sessions_for:
        return f"written by a person, {when}" if lesson.author == "person" else ""
    share = round(10 * (support.share or 0.0)) * 10
    return f"{round_down(support.calls_for)}+ times in {round_down(support.sessions_for)}+ sessions, {share} % for it, {when}"


def read_evidence(line: str) -> Counts | None:
    """What a line says; None if it is none of ours."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    try:
        first, last = (_moment(found[name] or found["first"]) for name in ("first", "last"))
    except ValueError:
        return None
    if found["calls"] is None:
        return Counts(Support(), first, last)
    calls, sessions, share = int(found["calls"]), int(found["sessions"]), int(found["share"])
    if not 0 < share <= 100 or sessions > calls or last < first:
        return None
    against = round(calls * (100 - share) / share)
    return Counts(Support(calls, sessions, against, min(sessions, against)), first, last)


def join_evidence(old: str, new: str) -> str:
    """The line to write where a file has one already: the old one, unless more was seen by a whole step, or a month later. What
    one machine saw less of than another takes nothing back."""
    before, now = read_evidence(old), read_evidence(new)
    if before is None or now is None:
        return new or old
    if now.support.calls_for == before.support.calls_for == 0:
        return old
    has_more = (
        now.support.calls_for > before.support.calls_for or now.support.sessions_for > before.support.sessions_for
    )
    is_later = now.last_seen - before.last_seen > _STALE_DAYS * _DAY
    return new if has_more or (is_later and now.support.calls_for >= before.support.calls_for) else old


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def _moment(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
