"""Settings for every test (interrupts work however the tests were started, hypothesis has no deadline), and both hook clients."""

import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.daemon.builders import NEVER, TestedClient, build_native_client

# A shell makes background jobs ignore Ctrl-C, `nohup` a closed terminal, and programs that tests start would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Busy machines are slow.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(params=["python", "native"])
def each_client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test twice: `run_client` runs the Python client, then the native one."""
    if request.param == "native":
        if not build_native_client(NEVER):
            pytest.skip("no compiler: agents run the Python client here")
        monkeypatch.setattr(TestedClient, "is_native", True)
    return str(request.param)
