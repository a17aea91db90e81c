"""A number with its noun, for every stage and for the command line. Imports nothing: the quick path prints with it."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
