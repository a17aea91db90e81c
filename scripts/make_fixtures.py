"""Makes the recorded sessions in `tests/fixtures/` anew: real agent programs run against a scripted model.

    python scripts/make_fixtures.py [agent ...]

Each agent has a maker that fills a folder; what differs between machines is then replaced, always the
same way. Ids and times stay as the program wrote them. Knows the agents only through `MAKERS`.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(CHECKOUT, "tests", "fixtures")
sys.path[:0] = [CHECKOUT, os.path.join(CHECKOUT, "src")]

from scripts import (  # noqa: E402 - the checkout has to be found first
    cline_fixtures,
    codex_exec_fixtures,
    codex_fixtures,
    copilot_fixtures,
    cursor_fixtures,
    gemini_fixtures,
    hermes_fixtures,
    mini_swe_agent_fixtures,
    opencode_fixtures,
    pi_fixtures,
)

Maker = Callable[[str], None]
"""Runs the program in a place of its own and writes scrubbed fixtures into the folder."""

MAKERS: dict[str, Maker] = {
    "cline": cline_fixtures.make,
    "codex": codex_fixtures.make,
    "codex_exec": codex_exec_fixtures.make,
    "copilot": copilot_fixtures.make,
    "cursor": cursor_fixtures.make,
    "gemini": gemini_fixtures.make,
    "hermes": hermes_fixtures.make,
    "mini_swe_agent": mini_swe_agent_fixtures.make,
    "opencode": opencode_fixtures.make,
    "pi": pi_fixtures.make,
}


def main(names: list[str]) -> int:
    """Make the fixtures of the named agents, or of all."""
    for name in names or MAKERS:
        if name not in MAKERS:
            print(f"make_fixtures: `{name}` is not one of {', '.join(MAKERS)}", file=sys.stderr)
            return 2
        target = os.path.join(FIXTURES, name)
        with tempfile.TemporaryDirectory() as made:
            folder = os.path.join(made, name)
            os.makedirs(folder)
            MAKERS[name](folder)  # the old ones go only once the new ones are there
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
        print(f"make_fixtures: {name}: {', '.join(sorted(os.listdir(target)))}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
