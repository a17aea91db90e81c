"""Runs the real Gemini CLI against a scripted model: headless, in a home of its own, without a network.

Knows how Gemini CLI is configured and called, not what it writes.
"""

import glob
import json
import os
from collections.abc import Sequence
from typing import Any

import msgspec

from preheat.testing.model_server import AUXILIARY_TEXT, ModelServer, Request
from preheat.testing.script import Reply
from tests.programs import program as programs
from tests.programs.isolation import can_isolate, run_isolated, run_isolated_job

MODEL = "gemini-2.5-flash"
"""A model that the program knows: for others it asks a model which one to take."""
SETTINGS: dict[str, Any] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "sessionRetention": {"enabled": False},
    },
}


class Job(msgspec.Struct, kw_only=True):
    """A run of the program."""

    program: str
    home: str
    """An empty folder at first; the program's own folder is `.gemini` in it, its working folder `proj`."""
    prompt: str
    script: Sequence[Reply]
    options: Sequence[str] = ()
    settings: dict[str, Any] = {}
    """More for `settings.json`."""
    side_text: str = AUXILIARY_TEXT
    """The answer to requests without tools: a summary, when the program compacts."""
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
    def printed(self) -> dict[str, Any]:
        """What the program printed at the end: session, response, statistics."""
        found: dict[str, Any] = json.loads(self.output)
        return found

    @property
    def session(self) -> str:
        """The id of the session."""
        return str(self.printed["session_id"])


def find_gemini() -> str | None:
    """The installed program, or None."""
    return programs.find_program("gemini", "gemini", "node_modules", ".bin", "gemini")


def project(home: str) -> str:
    """The program's working folder in a home."""
    return os.path.join(home, "proj")


def own_folder(home: str) -> str:
    """Where the program keeps its sessions in a home."""
    return os.path.join(home, ".gemini", "tmp")


def sessions(home: str) -> list[str]:
    """Every session of a home: the main ones first, then the subagents a folder below."""
    return journals(own_folder(home))


def journals(folder: str) -> list[str]:
    """The same below a folder laid out like the program's own."""
    chats = os.path.join(glob.escape(folder), "*", "chats")
    return [path for below in ("*.jsonl", "*/*.jsonl") for path in sorted(glob.glob(os.path.join(chats, below)))]


def run(job: Job) -> Finished:
    """Run a job, without a network where the machine allows that."""
    if not can_isolate():
        return run_here(job)
    result = run_isolated(__name__, msgspec.json.encode(job), job.seconds + 30)
    return msgspec.json.decode(result, type=Finished)


def run_here(job: Job) -> Finished:
    """Run a job in this network namespace; everything but loopback goes to a dead proxy."""
    own = os.path.join(job.home, ".gemini")
    os.makedirs(own, exist_ok=True)
    os.makedirs(project(job.home), exist_ok=True)
    with open(os.path.join(own, "settings.json"), "w", encoding="utf-8") as file:
        json.dump({**SETTINGS, **job.settings}, file)
    with ModelServer(job.script, side_text=job.side_text) as server:
        own_names = {
            "GEMINI_CLI_HOME": job.home,
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": server.root,
        }
        environment = programs.clean_environment(job.home, own_names)
        command = [job.program, "--model", MODEL, "--yolo", "--skip-trust", "--output-format", "json"]
        command += [*job.options, "--prompt", job.prompt]
        finished = programs.run_program(command, job.folder or project(job.home), environment, limit=job.seconds)
        return Finished(finished.output, finished.errors, server.requests, server.unused_replies)


if __name__ == "__main__":
    run_isolated_job(Job, run_here)
