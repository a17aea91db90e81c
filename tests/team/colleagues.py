"""A colleague: a machine of their own with a clone, sessions, an archive and a login of the team's database."""

import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from typing import Any

import pytest

from preheat.cli import main
from preheat.testing.builders import ClaudeTranscript
from tests.cli.conftest import CommandResult
from tests.team.builders import TestedTeam
from tests.waiting import HUNG

DAY = 86400.0
REMOTE = "forge.example/shop/cart"
PRIVATE = (
    "Make checkout", "Windmill", "I run the tests", "tests/secret-folder", "def pay", "command not found", "5 passed", "All done",
)  # fmt: skip
"""Pieces of prompts, answers, arguments, outputs and closing words of the sessions."""


class Colleague:
    """Runs commands on a machine of their own, in this process or in one of their own."""

    def __init__(
        self,
        name: str,
        root: Any,
        team: TestedTeam,
        monkeypatch: pytest.MonkeyPatch,
        capture: pytest.CaptureFixture[str],
    ) -> None:
        self.name = name
        self.home = str(root / name)
        self.archive = os.path.join(self.home, "archive")
        self.clone = os.path.join(self.home, "work", "cart")
        self._team, self._monkeypatch, self._capture = team, monkeypatch, capture
        self._sessions = 0
        os.makedirs(os.path.join(self.clone, ".git", "refs"))
        os.makedirs(os.path.join(self.clone, ".git", "objects"))
        with open(os.path.join(self.clone, ".git", "HEAD"), "w", encoding="utf-8") as file:
            file.write("ref: refs/heads/main\n")
        with open(os.path.join(self.clone, ".git", "config"), "w", encoding="utf-8") as file:
            file.write(f'[remote "origin"]\n\turl = https://{REMOTE}.git\n')

    @property
    def address(self) -> str:
        return str(self._team.address_of(self.name))

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PG", "PREHEAT", "CLAUDE", "XDG"))
        }
        source = os.path.join(os.path.dirname(__file__), "..", "..", "src")
        return {
            **kept, "HOME": self.home, "PREHEAT_HOME": self.archive, "TZ": "UTC", "PYTHONPATH": os.path.abspath(source),
            "COLUMNS": "300",
        }  # fmt: skip

    def run(self, *arguments: str, text: str = "") -> CommandResult:
        for name in ("PGPASSWORD", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            self._monkeypatch.delenv(name, raising=False)
        for name in ("HOME", "PREHEAT_HOME", "TZ", "COLUMNS"):
            self._monkeypatch.setenv(name, self.environment[name])
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        self._capture.readouterr()
        code = main(list(arguments))
        captured = self._capture.readouterr()
        return CommandResult(code, captured.out, captured.err)

    def get(self, *arguments: str, text: str = "") -> Any:
        """What a command gives as JSON; it must succeed."""
        done = self.run(*arguments, "--json", text=text)
        assert done.code == 0, (done.out, done.err)
        return json.loads(done.out)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """A command in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "preheat", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def answer(self, answers: dict[str, str], *arguments: str) -> str:
        """Run a command on a terminal and type an answer at each of these ends of a question, in order; gives what was shown."""
        master, terminal = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "preheat", *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
            env={**self.environment, "TERM": "dumb"}, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)
        shown, waiting, read = b"", list(answers.items()), 0
        while True:
            ready, _, _ = select.select([master], [], [], HUNG)
            assert ready, shown.decode(errors="replace")
            try:
                block = os.read(master, 65536)
            except OSError:  # the process ended
                break
            if not block:
                break
            shown += block
            if waiting and waiting[0][0].encode() in shown[read:]:
                read = len(shown)
                os.write(master, f"{waiting.pop(0)[1]}\n".encode())
        os.close(master)
        process.wait(HUNG)
        assert waiting == [], shown.decode(errors="replace")
        return shown.decode(errors="replace")

    def finish(self, process: "subprocess.Popen[str]") -> CommandResult:
        out, err = process.communicate(timeout=HUNG)
        return CommandResult(process.returncode, out, err)

    # Sessions.
    def work(self, bad: str = "pytest", good: str = "uv run pytest", sessions: int = 3, project: str = "") -> None:
        """Sessions in which one command fails and another works, read into the archive and learned from."""
        project = project or self.clone
        for _ in range(sessions):
            self._sessions += 1
            self.session(bad, good, project).write(os.path.join(self.home, ".claude", "projects"))
        assert self.run("sync", "--quiet").code == 0
        assert self.run("lessons", "learn", "--quiet").code == 0

    def session(self, bad: str, good: str, project: str) -> ClaudeTranscript:
        number = self._sessions
        transcript = ClaudeTranscript(
            session=f"{number:08x}-{sum(self.name.encode()):04x}-4000-8000-000000000000", project=project,
            started=time.time() - (20 - number) * DAY,
        ).title("Windmill")  # fmt: skip
        return (
            transcript.prompt(f"Make checkout step {number} work")
            .answer("I run the tests.")
            .run(f"{bad} tests/secret-folder", f"bash: {bad}: command not found", 127)
            .answer("Another way.")
            .run(f"{good} tests/secret-folder", "5 passed in 0.1s")
            .answer("Now the code.")
            .call("Read", {"file_path": f"{project}/src/checkout.py"})
            .result("1\tdef pay(): ...")
            .answer("I change it.")
            .call(
                "Edit",
                {"file_path": f"{project}/src/checkout.py", "old_string": "...", "new_string": f"return {number}"},
            )
            .result("The file has been updated.")
            .answer("Once more.")
            .run(f"{good} tests/secret-folder", f"{number + 5} passed in 0.2s")
            .answer("All done.")
        )

    def join(self) -> None:
        assert self.run("team", "join", self.address, "--password-stdin", text=f"{self.password}\n").code == 0

    @property
    def password(self) -> str:
        return self._team.logins[self.name][1]

    def approve_own(self, part: str) -> str:
        """Approve the lesson of this machine that says something; gives its id."""
        found = [each for each in self.get("lessons", "list", "--all") if part in each["text"]]
        assert found, [each["text"] for each in self.get("lessons", "list", "--all")]
        for each in found:
            assert self.run("lessons", "approve", each["id"]).code == 0
        return str(found[0]["id"])
