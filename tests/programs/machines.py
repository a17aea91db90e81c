"""A person's machine with one agent's program and Preheat's hooks in it, the same to use for every agent: start a session,
resume it, have it compacted, and see what the model received. Knows how each program is called, not what Preheat says.
"""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from preheat.installing.plans import apply_file_plan, plan_install
from preheat.model.session import Usage
from preheat.testing.model_server import Call, ModelServer, Reply, Request
from tests.programs import codex, copilot, gemini, hermes, opencode
from tests.programs.program import clean_environment

FULL = Usage(input=180_000, output=20)
SUMMARISED = "conversation history has been summarized"
"""What Copilot CLI puts before the model after it has compacted."""
"""More tokens than the windows that the tests set."""
SMALL_WINDOW = 64_000


class Conversation(NamedTuple):
    """A session as the model saw it."""

    session: str
    requests: list[str]
    """The requests that it answered, in order: what was said to it, without the list of its tools."""

    def first_with(self, text: str) -> int | None:
        """The number of the first request with a text; None if none has it."""
        return next((number for number, request in enumerate(self.requests) if text in request), None)


class Machine:
    """The machine of one person; `data` is Preheat's folder, which another one may share."""

    agent: ClassVar[str]

    def __init__(self, folder: Path, data: str, project: str = "") -> None:
        self.folder = str(folder)
        self.data = data
        self.home = str(folder / "home")
        self.project = project or str(folder / "shop")
        self.environment = clean_environment(self.home)
        os.makedirs(self.project, exist_ok=True)
        os.makedirs(self.home, exist_ok=True)

    def install(self) -> None:
        """Install the hooks, as `preheat install` does."""
        plan = plan_install(self.agent, self.data, self.environment)
        apply_file_plan(plan, self.data, time.time())
        wait_longer(os.path.join(self.data, "hook.py"), plan.path)

    def shell(self, command: str) -> Call:
        """A call that runs a command."""
        raise NotImplementedError

    def broken_call(self) -> Call:
        """A call whose tool itself fails."""
        raise NotImplementedError

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "") -> Conversation:
        """A prompt in a new session, or in an earlier one."""
        raise NotImplementedError

    def run_compacted(self, prompt: str) -> Conversation:
        """A session that is compacted and then goes on with another call."""
        raise NotImplementedError


def wait_longer(*paths: str) -> None:
    """Give what is installed a minute for everything: the machine of a test may be busy, and what is tested is where texts go."""
    limits = {
        "\nLIMIT = 1.2": "\nLIMIT = 60", "\nLIMIT = 0.3": "\nLIMIT = 60", "\nSTART = 1.5": "\nSTART = 60",
        "const LIMIT = 2_000": "const LIMIT = 60_000", "const START_LIMIT = 4_000": "const START_LIMIT = 60_000",
        '"timeout": 5,': '"timeout": 60,', '"timeoutSec": 5': '"timeoutSec": 60', '"timeout": 5000': '"timeout": 60000',
    }  # fmt: skip
    for path in map(Path, paths):
        text = path.read_text(encoding="utf-8")
        for short, long in limits.items():
            text = text.replace(short, long)
        path.write_text(text, encoding="utf-8")


def _said(requests: Sequence[Request], *fields: str) -> list[str]:
    bodies = [request.body for request in requests if request.method == "POST" and not request.auxiliary]
    return [json.dumps([body.get(field) for field in fields]) for body in bodies]


class CodexMachine(Machine):
    agent = "codex"

    def __init__(self, folder: Path, data: str, project: str = "") -> None:
        super().__init__(folder, data, project)
        self.environment = self._home("http://127.0.0.1:9").environment

    def _home(self, url: str) -> codex.CodexHome:
        found = codex.CodexHome(self.folder, url)
        found.project = self.project
        return found

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})

    def broken_call(self) -> Call:
        return Call("apply_patch", "*** Begin Patch\n*** Update File: missing.txt\n@@\n-old\n+new\n*** End Patch\n")

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "", options: Sequence[str] = ()) -> Conversation:
        with ModelServer(script) as server:
            words = ["resume", "--skip-git-repo-check", "--json", *options, resume, prompt]
            home = self._home(server.url)
            trust = ("--dangerously-bypass-hook-trust", *options)
            done = home.run(*words[:1], *trust, *words[1:]) if resume else home.exec(prompt, *trust)
            return Conversation(codex.thread_of(done), _said(server.requests, "instructions", "input"))

    def run_compacted(self, prompt: str) -> Conversation:
        script = [Reply(calls=[self.shell("echo one")], usage=FULL), Reply(calls=[self.shell("echo two")])]
        return self.run(prompt, [*script, Reply("Done.")], options=("-c", "model_auto_compact_token_limit=100000"))


