"""Stand-ins for both ends of a hook: a client that records what an agent's program sends, and a daemon that answers it.

Knows no agent. The client is installed by `preheat install` and called exactly as the real one is.
"""

import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat import native_client
from preheat.agents import hooks_of
from preheat.agents.hooks import Hooks
from preheat.daemon_client import CLIENT_FILES
from preheat.installing.plans import FilePlan, apply_file_plan, plan_install
from preheat.model.live import HookAnswer, HookEvent, HookName

# The hook client.
Mode: TypeAlias = Literal["answer", "crash", "garbage", "hang", "replace", "block"]
ANSWER_TEXTS: Mapping[HookName, str] = {
    "session_start": "Marked at the start.", "prompt": "Marked at the prompt.", "before_tool": "Marked before a call.",
    "after_tool": "Marked after a call.", "tool_failed": "Marked after a failure.", "before_compaction": "Marked at compaction.",
}  # fmt: skip
REPLACED_OUTPUT = "The output in short."
REFUSAL_REASON = "Refused by a test."

_SHIM = """\
import os, sys
os.environ["PYTHONPATH"] = {source!r}
os.execv({python!r}, [{python!r}, {here!r}, sys.argv[1], {folder!r}, {mode!r}])
"""


def require_hooks(agent: str) -> Hooks:
    """The hooks of an agent. Raises LookupError if it has none."""
    found = hooks_of(agent)
    if found is None:
        raise LookupError(f"`{agent}` has no hooks")
    return found


class HookRecorder:
    """Installs the recording client for an agent, and reads what the agent's program sent it."""

    def __init__(
        self, folder: str, agent: str, environment: Mapping[str, str], mode: Mode = "answer", project: str = ""
    ) -> None:
        self.folder = folder
        self.agent = agent
        self._hooks = require_hooks(agent)
        self.plan: FilePlan = plan_install(agent, folder, environment, project)
        apply_file_plan(self.plan, folder, time.time())
        here = os.path.abspath(__file__)
        source = os.path.dirname(os.path.dirname(os.path.dirname(here)))
        values = {"source": source, "python": sys.executable, "here": here, "folder": folder, "mode": mode}
        native_client.remove(folder)  # else it would be called instead
        with open(os.path.join(folder, CLIENT_FILES[0]), "w", encoding="utf-8") as stream:
            stream.write(_SHIM.format(**values))

    @property
    def payloads(self) -> list[bytes]:
        """The bytes that the program sent, in order."""
        names = sorted(name for name in os.listdir(self.folder) if name.endswith(".payload"))
        found = []
        for name in names:
            with open(os.path.join(self.folder, name), "rb") as stream:
                found.append(stream.read())
        return found

    @property
    def events(self) -> list[HookEvent]:
        """The events that the program sent, in order."""
        found = [self._hooks.read(payload, None) for payload in self.payloads]
        return [event for event in found if event is not None]

    @property
    def settings(self) -> dict[str, object]:
        """The installed settings, where they are JSON."""
        with open(self.plan.path, "rb") as stream:
            found: dict[str, object] = msgspec.json.decode(stream.read())
        return found


def make_answer(event: HookEvent, mode: Mode) -> HookAnswer:
    """The fixed answer to an event."""
    if mode == "replace" and event.name == "after_tool":
        return HookAnswer(output=REPLACED_OUTPUT)
    if mode == "block" and event.name in ("before_tool", "stop"):
        return HookAnswer(block=REFUSAL_REASON)
    return HookAnswer(context=ANSWER_TEXTS.get(event.name, ""))


def main(agent: str, folder: str, mode: Mode) -> None:
    """Run the client once."""
    payload = sys.stdin.buffer.read()
    path = os.path.join(folder, f"{time.time_ns():020}-{os.getpid()}.payload")
    with open(path, "wb") as stream:
        stream.write(payload)
    os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
    event = require_hooks(agent).read(payload, None)
    if mode == "crash":
        raise RuntimeError("the hook of a test breaks")
    if mode == "garbage":
        print("{ this is no JSON")
        return
    if event is None:
        return
    if mode == "hang" and event.name == "after_tool":
        time.sleep(3600)
    answer = require_hooks(agent).write(event, make_answer(event, mode))
    if answer:
        sys.stdout.buffer.write(answer)


# The daemon.
class RawAnswer(NamedTuple):
    """Bytes that are sent as they are, after a delay."""

    data: bytes
    seconds: float = 0.0


Answer: TypeAlias = HookAnswer | RawAnswer
ChooseAnswer: TypeAlias = Callable[[HookEvent], Answer]


class ListeningDaemon:
    """A daemon that answers every hook event as told; use it as a context manager."""

    def __init__(self, folder: str, agent: str, choose_answer: ChooseAnswer = lambda event: HookAnswer()) -> None:
        self._hooks = require_hooks(agent)
        self._choose_answer = choose_answer
        self.payloads: list[bytes] = []
        """The bytes that it was sent, in order."""
        live = os.path.join(folder, "live")
        os.makedirs(live, exist_ok=True)
        self._path = os.path.join(live, "socket")
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ending = threading.Event()

    @property
    def events(self) -> list[HookEvent]:
        """The events that it was sent, in order."""
        found = [self._hooks.read(payload, None) for payload in self.payloads]
        return [event for event in found if event is not None]

    def __enter__(self) -> "ListeningDaemon":
        # Bound by way of its folder: the whole path could be too long for a socket.
        folder = os.open(os.path.dirname(self._path), os.O_RDONLY)
        try:
            short = f"/proc/self/fd/{folder}"
            self._server.bind(os.path.join(short, "socket") if os.path.isdir(short) else self._path)
        finally:
            os.close(folder)
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._server.close()
        os.unlink(self._path)

    def end(self) -> None:
        """End every delay."""
        self._ending.set()

    def _serve(self) -> None:
        while not self._ending.is_set():
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._answer(connection)
            except OSError:
                return  # the client has hung up

    def _answer(self, connection: socket.socket) -> None:
        head, _, payload = connection.recv(1 << 16).partition(b"\n")
        length = int(head.split()[1])
        while len(payload) < length:
            payload += connection.recv(1 << 16)
        self.payloads.append(payload)
        event = self._hooks.read(payload, None)
        answer = self._choose_answer(event) if event is not None else HookAnswer()
        if isinstance(answer, RawAnswer):
            self._ending.wait(answer.seconds)
            connection.sendall(answer.data)
        elif event is not None:
            answer_bytes = self._hooks.write(event, answer) or b""
            connection.sendall(b"preheat 1 %d\n%b" % (len(answer_bytes), answer_bytes))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])  # type: ignore[arg-type]
