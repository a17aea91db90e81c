"""Settings for every test: interrupts work however the tests were started, and hypothesis has no deadline."""

import signal

from hypothesis import HealthCheck, settings

# A shell makes background jobs ignore Ctrl-C, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Busy machines are slow.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
