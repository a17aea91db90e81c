"""Settings for every test (interrupts work however the tests were started, hypothesis has no deadline), both hook clients, and a
database server."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings

from preheat.archive import address, connect, postgresql
from preheat.archive.address import ServerAddress
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


@pytest.fixture(scope="session")
def archive_template(postgresql_server: PostgresqlServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with an empty archive, from which others are copied: that is quicker than all migrations."""
    url = postgresql_server.create_database()
    from preheat.archive.server import connect_server

    connect_server(ServerAddress(url), str(tmp_path_factory.mktemp("template")), connect.HEAD, 30.0).close()
    return url.rpartition("/")[2]


@pytest.fixture(params=["sqlite", "postgresql"])
def each_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs a test twice: with the archive of every folder in a file, then on a server, each in a database of its own."""
    with _use_database(request):
        yield str(request.param)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def each_database_of_module(request: pytest.FixtureRequest) -> Iterator[str]:
    """As `each_database`, for tests that share an archive: the databases stay to the end of the module."""
    with _use_database(request):
        yield str(request.param)


@contextmanager
def _use_database(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "sqlite":
        yield
        return
    server: PostgresqlServer = request.getfixturevalue("postgresql_server")
    template: str = request.getfixturevalue("archive_template")
    made: dict[str, ServerAddress] = {}

    def look_up(folder: str) -> ServerAddress:
        if folder not in made:
            made[folder] = ServerAddress(server.create_database(template))
        return made[folder]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(address, "_look_up", look_up)
        yield
    postgresql.end_keeping()
    for each in made.values():
        server.drop_database(each.url)
