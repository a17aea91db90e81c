"""Pi in a home of its own, talking to a scripted model server: one prompt at a time, or driven over its RPC mode.

Knows how Pi is configured and called, not what it writes.
"""

import json
import os
from typing import Any

from tests.programs.dialogue import JsonDialogue
from tests.programs.program import (
    TIME_LIMIT,
    FinishedProgram,
    ProgramFailed,
    clean_environment,
    find_program,
    run_program,
)

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
    return find_program("pi", "pi", "node_modules", ".bin", "pi")


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

    def prompt(self, text: str, *options: str, limit: float = TIME_LIMIT) -> FinishedProgram:
        """`pi -p`: one prompt, headless, to its end."""
        command = [self.program, "-p", "--model", MODEL, *options, text]
        return run_program(command, self.project, self.environment, limit=limit)

    def sessions(self) -> list[str]:
        """Every session written so far, oldest first."""
        root = os.path.join(self.home, ".pi", "agent", "sessions")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
        return sorted(found, key=os.path.basename)


class PiDriver(JsonDialogue):
    """Pi in RPC mode; use it as a context manager."""

    def __init__(self, home: PiHome, *options: str, limit: float = TIME_LIMIT) -> None:
        command = [home.program, "--mode", "rpc", "--model", MODEL, "--extension", home.extension, *options]
        super().__init__(command, home.project, home.environment, limit)

    def prompt(self, text: str) -> None:
        """Give a prompt and wait until the agent has ended."""
        self.ask("prompt", message=text)
        self.wait(lambda message: message.get("type") == "agent_end")

    def ask(self, kind: str, **more: Any) -> dict[str, Any]:
        """Send a command; what it answers."""
        self.send({"type": kind, **more})
        answer = self.wait(lambda message: message.get("type") == "response" and message.get("command") == kind)
        if not answer.get("success"):
            raise ProgramFailed(f"`{kind}` failed: {answer.get('error')}")
        return answer.get("data") or {}
