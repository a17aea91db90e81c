"""`./dev test` runs two test runs at once; its exit status reflects both."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Stands in for `.venv/bin/python -m pytest …`: the run with the real programs is the one with `--dist`.
PYTHON = """#!/bin/sh
case "$*" in
    *--dist*) echo "programs ran"; exit {programs} ;;
    *) sleep 0.2; echo "the rest ran"; exit {rest} ;;
esac
"""


@pytest.mark.parametrize(("rest", "programs", "expected"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (2, 1, 1)])
def test_the_exit_status_is_that_of_both_test_runs(tmp_path: Path, rest: int, programs: int, expected: int) -> None:
    shutil.copy(ROOT / "dev", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON.format(rest=rest, programs=programs))
    python.chmod(0o755)
    (tmp_path / ".venv/.ready").touch()

    ran = subprocess.run(
        [tmp_path / "dev", "test"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)},
    )

    assert ran.returncode == expected, ran.stderr
    assert ran.stdout.splitlines() == ["the rest ran", "programs ran"]
    assert not list(tmp_path.glob("tmp.*")), "the log of the programs' tests is left behind"
