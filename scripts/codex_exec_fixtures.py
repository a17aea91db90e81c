"""Makes the fixtures of `codex exec --json`: what the real program printed against the scripted model.

`make_fixtures.py` calls `make`. The machine's paths are replaced; ids stay. Items that need servers the script has not (MCP,
web search, sub-agents) are in a file written by hand, which is kept as it is.
"""

import os
import shutil
import tempfile

from preheat.testing.model_server import Call, ModelServer, Reply
from scripts.codex_fixtures import SHORT, WORK
from tests.programs.codex import CodexHome, find_codex, thread_of
from tests.programs.program import FinishedProgram

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(CHECKOUT, "tests", "fixtures", "codex_exec", "items.jsonl")


def make(folder: str) -> None:
    """Make every fixture below a folder: one run; a run and its continuation in one file; a run that failed."""
    if find_codex() is None:
        raise SystemExit("no `codex` program: run `scripts/install-agents codex`")
    shutil.copy(KEPT, folder)
    again = [Reply(calls=[Call("exec_command", {"cmd": "echo again"})]), Reply("Resumed and done.")]
    broken = [Reply("no such model", status=400)]
    with (
        tempfile.TemporaryDirectory(prefix="fixture-") as work,
        ModelServer([*WORK, *SHORT, *again, *broken]) as server,
    ):
        home = CodexHome(work, server.url)
        _write(home, os.path.join(folder, "headless.jsonl"), home.exec("Make a greeting file."))
        first = home.exec("Print the date.")
        second = home.resume(thread_of(first), "Is it really done?")
        _write(home, os.path.join(folder, "resumed.jsonl"), first, second)
        _write(home, os.path.join(folder, "failed.jsonl"), home.exec("Try.", expect=None))


def _write(home: CodexHome, target: str, *runs: FinishedProgram) -> None:
    text = "".join(run.output for run in runs).replace(home.project, "/w/proj").replace(home.home, "/home/me")
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