class OpenCodeMachine(Machine):
    agent = "opencode"

    def __init__(self, folder: Path, data: str, project: str = "") -> None:
        super().__init__(folder, data, project)
        settings = Path(self.home, ".config", "opencode")
        (settings / "node_modules").mkdir(parents=True)
        # What the program would fetch by itself for plugins: there is no network here.
        locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
        (settings / "package-lock.json").write_text(json.dumps(locked))

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "Run it"})

    def broken_call(self) -> Call:
        return Call("read", {"filePath": os.path.join(self.project, "missing.txt")})

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "", window: int = 200_000) -> Conversation:
        arguments = ["run", "--format", "json", *(["--session", resume] if resume else []), prompt]
        job = opencode.Job(
            program=opencode.find_opencode() or "", home=self.home, arguments=arguments, script=script, folder=self.project,
            window=window,
        )  # fmt: skip
        done = opencode.run(job)
        return Conversation(done.session, _said(done.requests, "messages"))

    def run_compacted(self, prompt: str) -> Conversation:
        script = [
            Reply(calls=[self.shell("echo one")], usage=FULL),
            Reply(calls=[self.shell("echo two")]),
            Reply("Done."),
        ]
        return self.run(prompt, script, window=SMALL_WINDOW)


class GeminiMachine(Machine):
    agent = "gemini"

    def __init__(self, folder: Path, data: str, project: str = "") -> None:
        super().__init__(folder, data, project)
        self.environment = clean_environment(self.home, {"GEMINI_CLI_HOME": self.home})

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command})

    def broken_call(self) -> Call:
        return Call("read_file", {"file_path": "missing.txt"})

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "", **settings: Any) -> Conversation:
        installed = Path(self.home, ".gemini", "settings.json")
        kept = json.loads(installed.read_text()) if installed.exists() else {}
        job = gemini.Job(
            program=gemini.find_gemini() or "", home=self.home, prompt=prompt, script=script, folder=self.project,
            options=["--resume", resume] if resume else [], settings={**kept, **settings},
        )  # fmt: skip
        done = gemini.run(job)
        return Conversation(done.session, _said(done.requests, "systemInstruction", "contents"))

    def run_compacted(self, prompt: str) -> Conversation:
        """The program compacts only what is there when a prompt comes: the session is resumed with one."""
        first = self.run(prompt, [Reply(calls=[self.shell("echo one")]), Reply("One.")])
        script = [Reply(calls=[self.shell("echo two")]), Reply("Done.")]
        then = self.run("Go on.", script, "latest", model={"compressionThreshold": 0.0001})
        return Conversation(then.session, [*first.requests, *then.requests])


class CopilotMachine(Machine):
    agent = "copilot"

    def __init__(self, folder: Path, data: str, project: str = "") -> None:
        super().__init__(folder, data, project)
        self.environment = self._home("http://127.0.0.1:9").environment

    def _home(self, url: str) -> copilot.CopilotHome:
        found = copilot.CopilotHome(self.folder, url)
        found.project = self.project
        return found

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "Run it"})

    def broken_call(self) -> Call:
        return Call("view", {"path": os.path.join(self.project, "missing.txt")})

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "") -> Conversation:
        with ModelServer(script) as server:
            home = self._home(server.url)
            before = home.sessions()
            home.prompt(prompt, *([f"--resume={resume}"] if resume else []))
            made = [os.path.basename(os.path.dirname(path)) for path in home.sessions() if path not in before]
            return Conversation(resume or made[0], _said(server.requests, "messages"))

    def run_compacted(self, prompt: str) -> Conversation:
        # It asks for a summary beside its work, and takes an answer for either: so there are some more steps than needed. On
        # a busy machine the work can still be over first; then it is done again.
        first = Reply(calls=[self.shell("echo one")], usage=FULL)
        steps = [Reply(f"Step {number}.", calls=[self.shell(f"sleep 1; echo {number}")]) for number in range(4)]
        for _ in range(5):
            found = self.run(prompt, [first, *steps, Reply("Done.")])
            if SUMMARISED in found.requests[-1]:
                break
        return found


class HermesMachine(Machine):
    agent = "hermes"

    def install(self) -> None:
        folder = hermes.place_plugin(self.home, self.data)
        wait_longer(os.path.join(self.data, "hook.py"), os.path.join(folder, "daemon.py"))

    def shell(self, command: str) -> Call:
        return Call("terminal", {"command": command})

    def broken_call(self) -> Call:
        return Call("read_file", {"path": os.path.join(self.project, "missing.txt")})

    def run(self, prompt: str, script: Sequence[Reply], resume: str = "", **more: Any) -> Conversation:
        plugin = f"{hermes.PLUGIN}\n" if os.path.isdir(os.path.join(self.home, ".hermes", "plugins")) else ""
        job = hermes.Job(
            program=hermes.find_hermes() or "", home=self.home, script=script, folder=self.project,
            arguments=["chat", *(["--resume", resume] if resume else []), "-q", prompt, "-Q", "--yolo"],
            **{**more, "settings": plugin + more.get("settings", "")},
        )  # fmt: skip
        done = hermes.run(job)
        return Conversation(done.session, _said(done.requests, "messages"))

    def run_compacted(self, prompt: str) -> Conversation:
        used = [Usage(input=62_000 if number == 6 else 1000, output=20) for number in range(10)]
        script = [Reply(calls=[self.shell(f"seq {at} {900 + at}")], usage=usage) for at, usage in enumerate(used)]
        settings = "compression: {protect_last_n: 4, target_ratio: 0.1}\n"
        return self.run(prompt, [*script, Reply("Done.")], window=SMALL_WINDOW, settings=settings)


MACHINES: dict[str, type[Machine]] = {
    each.agent: each for each in (CodexMachine, OpenCodeMachine, GeminiMachine, CopilotMachine, HermesMachine)
}
