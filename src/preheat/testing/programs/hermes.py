"""Runs the real Hermes program against a scripted model: headless, in a home of its own, without a network.

The model server and the program run together in a network namespace that has only a loopback, where the
system lets us make one: the program calls home by itself. Knows nothing of Preheat's reader.
"""

import os
import re
from collections.abc import Sequence

import msgspec

from preheat.testing import programs
from preheat.testing.model_server import ModelServer, Request
from preheat.testing.programs.alone import answer, can_be_alone, run_alone
from preheat.testing.script import Reply

_CONFIG = """\
model: {{provider: custom, default: scripted, base_url: "{url}", api_key: none, context_length: {window}}}
memory: {{nudge_interval: 0}}
skills: {{creation_nudge_interval: 0}}
{settings}
"""


class Job(msgspec.Struct, kw_only=True):
    """What to run."""

    program: str
    home: str
    """An empty folder at first; the program's own folder is `.hermes` in it, its working folder `project`."""
    arguments: Sequence[str]
    script: Sequence[Reply]
    window: int = 131_072
    settings: str = ""
    """More lines for `config.yaml`."""
    seconds: float = 180.0


class Finished(msgspec.Struct):
    """What came of it."""

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
    return programs.find("hermes", "hermes", "bin", "hermes")


def database(home: str) -> str:
    """Where the program keeps its sessions in a home."""
    return os.path.join(home, ".hermes", "state.db")


def run(job: Job) -> Finished:
    """Run a job, cut off from the network if that can be had."""
    if not can_be_alone():
        return run_here(job)
    answered = run_alone(__name__, msgspec.json.encode(job), job.seconds + 30)
    return msgspec.json.decode(answered, type=Finished)


def run_here(job: Job) -> Finished:
    """Run a job in the network that there is."""
    own, project = os.path.join(job.home, ".hermes"), os.path.join(job.home, "project")
    os.makedirs(own, exist_ok=True)
    os.makedirs(project, exist_ok=True)
    environment = programs.clean_environment(job.home, {"HERMES_HOME": own})
    with ModelServer(job.script) as server:
        config = _CONFIG.format(url=server.url, window=job.window, settings=job.settings)
        with open(os.path.join(own, "config.yaml"), "w", encoding="utf-8") as file:
            file.write(config)
        finished = programs.run([job.program, *job.arguments], project, environment, limit=job.seconds)
        return Finished(finished.output, finished.errors, server.requests)


if __name__ == "__main__":
    answer(Job, run_here)
