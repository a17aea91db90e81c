"""Compare a whole screen of text with the copy kept in `tests/snapshots`."""

import os
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"


def check_screen(name: str, text: str) -> None:
    """Assert that the text equals `tests/snapshots/NAME.txt`; with PREHEAT_WRITE_SCREENS=1 write that file instead."""
    path = SNAPSHOTS / f"{name}.txt"
    screen = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n") + "\n"
    if os.environ.get("PREHEAT_WRITE_SCREENS") == "1":
        SNAPSHOTS.mkdir(exist_ok=True)
        path.write_text(screen, encoding="utf-8")
        return
    assert path.is_file(), f"`{path.name}` is missing: run this test once with PREHEAT_WRITE_SCREENS=1"
    assert screen == path.read_text(encoding="utf-8")
