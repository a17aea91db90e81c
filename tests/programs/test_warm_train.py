"""`preheat templates train` with real agent programs and the scripted model: from three tasks to a template of what they did."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from preheat.model.template import Template
from preheat.templates.store import TemplateStore
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs import opencode
from tests.programs.codex import CodexHome, find_codex
from tests.programs.opencode import find_opencode
from tests.programs.program import clean_environment
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

SUITE = """\
name: three
tasks:
  - id: build
    prompt: Build it.
    setup: |
      printf 'all:\\n\\t@echo built it\\n' > rules.mk
  - id: greet
    prompt: Make a file greeting.txt that says hello.
    verify: grep -q hello greeting.txt
  - id: wrong
    prompt: Make a file other.txt.
    verify: test -e other.txt
"""
BUILD, AGAIN, GREET = "make --file rules.mk nothing", "make --file rules.mk all", "echo hello | tee greeting.txt"


def script(tool: str, argument: str, **more: str) -> list[Reply]:
    """Three tasks: one that goes wrong at first, one that goes well, one that is not done."""

    def ran(command: str) -> Reply:
        return Reply(calls=[Call(tool, {argument: command, **more})])

    return [ran(BUILD), ran(AGAIN), Reply("Built."), ran(GREET), Reply("Hello."), Reply("I would rather not.")]


def train(environment: dict[str, str], folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    suite = folder / "suite.yaml"
    suite.write_text(SUITE)
    source = os.path.join(os.path.dirname(__file__), "..", "..", "src")
    own = {"PREHEAT_HOME": str(folder / "preheat"), "PYTHONPATH": os.path.abspath(source)}
    return subprocess.run(
        [sys.executable, "-m", "preheat", "warm", "train", "three", "--suite", str(suite), "--json", *arguments],
        env={**environment, **own},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )


def check(done: "subprocess.CompletedProcess[str]", folder: Path, tool: str) -> Template:
    """The three tasks with their verdicts, and a template whose examples are calls of those runs."""
    assert done.returncode == 1, done.stderr  # a task was left out
    report = json.loads(done.stdout)
    assert [task["status"] for task in report["tasks"]] == ["done", "verified", "not verified"]
    assert [len(task["sessions"]) for task in report["tasks"]] == [1, 1, 0]
    assert 0 < report["tokens_after"] <= report["tokens_before"]
    template = TemplateStore(str(folder / "preheat")).find("three").template
    shown = {lesson.use: lesson for lesson in template.lessons if lesson.example is not None}
    assert {AGAIN, GREET} <= set(shown)
    assert BUILD not in shown
    for command, result in ((AGAIN, "built it"), (GREET, "hello")):
        example = shown[command].example
        assert example is not None
        assert example.tool == tool
        assert result in example.result
        (evidence,) = shown[command].evidence
        assert evidence.session in template.sources
    assert "preheat-train-" not in str([lesson.example for lesson in template.lessons])
    return template


def test_a_template_is_trained_with_codex(tmp_path: Path) -> None:
    """The prompts go in by standard input and carry the mark; the person's own settings hold."""
    program = real_program(find_codex(), "codex")
    with ModelServer(script("exec_command", "cmd")) as server:
        home = CodexHome(str(tmp_path), server.url)
        options = ("--agent", "codex", "--program", program, "--", "--sandbox", "danger-full-access")
        done = train(home.environment, tmp_path, *options)
        assert server.unused_replies == 0
        asked = str(server.main_requests[0].body)
    template = check(done, tmp_path, "exec_command")
    assert template.agent == "codex"
    assert '<preheat-run training="' in asked
    assert template.extraction.skipped == {"not verified": 1}


def test_a_template_is_trained_with_opencode(tmp_path: Path) -> None:
    """The sessions are rows of one database, and each task's are told apart."""
    program = real_program(find_opencode(), "opencode")
    with ModelServer(script("bash", "command", description="Do it")) as server:
        settings = tmp_path / ".config" / "opencode"
        settings.mkdir(parents=True)
        (settings / "opencode.json").write_text(json.dumps(opencode.config(server.url, 200_000)))
        more = {"XDG_STATE_HOME": str(tmp_path / ".local" / "state"), **dict.fromkeys(opencode.QUIET, "1")}
        environment = clean_environment(str(tmp_path), more)
        done = train(environment, tmp_path, "--agent", "opencode", "--program", program)
        assert server.unused_replies == 0
    assert check(done, tmp_path, "bash").agent == "opencode"
