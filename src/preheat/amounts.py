"""Numbers, times and texts from sessions, formatted for people. Light, because the quick path of a sync prints with it."""

import os
import time


def format_count(number: int, noun: str, plural: str = "") -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_reasons(counts: dict[str, int]) -> str:
    """Counts by reason, the largest first: `3 shorter than 30 messages, 1 a subagent's`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {reason}" for reason, number in ordered)


def format_seconds(seconds: float) -> str:
    """A duration: `12 s`, `4 minutes`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def format_bytes(number: float) -> str:
    """Bytes: `812 B`, `4.3 KB`, `120.5 MB`."""
    if number < 1000:
        return f"{number:.0f} B"
    for unit in ("KB", "MB", "GB"):
        number /= 1000
        if number < 999.95:
            return f"{number:.1f} {unit}"
    return f"{number / 1000:,.1f} TB"


_CONTROL = {code: None for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10)}
_DIRECTIONS = (
    0x061C,
    0x200B,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xE0000, 0xE0080),
)
"""Marks that change the direction of text, and invisible letters; joiners stay, because some scripts need them."""
_CONTROL.update(dict.fromkeys(_DIRECTIONS))


def printable(text: str) -> str:
    """The text without characters that control a terminal, or that make it look like another text."""
    return text.translate(_CONTROL)


def one_line(text: str, width: int) -> str:
    """The beginning of a text on one line."""
    flat = " ".join(printable(text[: 4 * width + 200].replace("\n", " ")).split())
    return flat if len(flat) <= width else flat[: max(0, width - 1)].rstrip() + "…"


def tokens(number: int) -> str:
    """`812`, `34k`, `1.2M`, `3.5B`."""
    if number < 1000:
        return str(number)
    if number < 999_500:
        return f"{number / 1000:.0f}k"
    return f"{number / 1e6:.1f}M" if number < 999_950_000 else f"{number / 1e9:.1f}B"


def duration(seconds: float) -> str:
    """`0.42 s`, `12 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 10:
        return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return _two_units(whole, (60, "min"), (1, "s"))
    if whole < 86400:
        return _two_units(whole, (3600, "h"), (60, "min"))
    return _two_units(whole, (86400, "d"), (3600, "h"))


def _two_units(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    rest = seconds % large[0] // small[0]
    first = f"{seconds // large[0]:,} {large[1]}"
    return f"{first} {rest} {small[1]}" if rest else first


def date_time(at: float | None) -> str:
    """Local time to the minute; `-` for none."""
    return _local(at, "%Y-%m-%d %H:%M") or "-"


def time_of_day(at: float | None) -> str:
    """Local time of day; blank for none."""
    return _local(at, "%H:%M") or "     "


def day(at: float | None) -> str:
    return _local(at, "%Y-%m-%d")


def _local(at: float | None, form: str) -> str:
    if at is None:
        return ""
    try:
        return time.strftime(form, time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return ""  # a clock that was far off


def short_path(path: str) -> str:
    """With `~` for the home folder."""
    home = os.path.expanduser("~")
    if home not in ("~", os.sep, "") and (path == home or path.startswith(home + os.sep)):
        path = "~" + path[len(home) :]
    return printable(path)
