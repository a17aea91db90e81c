"""The hook client: whatever the daemon does or does not do, the agent's program sees exit code 0, in time, and no error."""

import ast
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import preheat
from preheat import daemon_client
from tests.daemon.builders import (
    BRIEF,
    NEVER,
    end_started,
    hook_payload,
    install_client,
    no_start,
    run_client,
    spooled_files,
    started,
)
from tests.shared import bound_by_permissions, needs_permissions
from tests.waiting import HUNG, until


@contextmanager
def listening(folder: str, answer: Callable[[socket.socket], None]) -> Iterator[None]:
    """Something on the daemon's socket that does as it is told with each connection."""
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(os.path.join(folder, "live"))
        server.bind("socket")
        os.chdir(here)
        server.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        server.shutdown(socket.SHUT_RDWR)
        thread.join(HUNG)


def request(connection: socket.socket) -> bytes:
    """All of a request."""
    data = bytearray()
    while b"\n" not in data:
        data += connection.recv(1 << 16)
    head = data.partition(b"\n")[0]
    while len(data) < len(head) + 1 + int(head.split(b" ")[1]):
        data += connection.recv(1 << 20)
    return bytes(data)


@pytest.fixture
def folder(tmp_path: Path, each_client: str) -> str:
    return str(tmp_path / "data")


def test_the_client_prints_the_answer_of_the_daemon(folder: str) -> None:
    got: list[bytes] = []

    def answer(connection: socket.socket) -> None:
        got.append(request(connection))
        connection.sendall(b'preheat 1 9\n{"a": 1}\n')

    client = install_client(folder, no_start())
    with listening(folder, answer):
        assert run_client(client, b'{"b": 2}') == b'{"a": 1}\n'
    assert got == [b'claude_code 8\n{"b": 2}']
    assert spooled_files(folder) == []


