"""Numbers as people read them, for every stage and for the command line. Imports nothing: the quick path prints with it."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def size(number: float) -> str:
    """Bytes: `812 B`, `4.3 KB`, `120.5 MB`."""
    if number < 1000:
        return f"{number:.0f} B"
    for unit in ("KB", "MB", "GB"):
        number /= 1000
        if number < 999.95:
            return f"{number:.1f} {unit}"
    return f"{number / 1000:,.1f} TB"
