"""`preheat experiment lab list` where one of the labs cannot be read."""

import json
import os
import subprocess
import sys
from pathlib import Path

from preheat.lab.state import Lab, labs_folder
from tests.lab.conftest import a_plan


def test_a_damaged_lab_hides_no_other(tmp_path: Path) -> None:
    """The others are listed, the damaged one is named on the error stream, and the exit code says so."""
    for name in ("broken", "whole"):
        Lab(os.path.join(labs_folder(str(tmp_path)), name)).store_plan(a_plan(2))
    Path(labs_folder(str(tmp_path)), "broken", "plan.json").write_text("{")
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "lab", "list", "--json"],
        env={**os.environ, "PREHEAT_HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [each["name"] for each in json.loads(done.stdout)] == ["whole"]
    assert "broken" in done.stderr
    assert done.returncode == 1
