"""Offers hook events to a daemon's socket at a given rate, whatever it answers: `python -m tests.attacks.flood_client ORDER`.

One process and one connection for each event, as hook clients make them, each with the client's time limit. The order and what
came of it are JSON. Knows nothing of what the events mean to the daemon.
"""

import asyncio
import json
import os
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

LIMIT = 1.5
"""Seconds that the real client waits; then it keeps the event in the spool."""
SHARES = (0.5, 0.95, 0.99, 1.0)
_OUTPUT = (
    "\n".join(f"tests/test_part{number}.py ........ [ {number}%]" for number in range(25)) + "\n320 passed in 4.1s\n"
)


@dataclass
class Order:
    folder: str
    rate: int
    seconds: float
    sessions: int
    seed: int


@dataclass
class Report:
    offered: int = 0
    answered: int = 0
    late: int = 0
    """No answer within the limit: a real client would spool the event."""
    failed: int = 0
    """Connections that were refused or ended without an answer."""
    took: float = 0.0
    latencies: list[float] = field(default_factory=list)
    """Seconds until the answer; in the printed report their percentiles `SHARES`."""


def event(number: int, sessions: int, seed: int) -> bytes:
    """The event of a number: each session begins with its start, then has commands and edits, and a prompt now and then."""
    turn, place = divmod(number, sessions)
    head = {"session_id": f"flood-{seed}-{place}", "cwd": f"/w/project-{place % 500}", "permission_mode": "default"}
    if turn == 0:
        return json.dumps({**head, "hook_event_name": "SessionStart", "source": "startup"}).encode()
    if turn % 9 == 1:
        return json.dumps({**head, "hook_event_name": "UserPromptSubmit", "prompt": f"do step {turn} now"}).encode()
    call: dict[str, Any] = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"call_{number}"}
    call |= {"tool_input": {"command": f"pytest tests/test_part{number % 7}.py"}}
    call["tool_response"] = {"stdout": _OUTPUT, "stderr": "", "interrupted": False}
    if number % 3 == 0:
        path = f"{head['cwd']}/src/part{number % 11}.py"
        call |= {"tool_name": "Edit", "tool_input": {"file_path": path, "old_string": "a", "new_string": f"b{number}"}}
        call["tool_response"] = {"filePath": path, "structuredPatch": []}
    return json.dumps({**head, **call}).encode()


class _Exchange(asyncio.Protocol):
    """One event and its answer."""

    def __init__(self, payload: bytes, done: "asyncio.Future[bytes]") -> None:
        self._payload = payload
        self._done = done
        self._answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"claude_code %d\n" % len(self._payload) + self._payload)

    def data_received(self, data: bytes) -> None:
        self._answer += data

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(self._answer)


async def _connect(connection: socket.socket, turn: asyncio.Lock) -> None:
    """Connect, however long the queue of the other side is full: one after the other, as the system wakes clients that wait.
    (`asyncio` takes a full queue for a connection that is made.)"""
    async with turn:
        while True:
            try:
                connection.connect("socket")
            except BlockingIOError:
                await asyncio.sleep(0.001)
            else:
                return


async def _offer(payload: bytes, report: Report, turn: asyncio.Lock) -> None:
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    transport: asyncio.BaseTransport | None = None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        async with asyncio.timeout(LIMIT):
            await _connect(connection, turn)
            done: asyncio.Future[bytes] = loop.create_future()
            transport, _ = await loop.create_unix_connection(lambda: _Exchange(payload, done), sock=connection)
            answer = await done
        if answer.startswith(b"preheat 1 "):
            report.answered += 1
            report.latencies.append(time.monotonic() - began)
        else:
            report.failed += 1
    except TimeoutError:
        report.late += 1
    except OSError:
        report.failed += 1
    finally:
        (transport or connection).close()


async def flood(order: Order) -> Report:
    """Offer all events on time, or as soon after it as this process can."""
    report = Report()
    turn = asyncio.Lock()
    began = time.monotonic()
    tasks: set[asyncio.Task[None]] = set()
    total = int(order.rate * order.seconds)
    while report.offered < total:
        due = min(total, int((time.monotonic() - began) * order.rate) + 1)
        while report.offered < due:
            task = asyncio.create_task(_offer(event(report.offered, order.sessions, order.seed), report, turn))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            report.offered += 1
        await asyncio.sleep(0.002)
    report.took = time.monotonic() - began
    while tasks:
        await asyncio.wait(tasks)
    return report


def main() -> None:
    order = Order(**json.loads(sys.argv[1]))
    os.chdir(os.path.join(order.folder, "live"))
    report = asyncio.run(flood(order))
    waits = sorted(report.latencies) or [0.0]
    report.latencies = [waits[int(share * (len(waits) - 1))] for share in SHARES]
    print(json.dumps(asdict(report)))


if __name__ == "__main__":
    main()
