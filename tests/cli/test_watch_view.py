"""The full-screen view of `preheat sessions watch`: what keys do, how it looks, and that the terminal comes back."""

import os
import pty
import re
import select
import sys

import pytest

from preheat.cli.watch_view import WatchRow, WatchView
from tests.screens import check_screen
from tests.waiting import HUNG

from .conftest import Person

ROWS = [
    WatchRow("a:1", "0f3c1a2b", "Claude Code", "shop", "struggling, loop", "read the file before you edit it", True),
    WatchRow("a:2", "7a7b7c7d", "Claude Code", "other", "2026-01-09 10:00", "write the release notes", False),
    WatchRow(
        "b:3",
        "019d7d08",
        "Codex CLI",
        "a-very-long-project-name",
        "2026-01-08 09:00",
        "mend the migration " * 20,
        False,
    ),
]


def load(query: str) -> list[WatchRow]:
    return [row for row in ROWS if query in row.about]


def make_view() -> WatchView:
    return WatchView(load, lambda key: [f"detail of {key}", *(f"line {number}" for number in range(50))])


@pytest.mark.parametrize("width", [20, 60, 80, 110, 200])
def test_the_list_fits_every_width(width: int) -> None:
    shown = make_view().draw(width, 10)
    assert len(shown.lines) == 10
    assert max(map(len, shown.lines)) <= width
    assert shown.marked == 1
    if width > 20:
        check_screen(f"watch-{width}", "\n".join(shown.lines))


def test_keys_move_open_scroll_and_go_back() -> None:
    view = make_view()
    assert view.press("down")
    assert view.press("j")
    assert view.press("down")
    assert view.selected == 2
    assert view.press("up")
    assert view.press("enter")
    assert view.draw(80, 10).lines[1] == "detail of a:2"
    view.press("page down", 10)
    assert view.draw(80, 10).lines[1] == "line 9"
    view.press("page down", 1000)
    assert view.draw(80, 10).lines[-2] == "line 49"
    assert view.press("esc")
    assert view.mode == "list"
    assert not view.press("esc")
    assert not view.press("q")


def test_a_search_narrows_the_list_and_escape_widens_it_again() -> None:
    view = make_view()
    for key in ("/", "r", "e", "l", "x", "backspace", "enter"):
        assert view.press(key)
    assert [row.key for row in view.rows] == ["a:2"]
    assert '1 with "rel"' in view.draw(80, 10).lines[0]
    assert view.press("esc")
    assert len(view.rows) == 3


def test_q_is_a_letter_while_searching() -> None:
    view = make_view()
    view.press("/")
    assert view.press("q")
    assert view.typed == "q"


def test_a_search_without_a_hit_says_so() -> None:
    view = make_view()
    for key in ("/", "z", "z", "enter"):
        view.press(key)
    assert view.draw(80, 10).lines[1] == 'Nothing found for "zz".'
    assert view.press("enter"), "there is nothing to open"


def test_the_selected_session_stays_selected_when_others_come() -> None:
    rows = list(ROWS)
    view = WatchView(lambda query: rows, lambda key: [])
    view.press("down")
    rows.insert(0, ROWS[0]._replace(key="new"))
    view.refresh()
    assert view.rows[view.selected].key == "a:2"


def test_on_a_terminal_it_is_a_whole_screen_that_q_ends(archived: Person) -> None:
    child, descriptor = pty.fork()
    if child == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "preheat", "sessions", "watch"],
            {**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )
    shown, sent = b"", [b"j", b"\r", b"\x1b", b"q"]
    for _ in range(int(2 * HUNG)):  # half a second each, at most
        ready, _, _ = select.select([descriptor], [], [], 0.5)
        if ready:
            try:
                piece = os.read(descriptor, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        elif sent and b"q ends" in shown:
            os.write(descriptor, sent.pop(0))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    text = shown.decode()
    assert text.startswith("\x1b[?1049h")
    assert text.endswith("\x1b[?1049l")
    plain = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", text)
    assert "7a7b7c7d" in plain
    assert "you: the migration test fails, fix it" in plain
