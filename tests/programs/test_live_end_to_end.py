"""All of it with real programs: what earlier sessions learned is before the model at its first request, a known mistake gets
an advisory when it is about to be made, and uninstalling leaves no trace. The client and the daemon are the real ones."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from preheat import daemon_client
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.daemon.builders import RIGHT, WRONG, learned
from tests.programs import opencode
from tests.programs.codex import CodexHome, find_codex
from tests.programs.program import clean_environment
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

PROMPT = "Make the next checkout step work."
LONG = "for n in $(seq 400); do echo line $n of a build; done"
REFUSED = "git push --force origin main"
"""Meets a critical rule, and does no harm where nothing refuses it: there is no repository."""


class FinishedRun(NamedTuple):
    """What went to the model, request by request."""

    requests: list[str]

    @property
    def first(self) -> str:
        return self.requests[0]

    @property
    def last(self) -> str:
        return self.requests[-1]


class Home:
    """A person's machine: an agent's program with settings of its own, and Preheat's folder with an archive."""

    agent = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = str(folder / "data")
        self.environment: Mapping[str, str] = {}
        self.project = ""

    def preheat(self, *words: str) -> str:
        """Run a command, as the person would."""
        done = subprocess.run(
            [sys.executable, "-m", "preheat", *words],
            env={**self.environment, "PREHEAT_HOME": self.data}, cwd=self.project, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def learn(self) -> None:
        learned(self.data, self.project, str(self.folder / "earlier"))

    def settings(self) -> dict[str, bytes]:
        """Every file of the program's settings that Preheat may touch, or put there."""
        raise NotImplementedError

    def run(self, commands: Sequence[str], prompt: str = PROMPT) -> FinishedRun:
        """A session with this prompt in which the model runs these commands."""
        raise NotImplementedError


class Codex(Home):
    agent = "codex"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        home = CodexHome(str(folder), "http://127.0.0.1:9")
        self.environment, self.project = home.environment, home.project
        self._own = home.codex_home
        # As a person would have it: hooks of their own, and a layout of their own.
        Path(self._own, "hooks.json").write_text(
            '{"hooks": {\n   "Stop": [ {"hooks":[{"type":"command","command":"true"}]} ]\n}}'
        )

    def settings(self) -> dict[str, bytes]:
        return {"hooks.json": Path(self._own, "hooks.json").read_bytes()}

    def run(self, commands: Sequence[str], prompt: str = PROMPT) -> FinishedRun:
        replies = [*(Reply(calls=[Call("exec_command", {"cmd": each})]) for each in commands), Reply("Done.")]
        with ModelServer(replies) as server:
            CodexHome(str(self.folder), server.url).exec(prompt, "--dangerously-bypass-hook-trust")
            return FinishedRun([json.dumps(request.body["input"]) for request in server.main_requests])


class OpenCode(Home):
    agent = "opencode"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._home = str(folder / "home")
        self.environment, self.project = clean_environment(self._home), opencode.project(self._home)
        os.makedirs(self.project)
        plugins = Path(self._home, ".config", "opencode", "plugins")
        plugins.mkdir(parents=True)
        (plugins / "mine.js").write_text("export const Mine = async () => ({})\n")
        # What the program would fetch by itself for plugins: there is no network here.
        (plugins.parent / "node_modules").mkdir()
        locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
        (plugins.parent / "package-lock.json").write_text(json.dumps(locked))

    def settings(self) -> dict[str, bytes]:
        plugins = Path(self._home, ".config", "opencode", "plugins")
        return {path.name: path.read_bytes() for path in sorted(plugins.iterdir())}

    def run(self, commands: Sequence[str], prompt: str = PROMPT) -> FinishedRun:
        replies = [
            *(Reply(calls=[Call("bash", {"command": each, "description": "Run it"})]) for each in commands), Reply("Done.")
        ]  # fmt: skip
        program = opencode.find_opencode() or ""
        job = opencode.Job(program=program, home=self._home, arguments=["run", prompt], script=replies)
        finished = opencode.run(job)
        return FinishedRun([json.dumps(request.body) for request in finished.requests if not request.auxiliary])


HOMES: dict[str, tuple[type[Home], Any]] = {
    "codex": (Codex, find_codex),
    "opencode": (OpenCode, opencode.find_opencode),
}


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    kind, find = HOMES[request.param]
    real_program(find(), request.param)
    found = kind(tmp_path)
    yield found
    if daemon_client.find_daemon(found.data) is not None:
        found.preheat("serve", "--stop")


def test_a_session_starts_warm_is_warned_and_leaves_no_trace(home: Home) -> None:
    """Learn, install, work, uninstall: the first request holds what four earlier sessions found out, the call that failed for
    all of them is answered with what works, and the settings are afterwards what they were, to the byte."""
    before = home.settings()
    home.learn()
    Path(home.data, "settings.toml").write_text("[experiment]\nholdout = 0\n")  # every session is warm, every word said
    home.preheat("install", home.agent)
    assert home.settings() != before
    home.preheat("serve")  # on a busy machine a daemon that the first hook starts would answer the second one
    finished = home.run(["ls", WRONG])
    assert "preheat-context" in finished.first
    assert RIGHT in finished.first
    assert "preheat-advisory" not in finished.first
    assert "preheat-advisory" in finished.last
    advisory = finished.last.partition("preheat-advisory>")[2].partition("preheat-advisory>")[0]
    assert RIGHT in advisory
    status = daemon_client.status(home.data)
    assert (status["contexts"], status["advisories"], status["troubles"]) == (1, 1, [])
    home.preheat("uninstall", home.agent)
    assert home.settings() == before
    assert "preheat" not in home.run(["ls"]).last


def test_facts_of_the_files_come_with_the_prompt_and_before_the_call(home: Home) -> None:
    """A project without any earlier session: "fix the failing lint" brings the lint command with it, and a push what it will
    run; nothing before that, as no code is changed and nothing committed."""
    project = Path(home.project)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "package.json").write_text('{"scripts": {"test": "vitest run", "lint": "eslint ."}}')
    (project / "pnpm-lock.yaml").write_text("lockfileVersion: 9\n")
    (project / "node_modules").mkdir()
    (project / "lefthook.yml").write_text(
        "pre-commit:\n  commands:\n    all:\n      run: pnpm typed\npre-push:\n  commands:\n    all:\n      run: pnpm verify\n"
    )
    os.makedirs(home.data)
    Path(home.data, "settings.toml").write_text("[experiment]\nholdout = 0\n")
    home.preheat("install", home.agent)
    home.preheat("serve")
    finished = home.run(["ls", "git push"], "fix the failing lint")
    assert "a commit runs" not in finished.first
    assert "test: `pnpm test`" not in finished.first
    assert "lint: `pnpm lint` = `eslint .`" in finished.first
    assert finished.first.count("lint: `pnpm lint`") == 1
    assert "a push runs `pnpm verify`" not in finished.first
    assert "a push runs `pnpm verify` (`lefthook.yml`)" in finished.last


def test_calls_are_refused_and_outputs_shortened_if_set(home: Home) -> None:
    """A call that meets a rule is refused before it runs, a long output goes before the model in short, and the whole of it is
    there for whoever asks."""
    os.makedirs(home.data)
    Path(home.data, "settings.toml").write_text('[live]\nshorten_output = true\nblock = "critical"\n')
    home.preheat("install", home.agent)
    finished = home.run([REFUSED, LONG])
    assert "safety rule" in finished.last
    assert "line 1 of a build" in finished.last
    assert "line 399 of a build" in finished.last
    assert "line 200 of a build" not in finished.last
    name = finished.last.partition("preheat admin output ")[2][:12]
    assert "line 200 of a build" in home.preheat("output", name)


def test_by_default_nothing_is_refused_or_shortened(home: Home) -> None:
    """The same call runs, and the same long output is whole."""
    home.preheat("install", home.agent)
    finished = home.run([REFUSED, LONG])
    assert "line 200 of a build" in finished.last
    assert "preheat-output" not in finished.last
    assert "safety rule" not in finished.last
