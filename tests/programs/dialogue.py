"""A dialogue with a program in JSON, one message a line, over its standard input and output.

Knows no program's messages.
"""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from tests.programs.program import ProgramFailed, end_process_group

Message = dict[str, Any]


class JsonDialogue:
    """The running program; use it as a context manager."""

    def __init__(self, command: Sequence[str], folder: str, environment: dict[str, str], limit: float) -> None:
        self._limit = limit
        self._name = command[0]
        self._messages: queue.Queue[Message] = queue.Queue()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        self._listener.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            end_process_group(self._process)
            self._process.wait()
        self._listener.join()
        self._process.stdout.close()

    def send(self, message: Message) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

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
        raise ProgramFailed(f"`{self._name}` gave no fitting message within {self._limit:g} s")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self._messages.put(json.loads(line))
