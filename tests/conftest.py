"""What holds for every test. Some interrupt programs that they start, whoever started the tests."""

import signal

# A shell starts what it runs in the background deaf to Ctrl-C, and every program below would be so too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
