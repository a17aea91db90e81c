"""A number with its noun, and a span of time, for every stage and surface. Imports nothing: the quick path prints with it."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def lasting(seconds: float) -> str:
    """A span of time in a sentence: `12 s`, `4 minutes`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} minutes"
