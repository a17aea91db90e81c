"""A machine with an agent's program on it, and a folder for Preheat."""

import os
import sys
import tempfile
from typing import NamedTuple

import pytest

from preheat.lab.suite import Suite, Task
from preheat.lab.training import TrainingPlan
from preheat.model.headless import HeadlessProgram
from tests.shared import TESTS
from tests.waiting import HUNG


class Machine(NamedTuple):
    folder: str
    plan: TrainingPlan
    asked: str

    def prompts(self) -> list[str]:
        """What the program was asked so far."""
        if not os.path.exists(self.asked):
            return []
        with open(self.asked, encoding="utf-8") as stream:
            return stream.read().splitlines()


@pytest.fixture
def machine(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Machine:
    home = str(tmp_path)
    work = os.path.join(home, "work")
    os.makedirs(work)
    monkeypatch.setattr(tempfile, "tempdir", work)  # what a training leaves goes with the test
    checkout = os.path.dirname(TESTS)
    prompts_file = os.path.join(home, "asked.txt")
    environment = {
        "HOME": home,
        "PATH": os.environ["PATH"],
        "CLAUDE_CONFIG_DIR": os.path.join(home, ".claude"),
        "ASKED": prompts_file,
        "PYTHONPATH": os.pathsep.join((checkout, os.path.join(checkout, "src"))),
    }
    headless = HeadlessProgram("agent", lambda prompts_file: ["-m", "tests.lab.training_agent"], reads_input=True)
    return Machine(
        os.path.join(home, "preheat"),
        TrainingPlan("claude_code", headless, sys.executable, environment, timeout=HUNG),
        prompts_file,
    )


def suite(*tasks: Task) -> Suite:
    return Suite("basics", tasks)
