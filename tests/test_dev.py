"""`./dev test` runs two test runs at once; its exit status reflects both. A few tests that failed run once more."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Stands in for `.venv/bin/python -m pytest …`: the run of the rest is the one that leaves the real programs out.
PYTHON = """#!/bin/sh
case "$*" in
    -c*) ;;
    *--ignore*) sleep 0.2; echo "the rest ran"; exit {rest} ;;
    *) echo "programs ran"; exit {programs} ;;
esac
"""
# The same, where some tests failed and pass or fail alone.
RETRIED = """#!/bin/sh
case "$*" in
    -c*) seq {failed} ;;
    *--last-failed*) echo "the failed ones ran"; exit {alone} ;;
    *--ignore*) exit 1 ;;
esac
"""


def run_tests(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """`./dev test` with this script as its Python."""
    shutil.copy(ROOT / "dev", folder)
    (folder / "pyproject.toml").touch()
    program = folder / ".venv/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(python)
    program.chmod(0o755)
    (folder / ".venv/.ready").touch()
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    return subprocess.run([folder / "dev", "test"], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize(("rest", "programs", "expected"), [(0, 0, 0), (1, 0, 1), (0, 1, 1), (2, 1, 1)])
def test_the_exit_status_is_that_of_both_test_runs(tmp_path: Path, rest: int, programs: int, expected: int) -> None:
    ran = run_tests(tmp_path, PYTHON.format(rest=rest, programs=programs))
    assert ran.returncode == expected, ran.stderr
    assert ran.stdout.splitlines() == ["the rest ran", "programs ran"]
    assert not list(tmp_path.glob("tmp.*")), "the log of the programs' tests is left behind"


@pytest.mark.parametrize(("failed", "alone", "expected"), [(1, 0, 0), (5, 0, 0), (5, 1, 1), (6, 0, 1)])
def test_a_few_failed_tests_run_once_more_and_are_named(tmp_path: Path, failed: int, alone: int, expected: int) -> None:
    ran = run_tests(tmp_path, RETRIED.format(failed=failed, alone=alone))
    assert ran.returncode == expected, ran.stderr
    assert ("the failed ones ran" in ran.stdout) == (failed <= 5)
    assert ("UNSTEADY" in ran.stderr) == (expected == 0)
