"""Hostile MCP requests: JSON-RPC that is wrong in every way, over standard input and over HTTP.

The server answers or ignores each of them, says nothing on standard output that is no JSON-RPC, and answers a sound request
afterwards.
"""

import json
import os
import queue
import random
import subprocess
import threading
import urllib.error
import urllib.request
from typing import Any

from tests.attacks.attack import AttackResult, Progress, Size, guard
from tests.attacks.mutations import MUTATIONS
from tests.attacks.processes import Home
from tests.mcp.conftest import Served, over_http
from tests.waiting import HUNG

LINES: dict[Size, int] = {"small": 60, "full": 3_000}
POSTS: dict[Size, int] = {"small": 15, "full": 500}
EVERY = 50
"""Lines after which a sound request must be answered."""
HELLO = {
    "jsonrpc": "2.0", "id": "hello", "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}},
}  # fmt: skip
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS = ("lessons", "search_sessions", "warm_start", "warm_session", "profile", "nothing")
SOUND = (
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "lessons", "arguments": {"words": "pytest"}},
    },
    {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
    {"jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": {"name": "warm_start", "arguments": {}}},
    {"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": "preheat://templates/mine"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    HELLO,
)


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Fuzz the MCP server over both of its ways."""
    result = AttackResult()
    chance = random.Random(seed)
    home = Home(folder)
    _fuzz_stdio(result, home, chance, size, seed)
    _fuzz_http(result, home, chance, size, seed)
    result.figures |= {"lines": LINES[size], "posts": POSTS[size]}
    return result


def make_request(chance: random.Random) -> bytes:
    """A request that may be sound in parts."""
    request = dict(chance.choice(SOUND))
    if request.get("method") == "tools/call":
        values: list[Any] = ["pytest", "", None, 7, [], {}, "../../etc/passwd", "x" * 20_000, "\x00", {"$ref": "#"}]
        names = ("words", "project", "task", "session", "action", "name", "limit")
        arguments = {chance.choice(names): chance.choice(values) for _ in range(chance.randint(0, 4))}
        request["params"] = {"name": chance.choice(TOOLS), "arguments": arguments}
    data = json.dumps(request).encode()
    if chance.random() < 0.3:
        return data
    _, mutate = chance.choice(MUTATIONS)
    return mutate(data, json.dumps(chance.choice(SOUND)).encode(), chance)


class _Server:
    """The server on standard input and output; its lines are read by a thread."""

    def __init__(self, home: Home) -> None:
        self._process = subprocess.Popen(
            home.command("mcp"),
            env=home.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self.not_json: list[bytes] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.replace(b"\n", b" ") + b"\n")
        self._process.stdin.flush()

    def wait_for(self, identity: str) -> None:
        """Wait for the answer to a request."""
        while True:
            line = self._lines.get(timeout=HUNG)
            if not line:
                raise RuntimeError("the server ended")
            try:
                found = json.loads(line)
            except ValueError:
                self.not_json.append(line)
                continue
            if isinstance(found, dict) and found.get("id") == identity:
                return

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def _fuzz_stdio(result: AttackResult, home: Home, chance: random.Random, size: Size, seed: int) -> None:
    progress = Progress("requests")
    server = _Server(home)
    try:
        with guard(result, f"seed {seed}: stdio"):
            for sound in (HELLO, READY):
                server.send(json.dumps(sound).encode())
            server.wait_for("hello")
        for number in range(LINES[size]):
            progress(f"line {number}")
            with guard(result, f"seed {seed}: stdio, line {number}"):
                server.send(make_request(chance))
                if number % EVERY == EVERY - 1 or number == LINES[size] - 1:
                    server.send(json.dumps({**SOUND[0], "id": f"sound-{number}"}).encode())
                    server.wait_for(f"sound-{number}")
            if result.broken:
                break
        result.check(not server.not_json, f"seed {seed}: lines that are no JSON: {server.not_json[:2]!r}")
    finally:
        server.stop()
        progress.clear()


def _fuzz_http(result: AttackResult, home: Home, chance: random.Random, size: Size, seed: int) -> None:
    progress = Progress("requests")
    with over_http(home.folder, "--project", os.path.join(home.home)) as served:
        for number in range(POSTS[size]):
            progress(f"post {number}")
            token = served.token if chance.random() < 0.8 else chance.choice(("", "wrong", "ü", "x" * 5000))
            with guard(result, f"seed {seed}: HTTP, post {number}"):
                status = _post(served, make_request(chance), token)
                result.check(
                    token == served.token or status in (400, 401, 403, 421),
                    f"seed {seed}: HTTP, post {number}: status {status} without the token",
                )
                result.check(status < 500, f"seed {seed}: HTTP, post {number}: status {status}")
        with guard(result, f"seed {seed}: HTTP, a sound request at the end"):
            status = _post(served, json.dumps(SOUND[0]).encode(), served.token)
            # Let in: whether it may come without a session is for the protocol to say.
            result.check(status in (200, 400), f"seed {seed}: HTTP, a sound request at the end: {status}")
    progress.clear()


def _post(served: Served, body: bytes, token: str) -> int:
    headers = {
        "Authorization": f"Bearer {token}".encode().decode("latin-1"),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = urllib.request.Request(served.url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=HUNG) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
