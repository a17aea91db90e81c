"""Codex's application server: what its editors talk to, here for what `codex exec` cannot do.

It starts threads in the legacy history mode, interrupts turns and compacts on request. Knows nothing of
rollouts.
"""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from preheat.testing.programs import ProgramFailed, end_group
from preheat.testing.programs.codex import CodexHome

Message = dict[str, Any]


class CodexServer:
    """A running application server; use it as a context manager."""

    def __init__(self, home: CodexHome, limit: float = 30.0) -> None:
        self._limit = limit
        self._asked = 0
        self._messages: queue.Queue[Message] = queue.Queue()
        self._process = subprocess.Popen(
            [home.program, "app-server"],
            cwd=home.project,
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "CodexServer":
        self._listener.start()
        client = {"name": "codex_vscode", "title": "scripted", "version": "1"}
        self.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self._send({"method": "initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            end_group(self._process)
            self._process.wait()
        self._listener.join()
        self._process.stdout.close()

    def start(self, history_mode: str) -> str:
        """Start a thread; its id."""
        answer = self.ask("thread/start", {"historyMode": history_mode})
        return str(answer["thread"]["id"])

    def fork(self, thread: str) -> str:
        """Start a thread with another's history; its id."""
        return str(self.ask("thread/fork", {"threadId": thread})["thread"]["id"])

    def turn(self, thread: str, prompt: str) -> None:
        """Give a prompt and wait until the turn is over."""
        self._begin(thread, prompt)
        self._over()

    def interrupted_turn(self, thread: str, prompt: str) -> None:
        """Give a prompt and interrupt the turn as soon as its first command runs."""
        turn = self._begin(thread, prompt)
        self.wait(lambda message: _is_running_command(message))
        self.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
        self._over()

    def compact(self, thread: str) -> None:
        """Have the history summed up."""
        self.ask("thread/compact/start", {"threadId": thread})
        self._over()

    def ask(self, method: str, parameters: Message) -> Message:
        """Ask and wait for the answer. Raises ProgramFailed for an error."""
        self._asked += 1
        number = self._asked
        self._send({"id": number, "method": method, "params": parameters})
        answer = self.wait(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise ProgramFailed(f"`{method}` was refused: {answer['error']}")
        result: Message = answer["result"]
        return result

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message that fits; others are passed over. Raises ProgramFailed after the time limit."""
        end = time.monotonic() + self._limit
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._messages.get(timeout=left)
            except queue.Empty:
                break
            if wanted(message):
                return message
        raise ProgramFailed(f"the application server gave no fitting message within {self._limit:g} s")

    def _begin(self, thread: str, prompt: str) -> str:
        said = {"type": "text", "text": prompt}
        return str(self.ask("turn/start", {"threadId": thread, "input": [said]})["turn"]["id"])

    def _over(self) -> None:
        self.wait(lambda message: message.get("method") == "turn/completed")

    def _send(self, message: Message) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._messages.put(json.loads(line))


def _is_running_command(message: Message) -> bool:
    item = message.get("params", {}).get("item", {})
    return message.get("method") == "item/started" and item.get("type") == "commandExecution"
