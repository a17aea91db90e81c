"""Runs the real OpenCode against a scripted model: headless, in a home of its own, without a network.

Knows how OpenCode is configured and called, not what it writes. The client for servers of OpenAI's kind is built into the
program; everything that it would fetch by itself (models, updates, language servers) is turned off.
"""

import json
import os
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.agents.opencode.headless import QUIET as QUIET
from preheat.testing.model_server import AUXILIARY_TEXT, MODEL, ModelServer, Request
from preheat.testing.script import Reply
from tests.programs import program as programs
from tests.programs.isolation import can_isolate, run_isolated, run_isolated_job


class Job(msgspec.Struct, kw_only=True):
    """A run of the program."""

    program: str
    home: str
    """An empty folder at first; the program's working folder is `project` in it."""
    arguments: Sequence[str]
    script: Sequence[Reply] = ()
    side_text: str = AUXILIARY_TEXT
    """The answer to requests without tools: a title, or a summary when the program compacts."""
    window: int = 200_000
    folder: str = ""
    """The working folder, where it is another one."""
    seconds: float = programs.TIME_LIMIT


class Finished(msgspec.Struct):
    """What the program printed and asked the model."""

    output: str
    errors: str
    requests: list[Request]
    remaining: int

    @property
    def session(self) -> str:
        """The id of the session; only of a run with `--format json`."""
        found = re.search(r'"sessionID":"(ses_\w+)"', self.output)
        if found is None:
            raise programs.ProgramFailed(f"no session id in what OpenCode said: {self.output}{self.errors}")
        return found[1]


def find_opencode() -> str | None:
    """The installed program, or None."""
    return programs.find_program("opencode", "opencode", "node_modules", ".bin", "opencode")


def project(home: str) -> str:
    """The program's working folder in a home."""
    return os.path.join(home, "project")


def database(home: str) -> str:
    """Where the program keeps its sessions in a home."""
    return os.path.join(home, ".local", "share", "opencode", "opencode.db")


def run(job: Job) -> Finished:
    """Run a job, without a network where the machine allows that."""
    if not can_isolate():
        return run_here(job)
    result = run_isolated(__name__, msgspec.json.encode(job), job.seconds + 30)
    return msgspec.json.decode(result, type=Finished)


def run_here(job: Job) -> Finished:
    """Run a job in this network namespace; everything but loopback goes to a dead proxy."""
    folder = os.path.join(job.home, ".config", "opencode")
    os.makedirs(folder, exist_ok=True)
    os.makedirs(project(job.home), exist_ok=True)
    own = {"XDG_STATE_HOME": os.path.join(job.home, ".local", "state"), **dict.fromkeys(QUIET, "1")}
    with ModelServer(job.script, side_text=job.side_text) as server:
        with open(os.path.join(folder, "opencode.json"), "w", encoding="utf-8") as file:
            json.dump(config(server.url, job.window), file)
        environment = programs.clean_environment(job.home, own)
        command = [job.program, *job.arguments]
        finished = programs.run_program(command, job.folder or project(job.home), environment, limit=job.seconds)
        return Finished(finished.output, finished.errors, server.requests, server.unused_replies)


def config(url: str, window: int) -> dict[str, Any]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": url, "apiKey": "none"},
        "models": {MODEL: {"limit": {"context": window, "output": 8_000}}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": f"{MODEL}/{MODEL}",
        "small_model": f"{MODEL}/{MODEL}",
        "provider": {MODEL: provider},
        "permission": {"*": "allow"},
    }


if __name__ == "__main__":
    run_isolated_job(Job, run_here)
