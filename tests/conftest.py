"""Settings for every test (interrupts work however the tests were started, hypothesis has no deadline), both hook clients, and a
database server."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.daemon.builders import NEVER, TestedClient, build_native_client
from tests.postgresql import PostgresqlServer, find_programs

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


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """A real PostgreSQL, started once for all tests of a process."""
    programs = find_programs()
    if not programs:
        if os.environ.get("CI"):
            pytest.fail("no PostgreSQL: scripts/install-postgresql should have installed it")
        pytest.skip("no PostgreSQL here: scripts/install-postgresql installs it")
    server = PostgresqlServer(programs)
    yield server
    server.close()


@pytest.fixture
def postgresql_url(postgresql_server: PostgresqlServer) -> Iterator[str]:
    """The address of an empty database of this test's own."""
    url = postgresql_server.create_database()
    yield url
    postgresql_server.drop_database(url)
