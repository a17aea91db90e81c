"""The Codex CLI in a home of its own, talking to a scripted model server.

Knows how Codex is configured and called, not what it writes.
"""

import glob
import json
import os
from typing import Any

from preheat.testing.programs import TIME_LIMIT, FinishedProgram, clean_environment, find_program, run_program

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
