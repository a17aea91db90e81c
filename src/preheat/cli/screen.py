"""Output: consoles with colours only where they belong, and JSON for programs.

Knows nothing of what is printed. Loads rich only when a console is made, because tab completion imports the commands.
"""

import json
import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from preheat.cli.text import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PIPED_WIDTH = 160
"""Output that is not for a terminal always has this width, so that it does not change with the window."""
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|.)")


def console(stderr: bool = False) -> "Console":
    """A console on a stream: colours, links and the window's width only on a terminal, colours never with NO_COLOR."""

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPED_WIDTH
    made = _console_class()(file=stream, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if made.width < 1:  # `COLUMNS=0`, as some programs set it
        made.width = PIPED_WIDTH
    return made


@cache
def _console_class() -> "type[Console]":
    from rich.console import Console  # noqa: PLC0415 - rich takes longer than a completion

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            """The reader closed our output, as `head` does: the command ends, and not as an error."""
            raise BrokenPipeError

    return Terminal


def clean(text: str) -> str:
    """A text from a transcript without terminal control: colours, cursor moves, titles."""
    return printable(_ESCAPES.sub("", text.replace("\r\n", "\n"))) if "\x1b" in text else printable(text)


def say(screen: "Console", text: str = "", style: str = "") -> None:
    """Print one line; the terminal wraps it if it is long."""
    from rich.text import Text  # noqa: PLC0415 - rich takes longer than a completion

    screen.print(Text(text, style), soft_wrap=True)


def plain_table(**options: Any) -> "Table":
    """A table without a box, for a command whose module must not load rich."""
    from rich.table import Table  # noqa: PLC0415 - rich takes longer than a completion

    return Table(box=None, pad_edge=False, **options)


def print_table(screen: "Console", table: "RenderableType") -> None:
    """Print a table without the blanks at the ends of its lines."""
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        screen.file.write(line.rstrip() + "\n")


def hint(text: str) -> None:
    """Print what to do next, on the error stream, so that it is not in the output."""
    say(console(stderr=True), text, "dim")


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(to_json(value, indent=2))
    sys.stdout.write("\n")


def to_json(value: Any, indent: int = 0) -> str:
    """A value as JSON text; file names that are not valid text are escaped."""
    import msgspec  # noqa: PLC0415 - a completion needs none

    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), indent=indent or None)
    return (msgspec.json.format(encoded, indent=indent) if indent else encoded).decode()


def has_unicode() -> bool:
    return (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
