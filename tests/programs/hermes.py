"""Runs the real Hermes program against a scripted model: headless, in a home of its own, without a network.

Knows nothing of Preheat's reader. The model server and the program run in a network namespace of their own where the machine
allows that, because the program connects to its vendor by itself.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from preheat.agents.hermes.install import plugin_files
from preheat.daemon_client import write_client
from preheat.testing.model_server import ModelServer, Request
from preheat.testing.script import Reply
from tests.programs import program as programs
from tests.programs.isolation import can_isolate, run_isolated, run_isolated_job

CONFIG = """\
model: {{provider: custom, default: scripted, base_url: "{url}", api_key: none, context_length: {window}}}
memory: {{nudge_interval: {review}}}
skills: {{creation_nudge_interval: {review}}}
{settings}
"""
PLUGIN = "plugins: {enabled: [preheat]}"
"""A line of settings with which our plugin is loaded."""


class Job(msgspec.Struct, kw_only=True):
    """A run of the program."""

    program: str
    home: str
    """An empty folder at first; the program's own folder is `.hermes` in it, its working folder `project`."""
    arguments: Sequence[str]
    script: Sequence[Reply]
    window: int = 131_072
    settings: str = ""
    """More lines for `config.yaml`."""
    review: int = 0
    """After so many calls the program looks back at the session by itself; 0: never."""
    environment: Mapping[str, str] = {}
    """Set besides; `{url}` in it becomes the model's address."""
    before: Sequence[Sequence[str]] = ()
    """Commands that are run first, in the same surroundings, when the settings are written."""
    after: Sequence[Sequence[str]] = ()
    """And when the program has ended."""
    folder: str = ""
    """The working folder, where it is another one."""
    seconds: float = programs.TIME_LIMIT


class Finished(msgspec.Struct):
    """What the program printed and asked the model."""

    output: str
    errors: str
    requests: list[Request]

    @property
    def session(self) -> str:
        """The id of the session, as the program prints it."""
        found = re.search(r"session_id:\s*(\S+)", self.output + self.errors)
        if found is None:
            raise programs.ProgramFailed(f"no session id in what Hermes said: {self.output}{self.errors}")
        return found[1]


def find_hermes() -> str | None:
    """The installed program, or None."""
    return programs.find_program("hermes", "hermes", "bin", "hermes")


def database(home: str) -> str:
    """Where the program keeps its sessions in a home."""
    return os.path.join(home, ".hermes", "state.db")


def place_plugin(home: str, data: str) -> str:
    """Put our plugin into a home as a folder, as `preheat install` does, for a Preheat with this folder of data; where it is.
    `PLUGIN` enables it."""
    folder = os.path.join(home, ".hermes", "plugins", "preheat")
    os.makedirs(folder, exist_ok=True)
    for name, content in plugin_files(data).items():
        Path(folder, name).write_bytes(content)
    write_client(data)
    return folder


def run(job: Job) -> Finished:
    """Run a job, without a network where the machine allows that."""
    if not can_isolate():
        return run_here(job)
    result = run_isolated(__name__, msgspec.json.encode(job), job.seconds + 30)
    return msgspec.json.decode(result, type=Finished)


def run_here(job: Job) -> Finished:
    """Run a job in this network namespace."""
    own, project = os.path.join(job.home, ".hermes"), job.folder or os.path.join(job.home, "project")
    os.makedirs(own, exist_ok=True)
    os.makedirs(project, exist_ok=True)
    with ModelServer(job.script) as server:
        more = {name: value.replace("{url}", server.url) for name, value in job.environment.items()}
        environment = programs.clean_environment(job.home, {"HERMES_HOME": own, **more})
        config = CONFIG.format(url=server.url, window=job.window, settings=job.settings, review=job.review)
        with open(os.path.join(own, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(config)
        for command in job.before:
            programs.run_program(command, project, environment)
        finished = programs.run_program([job.program, *job.arguments], project, environment, limit=job.seconds)
        for command in job.after:
            programs.run_program(command, project, environment)
        return Finished(finished.output, finished.errors, server.requests)


if __name__ == "__main__":
    run_isolated_job(Job, run_here)
