"""`preheat experiment lab run` with real programs and with our own loop, against a model that needs the context for its task.

Two tasks in two arms each: what an arm was given must show in how its tasks ended.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.model_server import ModelServer
from preheat.testing.script import Reply
from tests.programs.lab_model import KNOWN, STEPS, SUITE, Model
from tests.programs.program import clean_environment, find_program
from tests.shared import real_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
PROGRAMS = {
    "codex": (("codex", "codex", "node_modules", ".bin", "codex"), Model("exec_command", "cmd")),
    "hermes": (("hermes", "hermes", "bin", "hermes"), Model("terminal", "command")),
    "opencode": (
        ("opencode", "opencode", "node_modules", ".bin", "opencode"),
        Model("bash", "command", description="Do it"),
    ),
    "mini-swe-agent": (("mini", "mini-swe-agent", "bin", "mini"), Model("bash", "command", SUBMIT)),
}
OPTIONS = {"codex": ("--", "--sandbox", "danger-full-access")}


def program_of(name: str) -> str:
    """The program's path; without it the test is left out, but not where everything must be there."""
    return real_program(find_program(*PROGRAMS[name][0]), name)


def command(folder: Path, url: str, *arguments: str, suite: str = SUITE) -> tuple[list[str], dict[str, str]]:
    """The command line and its surroundings: a machine with nothing of Preheat's on it."""
    (folder / "suite.yaml").write_text(suite)
    (folder / "known.md").write_text(KNOWN)
    source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "src"))
    (folder / "scratch").mkdir(exist_ok=True)
    own = {"PREHEAT_HOME": str(folder / "preheat"), "PYTHONPATH": source, "LAB_KEY": "secret-of-the-test"}
    own["TMPDIR"] = str(folder / "scratch")
    options = (
        "--endpoint",
        url,
        "--model",
        "scripted",
        "--api-key-env",
        "LAB_KEY",
        "--context",
        str(folder / "known.md"),
    )
    words = [sys.executable, "-m", "preheat", "lab", "run", str(folder / "suite.yaml"), "--json", *options, *arguments]
    return words, clean_environment(str(folder), own)


def run(folder: Path, url: str, *arguments: str, suite: str = SUITE) -> "subprocess.CompletedProcess[str]":
    words, environment = command(folder, url, *arguments, suite=suite)
    return subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )  # fmt: skip


