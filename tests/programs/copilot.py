"""The GitHub Copilot CLI in a home of its own, offline, talking to a scripted model server.

Knows how Copilot CLI is configured and called, not what it writes.
"""

import glob
import json
import os

from tests.programs.program import TIME_LIMIT, FinishedProgram, clean_environment, find_program, run_program


def find_copilot() -> str | None:
    """The installed program, or None."""
    return find_program("copilot", "copilot", "node_modules", ".bin", "copilot")


class CopilotHome:
    """A clean home with a project in it, below one folder."""

    def __init__(self, folder: str, model_url: str, program: str | None = None) -> None:
        self.program = program or find_copilot() or "copilot"
        self.folder = os.path.abspath(folder)
        self.project = os.path.join(self.folder, "proj")
        self.home = os.path.join(self.folder, "home")
        self.copilot_home = os.path.join(self.home, ".copilot")
        self._model_url = model_url
        for path in (self.project, self.copilot_home):
            os.makedirs(path, exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(
            self.home,
            {
                "COPILOT_HOME": self.copilot_home,
                "COPILOT_OFFLINE": "true",
                "COPILOT_AUTO_UPDATE": "false",
                "COPILOT_PROVIDER_BASE_URL": self._model_url,
                "COPILOT_PROVIDER_API_KEY": "none",
                "COPILOT_MODEL": "scripted",
            },
        )

    def hook(self, event: str, text: str) -> None:
        """Have a hook add a text to the conversation at an event."""
        folder = os.path.join(self.copilot_home, "hooks")
        os.makedirs(folder, exist_ok=True)
        command = f"printf '%s' '{json.dumps({'additionalContext': text})}'"
        hooks = {event: [{"type": "command", "bash": command, "timeoutSec": 10}]}
        with open(os.path.join(folder, f"{event}.json"), "w", encoding="utf-8") as file:
            json.dump({"version": 1, "hooks": hooks}, file)

    def prompt(self, text: str, *options: str, limit: float = TIME_LIMIT, expect: int | None = 0) -> FinishedProgram:
        """`copilot -p`: one prompt, headless, to its end; every tool may run."""
        command = [self.program, "-p", text, "--allow-all-tools", "--no-color", *options]
        return run_program(command, self.project, self.environment, limit=limit, expect=expect)

    def cautious_prompt(self, text: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """One prompt, headless; tools that change something are denied, because nobody is there to ask."""
        return run_program([self.program, "-p", text, "--no-color"], self.project, self.environment, limit=limit)

    def resume(self, session: str, text: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """A further prompt in the same session."""
        return self.prompt(text, f"--resume={session}", limit=limit)

    def sessions(self) -> list[str]:
        """The events of every session so far, oldest first."""
        pattern = os.path.join(glob.escape(self.copilot_home), "session-state", "*", "events.jsonl")
        return sorted(glob.glob(pattern), key=_start_time)


def _start_time(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return str(json.loads(file.readline())["timestamp"])
