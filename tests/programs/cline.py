"""The Cline CLI in a home of its own, talking to a scripted model server.

Knows how Cline is configured and called, not what it writes.
"""

import glob
import json
import os

from tests.programs.program import TIME_LIMIT, FinishedProgram, clean_environment, find_program, run_program

_PROVIDER = "openai-compatible"


def find_cline() -> str | None:
    """The installed program, or None."""
    return find_program("cline", "cline", "node_modules", ".bin", "cline")


class ClineHome:
    """A clean home with a project in it, below one folder."""

    def __init__(self, folder: str, model_url: str, program: str | None = None) -> None:
        self.program = program or find_cline() or "cline"
        self.folder = os.path.abspath(folder)
        self.project = os.path.join(self.folder, "proj")
        self.home = os.path.join(self.folder, "home")
        self.data = os.path.join(self.home, ".cline", "data")
        os.makedirs(self.project, exist_ok=True)
        own = {"provider": _PROVIDER, "apiKey": "none", "model": "scripted", "baseUrl": model_url}
        provider = {"settings": own, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        self._setting(
            "providers.json", {"version": 1, "lastUsedProvider": _PROVIDER, "providers": {_PROVIDER: provider}}
        )
        self._setting("global-settings.json", {"telemetryOptOut": True})  # it would wait ten seconds for the network

    def _setting(self, name: str, value: object) -> None:
        folder = os.path.join(self.data, "settings")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file)

    @property
    def environment(self) -> dict[str, str]:
        # Without this mode it leaves a background service running.
        return clean_environment(self.home, {"CLINE_DATA_DIR": self.data, "CLINE_SESSION_BACKEND_MODE": "local"})

    def hook(self, event: str, text: str) -> None:
        """Have a hook add a text to the conversation at an event."""
        folder = os.path.join(self.home, ".cline", "hooks")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, event)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ncat >/dev/null\nprintf '%s' '{json.dumps({'context': text})}'\n")
        os.chmod(path, 0o755)

    def prompt(self, text: str, *options: str, limit: float = TIME_LIMIT, expect: int | None = 0) -> FinishedProgram:
        """One prompt, headless, to its end; every tool may run."""
        command = [self.program, "--json", *options, text]
        return run_program(command, self.project, self.environment, limit=limit, expect=expect)

    def messages(self) -> list[str]:
        """The messages of every session and subagent so far, oldest session first."""
        return sorted(glob.glob(os.path.join(glob.escape(self.data), "sessions", "*", "*.messages.json")))
