"""Pi in a home of its own, talking to a scripted model server: one prompt at a time, or driven over its RPC mode.

Knows how Pi is configured and called, not what it writes.
"""

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from preheat.testing.programs import Finished, ProgramFailed, clean_environment, end_group, find, run

MODEL = "scripted/scripted"
_BACK = """\
export default function (pi) {
  pi.registerCommand("back", {
    description: "Go back to the start of the conversation",
    handler: async (words, ctx) => {
      const [target, summarize] = words.split(" ");
      await ctx.navigateTree(target, { summarize: summarize === "summarize" });
    },
  });
  pi.registerCommand("inject", {
    description: "Put a message before the model",
    handler: async (words) => { pi.sendMessage({ customType: "note", content: words, display: true }); },
  });
}
"""
"""What a person does with keys in the terminal, as commands: Pi's RPC mode has no way to go back in place."""


def find_pi() -> str | None:
    """The installed program, or None."""
    return find("pi", "pi", "node_modules", ".bin", "pi")


class PiHome:
    """A clean home with a project in it, below one folder."""

    def __init__(self, folder: str, model_url: str, program: str | None = None) -> None:
        self.program = program or find_pi() or "pi"
        self.folder = os.path.abspath(folder)
        self.project = os.path.join(self.folder, "proj")
        self.home = os.path.join(self.folder, "home")
        self.extension = os.path.join(self.folder, "back.js")
        own = os.path.join(self.home, ".pi", "agent")
        for path in (self.project, own):
            os.makedirs(path, exist_ok=True)
        provider = {
            "baseUrl": model_url,
            "api": "openai-completions",
            "apiKey": "none",
            "models": [{"id": "scripted", "reasoning": True}],
        }
        with open(os.path.join(own, "models.json"), "w", encoding="utf-8") as file:
            json.dump({"providers": {"scripted": provider}}, file)
        with open(self.extension, "w", encoding="utf-8") as file:
            file.write(_BACK)

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(self.home, {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"})

    def prompt(self, text: str, *options: str, limit: float = 60.0) -> Finished:
        """`pi -p`: one prompt, headless, to its end."""
        command = [self.program, "-p", "--model", MODEL, *options, text]
        return run(command, self.project, self.environment, limit=limit)

    def sessions(self) -> list[str]:
        """Every session written so far, oldest first."""
        root = os.path.join(self.home, ".pi", "agent", "sessions")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        return sorted(found, key=os.path.basename)


class PiDriver:
    """Pi in RPC mode; use it as a context manager."""

    def __init__(self, home: PiHome, *options: str, limit: float = 60.0) -> None:
        self._limit = limit
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._process = subprocess.Popen(
            [home.program, "--mode", "rpc", "--model", MODEL, "--extension", home.extension, *options],
            cwd=home.project,
            env=home.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "PiDriver":
        self._listener.start()
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

    def prompt(self, text: str) -> None:
        """Give a prompt and wait until the agent has ended."""
        self.ask("prompt", message=text)
        self._wait(lambda message: message.get("type") == "agent_end")

    def ask(self, kind: str, **more: Any) -> dict[str, Any]:
        """Send a command; what it answers."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"type": kind, **more}) + "\n")
        self._process.stdin.flush()
        answer = self._wait(lambda message: message.get("type") == "response" and message.get("command") == kind)
        if not answer.get("success"):
            raise ProgramFailed(f"`{kind}` failed: {answer.get('error')}")
        return answer.get("data") or {}

    def _wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        end = time.monotonic() + self._limit
        while (left := end - time.monotonic()) > 0:
            try:
                message = self._messages.get(timeout=left)
            except queue.Empty:
                break
            if wanted(message):
                return message
        raise ProgramFailed(f"Pi did not answer within {self._limit:.0f} seconds")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self._messages.put(json.loads(line))
