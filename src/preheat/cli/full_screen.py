"""A terminal as a whole screen: draws lines, reads keys, and leaves everything as it was, whatever happens.

Knows nothing of what is drawn. Only where the system has `termios`.
"""

import os
import select
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

if sys.platform != "win32":
    import termios
    import tty

KEYS = {
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left", b"\x1bOA": "up", b"\x1bOB": "down",
    b"\x1b[5~": "page up", b"\x1b[6~": "page down", b"\r": "enter", b"\n": "enter", b"\x7f": "backspace",
    b"\x08": "backspace", b"\x1b": "esc", b"\x03": "ctrl-c",
}  # fmt: skip
_LONGEST_KEY = 64
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"


def is_possible() -> bool:
    """Whether a person sits at a terminal that can be a whole screen."""
    return (
        sys.stdin.isatty()
        and sys.stdout.isatty()
        and os.environ.get("TERM", "") not in ("", "dumb")
        and os.name == "posix"
    )


@contextmanager
def whole_screen() -> Iterator[None]:
    """Take the whole screen, and keys without waiting for a line."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    stopped = signal.signal(signal.SIGTERM, _stop)
    try:
        tty.setcbreak(descriptor)
        sys.stdout.write(_ENTER)
        sys.stdout.flush()
        yield
    finally:
        signal.signal(signal.SIGTERM, stopped)
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        sys.stdout.write(_LEAVE)
        sys.stdout.flush()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def screen_size() -> tuple[int, int]:
    """Columns and lines."""
    size = shutil.get_terminal_size()
    return size.columns, size.lines


def draw(lines: Sequence[str], marked: int) -> None:
    """Draw a whole screen; the marked line is inverted."""
    drawn = [f"\x1b[7m{line}\x1b[0m" if number == marked else line for number, line in enumerate(lines)]
    sys.stdout.write("\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in drawn) + "\x1b[J")
    sys.stdout.flush()


def read_keys(seconds: float) -> list[str]:
    """The keys that are pressed within this time; returns at once when there are some."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    if not ready:
        return []
    data = os.read(sys.stdin.fileno(), _LONGEST_KEY)
    if not data:
        return ["q"]  # the terminal is gone
    if data in KEYS:
        return [KEYS[data]]
    return [KEYS.get(letter.encode(), letter) for letter in data.decode("utf-8", "ignore") if letter != "\x1b"]
