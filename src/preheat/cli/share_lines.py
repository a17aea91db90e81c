"""Lines of shared lessons for a terminal: what is new, changed or gone, like a diff. Knows no file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from preheat.cli.screen import clean, console, say

if TYPE_CHECKING:
    from preheat.app.sharing.repository import SharedLine


def print_changes(new: "Sequence[SharedLine]", changed: "Sequence[SharedLine]", gone: "Sequence[SharedLine]") -> None:
    """Print each lesson exactly as a session is told it, with its evidence."""
    screen = console()
    for sign, style, some in (("+", "green", new), ("~", "yellow", changed), ("-", "red", gone)):
        for each in some:
            say(screen, f"{sign} {clean(each.lesson)}  {clean(each.says)}", style)
            say(screen, f"    {each.kind.replace('_', ' ')}, {clean(each.evidence)}", "dim")


def as_json_lines(lines: "Sequence[SharedLine]") -> list[dict[str, Any]]:
    return [each._asdict() for each in lines]
