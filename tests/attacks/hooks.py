"""Hostile hook payloads of every agent, over the real socket, by HTTP and through the real client.

Whatever comes in, what goes out is nothing or one JSON object without a decision that nobody asked for, the client ends with 0
and says nothing else, and the daemon goes on.
"""

import json
import os
import random
import socket
import subprocess
import sys
import time
from typing import Any

from preheat import daemon_client
from preheat.agents import WITH_HOOKS
from tests.attacks.attack import AttackResult, Progress, Size, guard, percentile
from tests.attacks.mutations import MUTATIONS
from tests.attacks.processes import Home, RunningDaemon, running_daemon
from tests.shared import FIXTURES
from tests.waiting import HUNG

MUTANTS: dict[Size, int] = {"small": 12, "full": 1_500}
"""Payloads of each agent."""
CLIENTS: dict[Size, int] = {"small": 4, "full": 60}
RAW: dict[Size, int] = {"small": 25, "full": 1_000}
"""Raw requests to each of the two sockets."""
MOST_MEMORY = 600_000_000
"""Bytes that the daemon may use while bodies of 50 MB come in."""
DECISIONS = ('"allow"', '"approve"', '"deny"', '"block"', '"continue":false', '"continue": false')
"""What no answer has unless the person asked for it in their settings, which are empty here."""


def attack(size: Size, seed: int, folder: str) -> AttackResult:
    """Send payloads that no agent sends."""
    result = AttackResult()
    progress = Progress("hooks")
    chance = random.Random(seed)
    home = Home(folder)
    client = daemon_client.write_client(home.folder)
    latencies: list[float] = []
    with running_daemon(home) as daemon:
        recorded = {agent: _recorded(agent) for agent in WITH_HOOKS}
        others = [payload for payloads in recorded.values() for payload in payloads]
        for agent, payloads in recorded.items():
            for number in range(MUTANTS[size]):
                progress(f"{agent} {number}")
                name, mutate = chance.choice(MUTATIONS)
                payload = mutate(chance.choice(payloads), chance.choice(others), chance)
                began = time.monotonic()
                with guard(result, f"seed {seed}: {name} of a payload of {agent}, number {number}"):
                    check_answer(daemon.ask(agent, payload))
                latencies.append(time.monotonic() - began)
        peak = _send_large(result, daemon, size)
        for number in range(CLIENTS[size]):
            progress(f"client {number}")
            name, mutate = chance.choice(MUTATIONS)
            agent = chance.choice((*WITH_HOOKS, "nobody", "", "../x", "a b"))
            payload = mutate(chance.choice(others), chance.choice(others), chance)
            with guard(result, f"seed {seed}: client of `{agent}`, {name}, number {number}"):
                _run_client(home, client, agent, payload)
        for number in range(RAW[size]):
            progress(f"raw request {number}")
            with guard(result, f"seed {seed}: raw request {number}"):
                _send_raw(home, chance)
        result.check(daemon.runs(), f"seed {seed}: the daemon ended")
        status = daemon.status()
        result.check(status["failures"] == 0, f"seed {seed}: {status['failures']} failures: {status['troubles']}")
        result.check(peak < MOST_MEMORY, f"seed {seed}: the daemon used {peak / 1e6:.0f} MB")
    progress.clear()
    result.figures |= {
        "agents": len(WITH_HOOKS),
        "answer ms p50/max": f"{percentile(latencies, 0.5) * 1000:.1f}/{percentile(latencies, 1) * 1000:.0f}",
        "overruns": status["overruns"],
        "MB at most": round(peak / 1e6),
    }
    return result


def _recorded(agent: str) -> list[bytes]:
    with open(os.path.join(FIXTURES, "hooks", f"{agent}.jsonl"), "rb") as stream:
        return stream.read().splitlines()


def check_answer(answer: bytes) -> None:
    """An answer that no agent misreads: nothing, or one JSON object without a decision."""
    if not answer:
        return
    found: Any = json.loads(answer)
    if not isinstance(found, dict):
        raise TypeError(f"an answer that is no object: {answer[:100]!r}")
    wrong = [word for word in DECISIONS if word.encode() in answer]
    if wrong:
        raise ValueError(f"an answer with the decision {wrong[0]}: {answer[:200]!r}")


def _send_large(result: AttackResult, daemon: RunningDaemon, size: Size) -> int:
    """Bodies up to the limit and over it; gives the most memory that the daemon used."""
    peak = 0
    head = b'{"session_id":"large","cwd":"/w","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":'
    for body in (
        head + b'"' + b"x" * 7_900_000 + b'"}',
        head + b"[" * 4_000_000,
        head + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        head + b'"' + b"\xff" * 1_000_000 + b'"}',
        head + b'"' + b"AKIA1234" * 900_000 + b'"}',
        head + b'"' + b"x" * 50_000_000 + b'"}',
        *([head + b"y" * 7_000_000] * (2 if size == "small" else 30)),
    ):
        with guard(result, f"a body of {len(body):,} bytes: {body[:140]!r}…", daemon_client.DaemonError):
            check_answer(daemon.ask("claude_code", body))
        peak = max(peak, daemon.memory())
    return peak


def _run_client(home: Home, client: str, agent: str, payload: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", client, agent],
        input=payload, capture_output=True, env=home.variables, timeout=HUNG,
    )  # fmt: skip
    if (done.returncode, done.stderr) != (0, b""):
        raise RuntimeError(f"the client ended with {done.returncode}: {done.stderr[-200:]!r}")
    check_answer(done.stdout)


def _send_raw(home: Home, chance: random.Random) -> None:
    """Bytes that are no request, to the socket or the port; the other side may say nothing, and has to go on."""
    address = daemon_client.known_address(home.folder)
    junk = bytes(chance.randrange(256) for _ in range(chance.randint(0, 300)))
    token = address.token if address is not None and chance.random() < 0.7 else "wrong"
    authorization = f"Authorization: Bearer {token}".encode()
    heads = (
        junk,
        b"claude_code 99999999999999\n" + junk,
        b"claude_code -5\n" + junk,
        b"claude_code 10\n" + junk,
        b"? 0\n",
        b"POST /hook/claude_code HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n" + authorization + b"\r\n\r\n" + junk,
        b"POST /hook/claude_code HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n" + junk,
        b"GET /health HTTP/9.9\r\n" + b"X: y\r\n" * chance.randint(0, 3000) + b"\r\n",
        b"GET /" + b"a" * 100_000,
    )  # fmt: skip
    family = socket.AF_INET if address is not None and chance.random() < 0.5 else socket.AF_UNIX
    place: Any = os.path.join(home.folder, "live", "socket")
    if family == socket.AF_INET and address is not None:
        place = ("127.0.0.1", address.port)
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(HUNG)
        connection.connect(place)
        try:
            connection.sendall(chance.choice(heads))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 16):
                pass
        except (BrokenPipeError, ConnectionResetError, OSError):
            return  # it hung up, which it may
