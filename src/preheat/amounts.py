"""Numbers formatted for people. Imports nothing, because the quick path of a sync prints with it."""


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
