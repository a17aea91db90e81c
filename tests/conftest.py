"""What holds for every test. Some interrupt programs that they start, whoever started the tests; none may hang on the clock."""

import signal

from hypothesis import HealthCheck, settings

# A shell starts what it runs in the background deaf to Ctrl-C, and every program below would be so too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# An example may take as long as a busy machine takes for it.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
