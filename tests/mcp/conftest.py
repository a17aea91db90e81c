"""The real command as a client starts it, and a machine whose sessions taught something."""

import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.ingest.machine import Machine
from tests.tools.conftest import make_machine
from tests.waiting import HUNG

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src"))
PATIENCE = HUNG


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Four sessions of a project in which the bare command fails and the project's own works, learned from."""
    return make_machine(tmp_path_factory.mktemp("taught"))


def environment(folder: str) -> dict[str, str]:
    """What the command needs, and nothing of the machine that runs the tests."""
    return {"PREHEAT_HOME": folder, "PYTHONPATH": SOURCE, "PATH": os.environ["PATH"], "HOME": folder}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "preheat", "mcp", *words]


def over_stdio(
    folder: str, talk: Callable[[Client], Awaitable[Any]], *words: str, cwd: str | None = None, **client: Any
) -> Any:
    """Talk to the command with the SDK's client."""
    program, *arguments = command(*words)
    server = StdioServerParameters(command=program, args=arguments, env=environment(folder), cwd=cwd)

    async def run() -> Any:
        with anyio.fail_after(PATIENCE):
            async with Client(server, **client) as connected:
                return await talk(connected)

    return anyio.run(run)


class Served(NamedTuple):
    """A server on HTTP."""

    url: str
    token: str
    process: "subprocess.Popen[str]"


@contextmanager
def over_http(folder: str, *words: str) -> Iterator[Served]:
    """The command with `--http` on a free port."""
    process = subprocess.Popen(
        command("--http", "--port", "0", *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(folder),
    )
    try:
        assert process.stderr is not None
        printed = ""
        while "Bearer" not in printed:
            line = process.stderr.readline()
            assert line, f"it ended: {printed}"
            printed += line
        url, token = re.search(r"on (http\S+);", printed), re.search(r"Bearer ([\w-]+)`", printed)
        assert url is not None
        assert token is not None
        yield Served(url[1], token[1], process)
    finally:
        process.kill()
        process.communicate()
