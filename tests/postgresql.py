"""A PostgreSQL server of the tests' own: a cluster in a temporary folder, on loopback, with a password, ended with the tests.

It knows nothing of Preheat. `postgresql_url` in `conftest.py` gives a test an empty database on it.
"""

import glob
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile

import psycopg

OWNER = "preheat_owner"


def find_programs() -> str:
    """The folder of initdb and pg_ctl of the newest server here; empty where there is none."""
    if found := shutil.which("initdb"):
        return os.path.dirname(os.path.realpath(found))
    found_ones = glob.glob("/usr/lib/postgresql/*/bin/initdb") + glob.glob("/opt/homebrew/opt/postgresql*/bin/initdb")
    return os.path.dirname(max(found_ones)) if found_ones else ""


class PostgresqlServer:
    """A running server; `stop` and `start` let a test take it away and bring it back."""

    def __init__(self, programs: str, settings: str = "-c fsync=off") -> None:
        self._programs = programs
        self._settings = settings
        self._folder = tempfile.mkdtemp(prefix="preheat-postgresql-")
        self._data = os.path.join(self._folder, "data")
        self._runner: list[str] = []
        self.password = secrets.token_urlsafe(12)
        self.port = _find_free_port()
        self._count = 0
        password_file = os.path.join(self._folder, "password")
        with open(password_file, "w", encoding="utf-8") as file:
            file.write(self.password)
        if os.getuid() == 0:  # the server refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            os.chown(password_file, user.pw_uid, user.pw_gid)
            self._runner = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self._run(
            "initdb", "--pgdata", self._data, "--username", OWNER, "--pwfile", password_file,
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' {self._settings}"
        log = os.path.join(self._folder, "log")
        self._run("pg_ctl", "start", "--pgdata", self._data, "--wait", "--silent", "--log", log, "--options", options)
        self._is_running = True

    def stop(self, mode: str = "immediate") -> None:
        """Take the server away; `immediate` is what a pulled plug looks like to its clients."""
        self._run("pg_ctl", "stop", "--pgdata", self._data, "--wait", "--silent", "--mode", mode)
        self._is_running = False

    def is_running(self) -> bool:
        """Whether a test has not taken it away."""
        return self._is_running

    def create_database(self, template: str = "template1") -> str:
        """The address of a new database: an empty one, or a copy of another."""
        self._count += 1
        name = f"preheat_{os.getpid()}_{self._count}"
        with psycopg.connect(self.url_of("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return self.url_of(name)

    def drop_database(self, url: str) -> None:
        name = url.rpartition("/")[2]
        with psycopg.connect(self.url_of("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def processor_seconds(self) -> float:
        """Processor time of all its processes so far, those that ended included."""
        with open(os.path.join(self._data, "postmaster.pid"), encoding="ascii") as file:
            first = int(file.readline())
        ticks = sum(_read_ticks(pid, 13, 15) for pid in (first, *_list_children(first))) + _read_ticks(first, 15, 17)
        return ticks / os.sysconf("SC_CLK_TCK")

    def url_of(self, database: str, user: str = OWNER, password: str = "") -> str:
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._runner, os.path.join(self._programs, program), *arguments]
        # The server keeps the streams it was started with, so a pipe would never end.
        with tempfile.TemporaryFile() as output:
            code = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, cwd="/"
            ).returncode
            output.seek(0)
            assert code == 0, output.read().decode(errors="replace")


def _list_children(process: int) -> list[int]:
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(each) for each in file.read().split()]


def _read_ticks(process: int, start: int, end: int) -> int:
    """Some of the counters of a process in Linux; 0 if it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return sum(int(each) for each in file.read().rpartition(") ")[2].split()[start - 2 : end - 2])
    except (OSError, ValueError):
        return 0


def _find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
