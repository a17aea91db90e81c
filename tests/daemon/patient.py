"""Runs `preheat` with a daemon that has all the time it needs: `python -P patient.py serve --foreground`.

Its limits keep an agent from waiting; on a busy machine they would also decide what a test sees. A limit that is a test's own
subject is tested where it can be set. Knows no event.
"""

import sys

import preheat.daemon.process
import preheat.daemon.server
import preheat.daemon.wire
from preheat.__main__ import main
from preheat.daemon.engine import TimeLimit

LONG = 600.0
LIMITS = (
    (preheat.daemon.server, "CONTEXT"),
    (preheat.daemon.server, "PROMPT"),
    (preheat.daemon.server, "SCORE"),
    (preheat.daemon.server, "FROZEN"),
    (preheat.daemon.server, "_STOP_SECONDS"),
    (preheat.daemon.wire, "TIME"),
)


class Patient(TimeLimit):
    """A machine that does other things besides may be slow: a test of answers must not depend on it."""

    def __call__(self, seconds: float) -> TimeLimit:
        return super().__call__(LONG)


if __name__ == "__main__":
    for module, name in LIMITS:
        if not isinstance(getattr(module, name), float):
            raise TypeError(f"`{module.__name__}.{name}` is no limit any more")
        setattr(module, name, LONG)
    vars(preheat.daemon.process)["Budget"] = Patient
    sys.exit(main())
