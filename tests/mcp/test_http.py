"""The MCP server over HTTP: the real command, asked by the SDK's own client, and by those who should not get in."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from preheat.mcp.http import is_loopback
from preheat.tools import TOOLS, call
from tests.ingest.machine import Machine
from tests.tools.conftest import SHOP
from tests.waiting import HUNG

from .conftest import PATIENCE, Served, command, environment, over_http

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def request_status(served: Served, **headers: str) -> int:
    """The status of a bare request; `token` and `host` are ours unless given."""
    all_headers = {
        "authorization": f"Bearer {served.token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **headers,
    }
    request = urllib.request.Request(served.url, json.dumps(LIST).encode(), all_headers)
    try:
        with urllib.request.urlopen(request, timeout=HUNG) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_are_called_over_http(taught: Machine, mode: str) -> None:
    """The same answers as over standard input and output, many at once."""

    async def run(served: Served) -> list[Any]:
        found: list[Any] = []
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {served.token}"}, timeout=HUNG) as http:
            transport = streamable_http_client(served.url, http_client=http)
            with anyio.fail_after(PATIENCE):
                async with Client(transport, mode=mode) as client:
                    assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in TOOLS]

                    async def ask() -> None:
                        answer = await client.call_tool("lessons", {"words": "pytest", "project": "shop"})
                        found.append(answer.structured_content)

                    async with anyio.create_task_group() as group:
                        for _ in range(20):
                            group.start_soon(ask)
        return found

    with over_http(taught.folder) as served:
        answers = anyio.run(run, served)
    assert len(answers) == 20
    expected = call("lessons", {"words": "pytest", "project": "shop"}, taught.folder, SHOP)
    assert all(answer == expected for answer in answers)


def test_requests_without_token_or_with_a_foreign_host_are_refused(taught: Machine) -> None:
    """Another user of the machine has no token; a web page sends another host or its origin."""
    with over_http(taught.folder) as served:
        port = served.url.split(":")[2].split("/")[0]
        assert request_status(served) in (200, 400)  # let in: what is wrong with it is for the protocol to say
        assert request_status(served, authorization="") == 401
        assert request_status(served, authorization="Bearer wrong") == 401
        assert request_status(served, authorization=served.token) == 401
        assert request_status(served, host=f"evil.example:{port}") == 421
        assert request_status(served, host=f"127.0.0.1.evil.example:{port}") == 421
        assert request_status(served, origin="https://evil.example") == 403
        assert request_status(served, origin="null") == 403
        assert request_status(served, origin=f"http://localhost:{port}") in (200, 400)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="memory is read from /proc")
def test_strangers_cost_neither_memory_nor_anybodys_turn(taught: Machine) -> None:
    """Bodies without the token are not read, and who only connects is closed for those who ask."""
    with over_http(taught.folder) as served, ExitStack() as connections:
        port = int(served.url.split(":")[2].split("/")[0])
        assert request_status(served) in (200, 400)
        before = _memory(served)
        for number in range(320):
            connection = connections.enter_context(socket.create_connection(("127.0.0.1", port), HUNG))
            with suppress(ConnectionError):
                if number % 4 == 0:
                    connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3000000\r\n\r\n")
                    connection.sendall(b"x" * 2_000_000)
                elif number % 4 == 1:
                    connection.sendall(
                        b"GET /mcp HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\nHost: 127.0.0.1\r\n\r\n"
                    )
        assert request_status(served) in (200, 400)
        assert _memory(served) - before < 30 << 20
        large = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Length: 30000000\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), HUNG) as connection, suppress(ConnectionError):
            connection.sendall(large % served.token.encode() + b"x" * 30_000_000)
        assert request_status(served) in (200, 400)
        assert _memory(served) - before < 30 << 20


def _memory(served: Served) -> int:
    with open(f"/proc/{served.process.pid}/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM"))


def test_the_token_is_stored_for_the_owner_only(taught: Machine) -> None:
    """The next server has the same token, because clients have it in their settings."""
    with over_http(taught.folder) as first, over_http(taught.folder) as second:
        assert first.token == second.token
        assert first.url != second.url
        assert first.url.startswith("http://127.0.0.1:")
        assert len(first.token) >= 32


def test_json_prints_url_and_header(taught: Machine) -> None:
    process = subprocess.Popen(
        command("--http", "--port", "0", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(taught.folder),
    )
    try:
        assert process.stdout is not None
        printed = json.loads(process.stdout.readline())
        token = printed["headers"]["Authorization"].removeprefix("Bearer ")
        assert request_status(Served(printed["url"], token, process)) in (200, 400)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0, 0.01, 0.05, 1])
def test_the_http_server_ends_quietly_on_signals(taught: Machine, number: signal.Signals, seconds: float) -> None:
    """Also while it is still starting."""
    with over_http(taught.folder) as served:
        time.sleep(seconds)
        served.process.send_signal(number)
        out, err = served.process.communicate(timeout=HUNG)
        assert (out, err) == ("", "")
        assert served.process.returncode == 0


def test_a_taken_port_is_refused_in_one_line(taught: Machine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            command("--http", "--port", str(taken.getsockname()[1])),
            capture_output=True,
            text=True,
            timeout=HUNG,
            env=environment(taught.folder),
        )
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
    assert "`--port 0` takes a free one" in done.stderr


def test_http_options_without_http_are_refused(taught: Machine) -> None:
    for words in (("--port", "9000"), ("--json",)):
        done = subprocess.run(
            command(*words), capture_output=True, text=True, timeout=HUNG, env=environment(taught.folder)
        )
        assert done.returncode == 2
        assert "are for --http" in done.stderr


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_addresses_are_recognised(host: str, own: bool) -> None:
    assert is_loopback(host) is own


def test_other_machines_are_answered_only_with_host(taught: Machine) -> None:
    """With a warning, still with the token, and only by allowed host names."""
    with over_http(taught.folder, "--host", "0.0.0.0", "--allow-host", "desk.example") as served:
        port = served.url.split(":")[2].split("/")[0]
        local = served._replace(url=f"http://127.0.0.1:{port}/mcp")
        assert request_status(local) in (200, 400)
        assert request_status(local, host=f"desk.example:{port}") in (200, 400)
        assert request_status(local, host=f"evil.example:{port}") == 421
        assert request_status(local, authorization="") == 401
