"""The Codex CLI and its application server in a home of their own, talking to a scripted model server.

Knows how Codex is configured and called, not what it writes.
"""

import glob
import json
import os
from typing import Any, Self

from tests.programs.dialogue import JsonDialogue, Message
from tests.programs.program import (
    TIME_LIMIT,
    FinishedProgram,
    ProgramFailed,
    clean_environment,
    find_program,
    run_program,
)

# The Codex CLI in a home of its own, talking to a scripted model server.
_CONFIGURATION = """\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[features]
apps = false
plugins = false
remote_plugin = false

[model_providers.scripted]
name = "Scripted"
base_url = "{url}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""


def find_codex() -> str | None:
    """The installed program, or None."""
    return find_program("codex", "codex", "node_modules", ".bin", "codex")


class CodexHome:
    """A clean home with a project in it, below one folder."""

    def __init__(self, folder: str, model_url: str, program: str | None = None) -> None:
        self.program = program or find_codex() or "codex"
        self.folder = os.path.abspath(folder)
        self.project = os.path.join(self.folder, "proj")
        self.home = os.path.join(self.folder, "home")
        self.codex_home = os.path.join(self.home, ".codex")
        for path in (self.project, self.codex_home):
            os.makedirs(path, exist_ok=True)
        with open(os.path.join(self.codex_home, "config.toml"), "w", encoding="utf-8") as file:
            file.write(_CONFIGURATION.format(url=model_url))

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(self.home, {"CODEX_HOME": self.codex_home})

    def exec(self, prompt: str, *options: str, limit: float = TIME_LIMIT, expect: int | None = 0) -> FinishedProgram:
        """`codex exec`: one prompt, headless, to its end."""
        return self._exec(["--skip-git-repo-check", "--json", *options, prompt], limit, expect)

    def resume(self, thread: str, prompt: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """`codex exec resume`: a further prompt in the same session."""
        return self._exec(["resume", "--skip-git-repo-check", "--json", thread, prompt], limit, 0)

    def run(self, *arguments: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """`codex exec` with these arguments."""
        return self._exec(list(arguments), limit, 0)

    def fork(self, thread: str, prompt: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """`codex exec fork`: a prompt in a new session that starts with the other's history."""
        return self._exec(["fork", "--skip-git-repo-check", "--json", thread, prompt], limit, 0)

    def _exec(self, arguments: list[str], limit: float, expect: int | None) -> FinishedProgram:
        command = [self.program, "exec", *arguments]
        return run_program(command, self.project, self.environment, limit=limit, expect=expect)

    def rollouts(self) -> list[str]:
        """Every rollout written so far, oldest first."""
        pattern = os.path.join(glob.escape(self.codex_home), "sessions", "**", "rollout-*.jsonl")
        return sorted(glob.glob(pattern, recursive=True), key=lambda path: (os.path.basename(path)[-41:], path))

    def rollout(self, thread: str) -> str:
        """The rollout of one thread."""
        (path,) = (path for path in self.rollouts() if thread in os.path.basename(path))
        return path


def events(finished: FinishedProgram) -> list[dict[str, Any]]:
    """What `codex exec --json` printed."""
    return [json.loads(line) for line in finished.output.splitlines() if line.startswith("{")]


def thread_of(finished: FinishedProgram) -> str:
    """The id of the session that a run began or went on with."""
    for event in events(finished):
        if event.get("type") == "thread.started":
            return str(event["thread_id"])
    raise AssertionError(f"no thread was started:\n{finished.output}{finished.errors}")


# Codex's application server, which editors use
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
