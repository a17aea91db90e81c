"""`preheat experiment lab` on the command line: what it refuses, and how it tells what there is."""

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from preheat.testing.model_server import ModelServer, Reply, Request
from tests.shared import TESTS
from tests.waiting import HUNG, until


class Person:
    """Somebody with one task, in an empty home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PREHEAT_HOME": str(home / "preheat"),
            "PYTHONPATH": os.path.join(os.path.dirname(TESTS), "src"),
        }
        (home / "known.md").write_text("- It is done by `touch done.txt`\n")
        (home / "one.yaml").write_text("tasks:\n  - {id: a, prompt: Do it., verify: 'true'}\n")

    def words(self, *arguments: str, url: str = "http://127.0.0.1:9/v1") -> list[str]:
        options = ("--endpoint", url, "--model", "m", "--context", "known.md")
        return [sys.executable, "-m", "preheat", "lab", "run", "one.yaml", *options, *arguments]

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.words(*arguments), env=self.environment, cwd=self.home, capture_output=True, text=True, check=False
        )


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_an_unknown_agent_is_refused_with_those_there_are(person: Person) -> None:
    """Those are named that a lab can run, and no others."""
    done = person.run("--agent", "nobody")
    assert done.returncode == 2
    assert "no agent `nobody`; the lab can run chat, " in done.stderr
    assert "cline" not in done.stderr


def test_a_plan_is_shown_with_its_limits(person: Person) -> None:
    """One is told as one; a limit that nothing enforces is said before anything is asked."""
    chat = person.run("--dry-run", "--turns", "1", "--max-tokens", "5000").stdout
    assert chat.startswith("2 runs: 1 task in 2 arms, 1 time each\n")
    assert "  at most 1 turn a run\n  at most 5,000 tokens a run\n" in chat
    program = person.run("--dry-run", "--turns", "4", "--agent", "codex", "--program", "sh").stdout
    assert "  at most 4 turns a run: not enforced, with codex only measured\n" in program


def test_an_interrupted_lab_names_the_command_that_goes_on(person: Person) -> None:
    """With the exit code of an interruption; the same command then does the rest, and JSON names every field."""
    go_on, requests = threading.Event(), itertools.count()

    def decide(request: Request) -> Reply:
        if next(requests):
            go_on.wait(HUNG)
        return Reply("Done.")

    with ModelServer(decide=decide) as server:
        words = person.words("--repeats", "3", "--json", url=server.url)
        runs = person.home / "preheat" / "lab" / "one" / "runs.jsonl"
        with subprocess.Popen(
            words, env=person.environment, cwd=person.home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            until(lambda: process.poll() is not None or runs.exists(), "the first run")
            process.send_signal(signal.SIGINT)
            _, error = process.communicate()
        go_on.set()
        assert process.returncode == 130, error
        assert " of 6 runs " in error
        assert "`preheat experiment lab report one`" in error
        done = subprocess.run(
            words, env=person.environment, cwd=person.home, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    tried = json.loads(done.stdout)["run_results"]
    assert len(tried) == 6
    assert {(each["ending"], each["turns"], each["mistakes"], each["note"]) for each in tried} == {("well", 1, 0, "")}
