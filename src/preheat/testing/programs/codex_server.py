"""Codex's application server, which editors use: it starts threads in the legacy history mode, interrupts turns and compacts.

Knows nothing of rollouts.
"""

from typing import Self

from preheat.testing.programs import TIME_LIMIT, ProgramFailed
from preheat.testing.programs.codex import CodexHome
from preheat.testing.programs.talking import JsonDialogue, Message


class CodexServer(JsonDialogue):
    """A running application server; use it as a context manager."""

    def __init__(self, home: CodexHome, limit: float = TIME_LIMIT) -> None:
        super().__init__([home.program, "app-server"], home.project, home.environment, limit)
        self._asked = 0

    def __enter__(self) -> Self:
        super().__enter__()
        client = {"name": "codex_vscode", "title": "scripted", "version": "1"}
        self.ask("initialize", {"clientInfo": client, "capabilities": {"experimentalApi": True}})
        self.send({"method": "initialized"})
        return self

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
        """Compact the history."""
        self.ask("thread/compact/start", {"threadId": thread})
        self._over()

    def ask(self, method: str, parameters: Message) -> Message:
        """Ask and wait for the answer. Raises ProgramFailed for an error."""
        self._asked += 1
        number = self._asked
        self.send({"id": number, "method": method, "params": parameters})
        answer = self.wait(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise ProgramFailed(f"`{method}` was refused: {answer['error']}")
        result: Message = answer["result"]
        return result

    def _begin(self, thread: str, prompt: str) -> str:
        message = {"type": "text", "text": prompt}
        return str(self.ask("turn/start", {"threadId": thread, "input": [message]})["turn"]["id"])

    def _over(self) -> None:
        self.wait(lambda message: message.get("method") == "turn/completed")


def _is_running_command(message: Message) -> bool:
    item = message.get("params", {}).get("item", {})
    return message.get("method") == "item/started" and item.get("type") == "commandExecution"
