"""Runs `preheat` with a daemon that has all the time it needs: `python -P patient.py serve --foreground`.

Its limits keep an agent from waiting; on a busy machine they would also decide what a test sees. A limit that is a test's own
subject is tested where it can be set. Knows no event.
"""

import sys

import preheat.daemon.process
import preheat.daemon.server
import preheat.daemon.wire
from preheat.__main__ import main
from preheat.daemon.time_limit import TimeLimit

LONG = 600.0
LIMITS = (
    (preheat.daemon.server, "CONTEXT_SECONDS"),
    (preheat.daemon.server, "PROMPT_SECONDS"),
    (preheat.daemon.server, "SCORE_SECONDS"),
    (preheat.daemon.server, "FROZEN_SECONDS"),
    (preheat.daemon.server, "STOP_SECONDS"),
    (preheat.daemon.server, "TURN_SECONDS"),
    (preheat.daemon.wire, "REQUEST_SECONDS"),
)


for _module, _name in LIMITS:
    # Checked on import, so that a renamed constant fails the collection of the tests instead of leaving a daemon impatient.
    if not isinstance(vars(_module).get(_name), float):
        raise TypeError(f"`{_module.__name__}.{_name}` is not a limit in seconds")
if vars(preheat.daemon.process).get(TimeLimit.__name__) is not TimeLimit:
    raise TypeError(f"`{preheat.daemon.process.__name__}` does not use `{TimeLimit.__name__}`")


class PatientTimeLimit(TimeLimit):
    """A time limit that no event reaches, however busy the machine is."""

    def __call__(self, seconds: float, of_computing: bool = False) -> TimeLimit:
        return super().__call__(LONG, of_computing)


if __name__ == "__main__":
    for module, name in LIMITS:
        setattr(module, name, LONG)
    setattr(preheat.daemon.process, TimeLimit.__name__, PatientTimeLimit)
    sys.exit(main())
