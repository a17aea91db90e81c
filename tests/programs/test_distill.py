"""`preheat lessons distill` with real agent programs and the scripted model: one that is right, one that lies, one that talks."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from preheat.testing.model_server import ModelServer, Reply
from tests.ingest.test_learning import worked
from tests.programs import gemini, hermes, opencode
from tests.programs.codex import CodexHome, find_codex
from tests.programs.program import clean_environment
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

GOOD = {
    "text": "Start tests with `uv run pytest tests`: `pytest tests` is not there", "kind": "repair", "topic": "test",
    "use": "uv run pytest tests", "avoid": "pytest tests",
}  # fmt: skip


class Asked(NamedTuple):
    """An agent's program in a home of its own."""

    agent: str
    program: str
    environment: dict[str, str]
    options: tuple[str, ...] = ()


def set_up_codex(folder: Path, server: ModelServer) -> Asked:
    program = real_program(find_codex(), "codex")
    return Asked("codex", program, CodexHome(str(folder), server.url).environment)


def set_up_opencode(folder: Path, server: ModelServer) -> Asked:
    program = real_program(opencode.find_opencode(), "opencode")
    settings = folder / ".config" / "opencode"
    settings.mkdir(parents=True)
    (settings / "opencode.json").write_text(json.dumps(opencode.config(server.url, 200_000)))
    more = {"XDG_STATE_HOME": str(folder / ".local" / "state"), **dict.fromkeys(opencode.QUIET, "1")}
    return Asked("opencode", program, clean_environment(str(folder), more))


def set_up_gemini(folder: Path, server: ModelServer) -> Asked:
    program = real_program(gemini.find_gemini(), "gemini")
    own = folder / ".gemini"
    own.mkdir()
    (own / "settings.json").write_text(json.dumps(gemini.SETTINGS))
    names = {"GEMINI_CLI_HOME": str(folder), "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": server.root}
    return Asked("gemini", program, clean_environment(str(folder), names), ("--model", gemini.MODEL))


def set_up_hermes(folder: Path, server: ModelServer) -> Asked:
    program = real_program(hermes.find_hermes(), "hermes")
    own = folder / ".hermes"
    own.mkdir()
    (own / "config.yaml").write_text(hermes.CONFIG.format(url=server.url, window=200_000, settings="", review=0))
    return Asked("hermes", program, clean_environment(str(folder), {"HERMES_HOME": str(own)}))


SETUPS: dict[str, Callable[[Path, ModelServer], Asked]] = {
    "codex": set_up_codex, "opencode": set_up_opencode, "gemini": set_up_gemini, "hermes": set_up_hermes,
}  # fmt: skip


def preheat(asked: Asked, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src"))
    own = {"PREHEAT_HOME": str(folder / "preheat"), "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, "-m", "preheat", *arguments],
        env={**asked.environment, **own},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )


def distill(asked: Asked, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    words = ("--with", asked.agent, "--program", asked.program, "--project", "shop", "--json", *asked.options)
    return preheat(asked, folder, "lessons", "distill", *words, *arguments)


def prepare(asked: Asked, folder: Path) -> list[str]:
    """Four sessions in the archive; the labels of a failing and of a working call of the first one in the prompt."""
    projects = os.path.join(asked.environment["HOME"], ".claude", "projects")
    for number in range(1, 5):
        worked(number).write(projects)
    assert preheat(asked, folder, "sync").returncode == 0
    done = distill(asked, folder, "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in json.loads(done.stdout)["prompt"].splitlines() if line.startswith("  S1#")]
    failed = next(words[0] for words in lines if words[1:3] == ["failed:", "pytest"])
    works = next(words[0] for words in lines if words[1:3] == ["ok:", "uv"])
    return [failed, works]


def sessions_of(asked: Asked, folder: Path) -> list[dict[str, Any]]:
    done = preheat(asked, folder, "sessions", "list", "--agent", asked.agent, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("agent", SETUPS)
def test_what_the_agent_says_is_verified_and_its_own_run_teaches_nothing(agent: str, tmp_path: Path) -> None:
    """One candidate is shown by its calls, one cites a call that nobody made, one claims what its call denies."""
    answers: list[str] = []
    with ModelServer(decide=lambda request: Reply(answers[0])) as server:
        asked = SETUPS[agent](tmp_path, server)
        cites = prepare(asked, tmp_path)
        lies = [{**GOOD, "cites": ["S1#4711"]}, {**GOOD, "use": "pytest tests", "avoid": "", "cites": cites[:1]}]
        answers.append("Here it is:\n" + json.dumps({"candidates": [{**GOOD, "cites": cites}, *lies]}))
        done = distill(asked, tmp_path, "--yes")
        assert done.returncode == 0, done.stderr
        bodies = [str(request.body) for request in server.main_requests]
    assert any("<preheat-run distill=" in body and "Session S1" in body for body in bodies)
    report = json.loads(done.stdout)
    assert [lesson["text"] for lesson in report["lessons"]] == [GOOD["text"]]
    assert [each["why"] for each in report["rejected"]] == [
        "cites a call that does not exist: S1#4711", "no cited call shows that its command works",
    ]  # fmt: skip
    assert report["used"]["output"] > 0
    assert preheat(asked, tmp_path, "sync").returncode == 0
    assert preheat(asked, tmp_path, "learn", "--quiet").returncode == 0
    own = sessions_of(asked, tmp_path)
    assert {each["starter"] for each in own} <= {"preheat"}
    again = json.loads(distill(asked, tmp_path, "--dry-run").stdout)
    assert not any(each.startswith(f"{asked.agent}:") for each in again["sessions"])


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply("I would rather talk about the weather."), "did not answer in the form asked for, so nothing was kept"),
        (Reply("no key", status=401), "is it logged in?"),
        (Reply("late", delay=30.0), "did not answer within 10 s; nothing was kept"),
    ],
)
def test_an_agent_that_talks_is_not_logged_in_or_hangs_gives_one_clear_line(
    reply: Reply, error: str, tmp_path: Path
) -> None:
    with ModelServer(decide=lambda request: reply) as server:
        asked = set_up_codex(tmp_path, server)
        prepare(asked, tmp_path)
        timeout = "10" if reply.delay else "60"
        done = distill(asked, tmp_path, "--yes", "--timeout", timeout)
    assert done.returncode == 2, done.stdout
    assert error in done.stderr
    assert preheat(asked, tmp_path, "lessons", "list", "--all", "--json").stdout.strip() == "[]"