@pytest.mark.usefixtures("each_client")
def test_the_client_works_with_a_path_too_long_for_a_socket(tmp_path: Path) -> None:
    folder = str(tmp_path / ("deep" * 30) / "data")

    def answer(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(b"preheat 1 2\n{}")

    client = install_client(folder, no_start())
    with listening(folder, answer):
        assert run_client(client, b"{}") == b"{}"


@pytest.mark.parametrize(
    "said", [b"", b"{}", b"preheat 1 50\n{}", b"preheat 2 2\n{}", b"HTTP/1.1 500 x\r\n\r\n", b"\0" * 5000]
)
def test_an_invalid_answer_is_not_printed(folder: str, said: bytes) -> None:

    def answer(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(said)

    client = install_client(folder, no_start())
    with listening(folder, answer):
        assert run_client(client, b"{}") == b""
    assert len(spooled_files(folder)) == 1


def test_only_the_first_client_waits_for_a_hanging_daemon(folder: str) -> None:
    client = install_client(folder, no_start())
    release = threading.Event()

    def answer(connection: socket.socket) -> None:
        release.wait(HUNG)

    with listening(folder, answer):
        try:
            assert run_client(client, b"{}", limit=BRIEF) == b""
            assert run_client(client, b"{}", limit=NEVER) == b""
        finally:
            release.set()
    assert len(spooled_files(folder)) == 2


def test_the_client_ends_in_time_if_its_input_never_ends(folder: str) -> None:
    client = install_client(folder, no_start())
    process = subprocess.Popen([sys.executable, "-I", "-S", "-E", client, "claude_code"], stdin=subprocess.PIPE)
    assert process.wait(HUNG) == 0
    assert process.stdin is not None
    process.stdin.close()


def test_without_a_daemon_the_event_is_spooled_and_a_daemon_is_started(folder: str) -> None:
    client = install_client(folder)
    try:
        assert run_client(client, hook_payload("UserPromptSubmit", prompt="mend the login")) == b""
        assert daemon_client.wait_for_daemon(True, folder, HUNG) is not None
        until(lambda: daemon_client.status(folder, HUNG)["events"] == 1, "the prompt in the daemon's state")
        until(lambda: spooled_files(folder) == [], "no event that is kept for later")
    finally:
        end_started(folder)


def test_a_session_start_waits_for_the_daemon_that_it_starts(folder: str) -> None:
    """A session's first hook is answered by the daemon that it has started: it is never kept for later."""
    client = install_client(folder)
    try:
        run_client(client, started())
        assert daemon_client.status(folder, HUNG)["events"] == 1
        assert spooled_files(folder) == []
    finally:
        end_started(folder)


def test_a_daemon_that_does_not_start_is_tried_once_in_ten_seconds(folder: str, tmp_path: Path) -> None:
    marks = tmp_path / "starts"
    client = install_client(folder, ["/bin/sh", "-c", f"echo x >> {marks}"])
    stamps = set()  # whoever starts one says so there first
    for _ in range(10):
        run_client(client, b"{}")
        stamps.add(os.stat(os.path.join(folder, "live", "starting")).st_mtime_ns)
    assert len(stamps) == 1
    until(marks.exists, "the one start")


def test_the_daemon_has_no_open_file_of_the_agent(folder: str, tmp_path: Path) -> None:
    runs, ends = tmp_path / "runs", tmp_path / "ends"
    client = install_client(
        folder, ["/bin/sh", "-c", f"echo > {runs}; until test -e {ends}; do sleep 0.1; done; rm {runs}"]
    )
    try:
        run_client(client, b"{}")
        until(runs.exists, "the daemon")
    finally:
        ends.touch()
    until(lambda: not runs.exists(), "the end of the daemon, which ran on until now")


@needs_permissions
@pytest.mark.usefixtures("each_client")
@pytest.mark.skipif(not os.access("/usr/bin/python3", os.X_OK), reason="no Python that another user may run")
def test_the_client_ends_with_0_if_its_home_cannot_be_written(tmp_path: Path) -> None:
    folder = str(tmp_path / "data")
    client = install_client(folder, no_start())
    with bound_by_permissions(str(tmp_path)):
        for each in (os.path.join(folder, "live", "spool"), os.path.join(folder, "live"), folder):
            os.chmod(each, 0o500)
        for _ in range(3):
            assert run_client(client, b"{}", python="/usr/bin/python3") == b""
    assert not os.path.exists(os.path.join(folder, "live", "starting")), "whoever starts one says so there first"
    assert spooled_files(folder) == []


def test_the_client_ends_with_0_if_its_home_cannot_be_made(folder: str) -> None:
    client = install_client(folder, no_start())
    assert run_client(client, started(), PREHEAT_HOME="/proc/self/none") == b""


def test_the_spool_is_bounded(folder: str) -> None:
    client = install_client(folder, no_start())
    spool = Path(folder, "live", "spool")
    for number in range(500):
        (spool / f"{number:020}-1.event").write_bytes(b"claude_code 1.0\n{}")
    run_client(client, b"{}")
    assert len(spooled_files(folder)) == 500
    for each in spool.iterdir():
        each.unlink()
    run_client(client, b" " * 9_000_000)
    assert spooled_files(folder) == []


def test_payloads_over_fifty_megabytes_are_dropped(folder: str) -> None:
    sizes: list[int] = []

    def answer(connection: socket.socket) -> None:
        sizes.append(len(request(connection)))
        connection.sendall(b"preheat 1 0\n")

    client = install_client(folder, no_start())
    with listening(folder, answer):
        assert run_client(client, b"x" * 50_000_000) == b""
        assert run_client(client, b"x" * 50_000_001) == b""
    assert sizes == [50_000_000 + len(b"claude_code 50000000\n")]
    assert spooled_files(folder) == []


def test_a_session_that_preheat_started_is_left_alone(folder: str) -> None:
    """With PREHEAT_RUN set nothing is told to anybody."""
    client = install_client(folder, no_start())
    assert run_client(client, b"{}", PREHEAT_RUN="1") == b""
    assert spooled_files(folder) == []


@pytest.mark.parametrize("name", daemon_client.CLIENT_FILES)
def test_the_client_imports_only_the_standard_library(name: str) -> None:
    package = Path(preheat.__file__).parent
    source = next(path for path in (package / "plugins" / name, package / name) if path.exists())
    tree = ast.parse(source.read_text())
    found = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {str(each).partition(".")[0] for each in found} <= sys.stdlib_module_names
    if name == daemon_client.CLIENT_FILES[0]:
        assert found - {"typing"} == {"_signal", "_socket", "posix", "sys", "time"}
