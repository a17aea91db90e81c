"""What each agent's program does with a text at each moment: recorded with the real programs, and written into the install guide.

    python scripts/make_moments.py             write the tables
    python scripts/make_moments.py --record    run every program against the scripted model first (some minutes)

The recording is `tests/fixtures/moments.json`. A test fails where the recording, what the agents' folders declare, and the table
differ; `tests/programs/test_moments.py` runs the programs again.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from preheat.agents import WITH_HOOKS, hooks_of, places_of
from preheat.agents.hooks import Hooks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "guides", "install.md")
RECORDING = os.path.join(ROOT, "tests", "fixtures", "moments.json")
BEGIN, END = "<!-- moments -->", "<!-- /moments -->"
BEGIN_QUOTES, END_QUOTES = "<!-- received -->", "<!-- /received -->"
_HEAD = (
    "| | at the start | with a prompt | before a command | after a call | after a tool's error | resumed session | compaction "
    "| to the person after a turn | tried with |\n|---|---|---|---|---|---|---|---|---|---|"
)
_LATER = "at the next moment"
_REACHES = {
    "start": {"request": "yes", "never": "no"},
    "prompt": {"request": "yes", "never": "no"},
    "before_call": {"request": "before it runs", "result": "with its result", "never": _LATER},
    "after_call": {"result": "yes", "never": _LATER},
    "failure": {
        "result": "yes", "later": "with a later request", "unreported": f"{_LATER}, from the transcript", "never": _LATER,
    },
    "resume": {"kept": "still has its context", "lost": "is given it again"},
    "compaction": {
        "kept": "context kept", "start": "given again", "next": f"given again {_LATER}", "lost": "lost until resumed",
    },
}  # fmt: skip


def table() -> str:
    """The table of all agents with hooks."""
    return "\n".join((_HEAD, *(_row(agent) for agent in WITH_HOOKS)))


def _row(agent: str) -> str:
    hooks = find_hooks(agent)
    cells = [words[getattr(hooks.moments, name)] for name, words in _REACHES.items()]
    cells.append("yes" if hooks.moments.person else f"no: {_LATER}")
    cells.append(hooks.setup.tested_version or "its documentation")
    return f"| {places_of(agent).title} | {' | '.join(cells)} |"


def quotes() -> str:
    """What the model of each recorded program received of a call that is known to fail."""
    head = "| | the call is warned of | with `hold` | when the held call comes again |\n|---|---|---|---|"
    rows = [
        f"| {places_of(agent).title} | {_quote(found['warned']['first'])} | {_quote(found['held']['first'])} |"
        f" {_quote(found['held']['again'])} |"
        for agent, found in load_recording().items()
    ]
    return "\n".join((head, *rows))


def _quote(lines: Sequence[str]) -> str:
    """Lines as one cell of a table."""
    return "<br>".join(f"`` {line.replace('|', '&#124;')} ``" for line in lines)


def find_hooks(agent: str) -> Hooks:
    found = hooks_of(agent)
    if found is None:
        raise SystemExit(f"moments: `{agent}` has no hooks")
    return found


def load_recording() -> dict[str, dict[str, Any]]:
    """By agent: the version of its program, what was observed, and the words that its model received of a call known to fail."""
    with open(RECORDING, encoding="utf-8") as stream:
        found: dict[str, dict[str, Any]] = json.load(stream)
    return found


def record() -> None:
    """Run every program that can be run, and write down what the model received."""
    sys.path.insert(0, ROOT)
    from tests.programs.machines import MACHINES
    from tests.programs.moments import observe, observe_guess

    found = {}
    for agent in MACHINES:
        with tempfile.TemporaryDirectory() as folder:
            observed = observe(agent, Path(folder))
        found[agent] = {"version": find_hooks(agent).setup.tested_version, **observed._asdict()}
        for name, hold in (("warned", False), ("held", True)):
            with tempfile.TemporaryDirectory() as folder:
                found[agent][name] = observe_guess(agent, Path(folder), hold).words
    with open(RECORDING, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def with_tables(page: str) -> str:
    """The page with its tables replaced."""
    for first, last, text in ((BEGIN, END, table()), (BEGIN_QUOTES, END_QUOTES, quotes())):
        head, begin, rest = page.partition(first)
        _, end, tail = rest.partition(last)
        if not begin or not end:
            raise SystemExit(f"moments: `{first}` … `{last}` is missing in {PAGE}")
        page = f"{head}{first}\n{text}\n{last}{tail}"
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="run the programs first")
    if parser.parse_args().record:
        record()
    page = Path(PAGE)
    page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