def check(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    """Every warm run passed and no cold one did; the transcripts prove which had the context; two tasks prove nothing."""
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    by_cell = {(run["task"], run["arm"]): run for run in report["run_results"]}
    assert {cell: run["status"] for cell, run in by_cell.items()} == {
        ("alpha", "cold"): "not passed",
        ("beta", "cold"): "not passed",
        ("alpha", "warm"): "passed",
        ("beta", "warm"): "passed",
    }
    for (_, arm), each in by_cell.items():
        assert each.get("ending", "well") == "well", each
        assert len(each["sessions"]) == 1
        assert each["tokens"] > 0
        assert each["calls"] >= 1
        assert each.get("errors", 0) == (arm == "cold")
    assert report["delivered"].startswith("2 of 2 transcripts show the context that was to be given; 2 of 2 that were")
    assert report["verdict"] == "too little data"
    assert report["comparisons"][0]["estimate"]["difference"] == 1.0
    assert report["problems"] == []
    return report


def archived_sessions(folder: Path) -> list[dict[str, Any]]:
    """The sessions of the archive, by the command line."""
    words, environment = command(folder, "http://127.0.0.1:9/v1")
    listed = [*words[:3], "sessions", "list", "--json"]
    done = subprocess.run(listed, env=environment, cwd=folder, capture_output=True, text=True, timeout=HUNG, check=True)
    found = json.loads(done.stdout)
    return list(found["sessions"] if isinstance(found, dict) else found)


def check_that_nothing_is_left(folder: Path) -> None:
    """The key is in no file that is left."""
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"secret-of-the-test" not in path.read_bytes(), path


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_real_program_passes_only_with_the_context(name: str, tmp_path: Path) -> None:
    """Set up in a home of its own for the endpoint, asked, verified, and its transcript taken in as Preheat's own session."""
    program = program_of(name)
    with ModelServer(decide=PROGRAMS[name][1]) as server:
        done = run(tmp_path, server.url, "--agent", name, "--program", program, *OPTIONS.get(name, ()))
    check(done)
    assert {each["starter"] for each in archived_sessions(tmp_path)} == {"preheat"}
    check_that_nothing_is_left(tmp_path)


LONG = "name: long\ntasks:\n  - {id: go, prompt: Go on until it is done., verify: test -s steps.txt}\n"


@pytest.mark.parametrize(
    ("name", "heeds"), [("codex", False), ("hermes", True), ("opencode", False), ("mini-swe-agent", True)]
)
def test_a_limit_is_kept_by_the_program_or_reported_as_not_enforced(name: str, heeds: bool, tmp_path: Path) -> None:
    """A model that wants more turns than it may: either the program stops it there, or the report says that nothing did. No
    program knows how many tokens it may take."""
    program = program_of(name)
    model = PROGRAMS[name][1]
    with ModelServer(decide=model.long) as server:
        limits = ("--turns", "2", "--max-tokens", "150")
        done = run(
            tmp_path, server.url, "--agent", name, "--program", program, *limits, *OPTIONS.get(name, ()), suite=LONG
        )
        asked = sum("tools" in request.body for request in server.main_requests)  # one asks what server it is, too
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr
    report = json.loads(done.stdout)
    for each in report["run_results"]:
        assert (each["status"], each["ending"]) == ("passed", "over its turns"), each
    assert asked == 2 * (2 if heeds else STEPS + 1)
    assert report["plan"]["unenforced"] == (["tokens"] if heeds else ["turns", "tokens"])
    unkept = [each.partition(" was not enforced")[0] for each in report["problems"]]
    assert unkept == [*([] if heeds else ["`--turns 2`"]), "`--max-tokens 150`"], report["problems"]


def test_the_context_can_be_a_file_that_the_program_reads(tmp_path: Path) -> None:
    """In the file that the program reads by itself, and its transcript proves it; the prompts are then the same in all arms."""
    program = program_of("codex")
    with ModelServer(decide=PROGRAMS["codex"][1]) as server:
        options = ("--agent", "codex", "--program", program, "--give", "file", *OPTIONS["codex"])
        check(run(tmp_path, server.url, *options))


def test_without_a_program_our_own_loop_is_used(tmp_path: Path) -> None:
    """No program is needed; the transcript is one that our own reader takes in."""
    with ModelServer(decide=Model("bash", "command")) as server:
        done = run(tmp_path, server.url)
        asked = server.main_requests[0].body
    check(done)
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["bash"]
    assert {(each["agent"], each["starter"]) for each in archived_sessions(tmp_path)} == {("openai_chat", "preheat")}
    check_that_nothing_is_left(tmp_path)


EIGHT = "name: eight\ndefaults: {timeout: 60}\ntasks:\n" + "".join(
    f"  - id: {name}{number}\n    prompt: Make {name}.txt as it is done here.\n    verify: grep -q good-{name} {name}.txt\n"
    for number in range(4)
    for name in ("alpha", "beta")
)


def test_a_killed_run_continues_where_it_was(tmp_path: Path) -> None:
    """Killed without a chance to say anything: what was over is not run again, and eight tasks are enough to tell that warm
    helps, that the note does as well, and that a placebo does nothing."""
    arms = ("--arms", "cold,warm,placebo,note")
    with ModelServer(decide=Model("bash", "command")) as server:
        words, environment = command(tmp_path, server.url, *arms, suite=EIGHT)
        with subprocess.Popen(words, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            runs = tmp_path / "preheat" / "lab" / "eight" / "runs.jsonl"
            while process.poll() is None and (not runs.exists() or runs.read_bytes().count(b"\n") < 5):
                time.sleep(0.02)
            assert process.poll() is None, "it was over before it could be killed"
            process.send_signal(signal.SIGKILL)
        before = runs.read_bytes()
        known = before[: before.rfind(b"\n") + 1]
        done = run(tmp_path, server.url, *arms, suite=EIGHT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert runs.read_bytes().startswith(known)
    report = json.loads(done.stdout)
    assert len(report["run_results"]) == 32
    assert report["verdict"] == "helps"
    comparisons = {(each["estimate"]["arm"], each["estimate"]["against"]): each for each in report["comparisons"]}
    assert comparisons["note", "cold"]["verdict"] == "helps"
    assert comparisons["warm", "note"]["estimate"]["difference"] == 0
    assert comparisons["placebo", "cold"]["estimate"]["difference"] == 0
    assert report["delivered"].startswith("24 of 24")
    left = [name for name in os.listdir(tmp_path / "scratch") if name.startswith("preheat-lab-")]
    assert left == []  # also those of the one that was killed


def test_a_missing_endpoint_is_reported_at_once(tmp_path: Path) -> None:
    """In one line, before anything is planned."""
    done = run(tmp_path, "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert "nothing answers at `http://127.0.0.1:9/v1`" in done.stderr
    assert not (tmp_path / "preheat" / "lab").exists()


def test_a_model_that_stops_answering_ends_the_run(tmp_path: Path) -> None:
    """Three runs in a row without an answer are no failures of an arm: the lab stops and keeps nothing of them."""
    with ModelServer(decide=lambda request: Reply("no such model", status=404)) as server:
        done = run(tmp_path, server.url)
    assert done.returncode == 2
    assert "chat got no answer of the model at `http" in done.stderr
    assert not (tmp_path / "preheat" / "lab" / "two" / "runs.jsonl").exists()
    with ModelServer(decide=Model("bash", "command"), port=0) as server:
        other = run(tmp_path, server.url)  # another address is another lab
        assert "`--restart` puts the other one aside" in other.stderr
        check(run(tmp_path, server.url, "--restart"))
