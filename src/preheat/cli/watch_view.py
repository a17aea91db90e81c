"""The full-screen view of `preheat sessions watch`: a list of sessions, one of them in detail, and a search.

Holds what is shown and what a key does; the terminal is in `full_screen`. Knows nothing of how sessions are found.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from preheat.cli.text import one_line

Mode: TypeAlias = Literal["list", "detail", "search"]

_NARROW = 70
_LEAST_LIST = 3
HELP: dict[Mode, str] = {
    "list": "up/down move  enter opens  / searches  q ends",
    "detail": "up/down scroll  esc back  q ends",
    "search": "type words, enter searches, esc leaves",
}


class WatchRow(NamedTuple):
    """A session in the list."""

    key: str
    name: str
    """Its short name."""
    agent: str
    project: str
    state: str
    """What it does now, or when it ended."""
    about: str
    """Its last advisory, its title, or the passage that was found."""
    running: bool


class Screenful(NamedTuple):
    """The lines of a screen, and which of them is marked."""

    lines: list[str]
    marked: int


class WatchView:
    """What is on the screen. `load` gives the rows for a search (empty: all), `detail` the lines of one session."""

    def __init__(self, load: Callable[[str], Sequence[WatchRow]], detail: Callable[[str], Sequence[str]]) -> None:
        self._load = load
        self._detail = detail
        self.mode: Mode = "list"
        self.query = ""
        self.typed = ""
        self.rows: Sequence[WatchRow] = ()
        self.selected = 0
        self._lines: Sequence[str] = ()
        self._scroll = 0
        self.refresh()

    # What changes it.
    def refresh(self) -> None:
        """Load the rows anew; the same session stays selected if it is still there."""
        before = self.rows[self.selected].key if self.rows else ""
        self.rows = list(self._load(self.query))
        keys = [row.key for row in self.rows]
        self.selected = keys.index(before) if before in keys else min(self.selected, max(0, len(keys) - 1))

    def press(self, key: str, page: int = 10) -> bool:
        """Do what a key says; False if it ends the view."""
        if self.mode == "search":
            self._type(key)
            return True
        if key in ("q", "ctrl-c"):
            return False
        if key in ("esc", "backspace", "left"):
            return self._go_back()
        if key == "/":
            self.mode, self.typed = "search", self.query
        elif key in ("enter", "right") and self.mode == "list" and self.rows:
            self.mode, self._scroll = "detail", 0
            self._lines = self._detail(self.rows[self.selected].key)
        else:
            self._move(
                {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -page, "page down": page, " ": page}.get(key, 0)
            )
        return True

    def _go_back(self) -> bool:
        if self.mode == "detail":
            self.mode = "list"
            return True
        if self.query:
            self.query = ""
            self.refresh()
            return True
        return False

    def _move(self, amount: int) -> None:
        if self.mode == "detail":
            self._scroll = max(0, self._scroll + amount)
        else:
            self.selected = max(0, min(len(self.rows) - 1, self.selected + amount))

    def _type(self, key: str) -> None:
        if key == "enter":
            self.mode, self.query, self.selected = "list", self.typed.strip(), 0
            self.refresh()
        elif key in ("esc", "ctrl-c"):
            self.mode = "list"
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif len(key) == 1 and key.isprintable():
            self.typed += key

    # What it shows.
    def draw(self, width: int, height: int) -> Screenful:
        """The lines of a screen of this size."""
        width, height = max(width, 10), max(height, _LEAST_LIST + 2)
        room = height - 2
        body = self._draw_detail(width, room) if self.mode == "detail" else self._draw_list(width, room)
        last = f"/{self.typed}" if self.mode == "search" else HELP[self.mode]
        lines = [self._heading()[:width], *body.lines, *[""] * (room - len(body.lines)), last[:width]]
        return Screenful(lines, body.marked + 1 if body.marked >= 0 else -1)

    def _heading(self) -> str:
        running = sum(row.running for row in self.rows)
        found = f'{len(self.rows)} with "{self.query}"' if self.query else f"{len(self.rows)} sessions"
        return f"Preheat: {running} running, {found}"

    def _draw_list(self, width: int, room: int) -> Screenful:
        if not self.rows:
            text = f'Nothing found for "{self.query}".' if self.query else "No session yet: `preheat` reads them."
            return Screenful([text[:width]], -1)
        first = max(0, min(self.selected - room // 2, len(self.rows) - room))
        shown = self.rows[first : first + room]
        return Screenful([_draw_row(row, width) for row in shown], self.selected - first)

    def _draw_detail(self, width: int, room: int) -> Screenful:
        wrapped = [line for each in self._lines for line in textwrap.wrap(each, width, drop_whitespace=False) or [""]]
        self._scroll = max(0, min(self._scroll, len(wrapped) - room))
        return Screenful(wrapped[self._scroll : self._scroll + room], -1)


def _draw_row(row: WatchRow, width: int) -> str:
    mark = "*" if row.running else " "
    cells = [f"{mark} {row.name:<8.8}"]
    if width >= _NARROW:
        cells.append(f"{row.agent:<11.11}")
    cells += [f"{one_line(row.project, 14):<14}" if width >= 50 else "", f"{row.state:<16.16}"]
    start = "  ".join(cell for cell in cells if cell)
    return f"{start}  {one_line(row.about, max(4, width - len(start) - 2))}"[:width]
