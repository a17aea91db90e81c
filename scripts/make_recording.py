"""Writes `docs/images/demo.svg`: what `preheat demo` prints in a window of 110 columns, as a picture for the README.

    python scripts/make_recording.py

A test checks that the picture has the lines of the real output.
"""

import io
import os
import re
import subprocess
import sys

from rich.console import Console
from rich.text import Text

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(CHECKOUT, "docs", "images", "demo.svg")
COLUMNS = 110
_FETCHED_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""The fonts that the picture would fetch from another place."""


def run_demo() -> str:
    """What the command prints, with colours."""
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return subprocess.check_output(
        [sys.executable, "-m", "preheat", "demo"],
        env={**environment, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        text=True,
    )


def make_picture(printed: str) -> str:
    console = Console(
        record=True, width=COLUMNS + 10, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text("$ preheat demo", "bold green"))
    console.print(Text.from_ansi(printed))
    return _FETCHED_FONTS.sub("", console.export_svg(title="preheat demo", unique_id="demo"))


def main() -> int:
    with open(PICTURE, "w", encoding="utf-8") as stream:
        stream.write(make_picture(run_demo()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
