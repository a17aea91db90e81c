"""`./dev test` runs two test runs at once; its exit status reflects both. A few tests that failed run once more. `./dev demo`
sets up only what is needed to run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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


# Stand in for Python and uv: each call is written down.
LOGGED = """#!/bin/sh
echo "{name} $*" >>"$LOG"
case "$*" in *purelib*) mkdir -p "$LOG.packages"; echo "$LOG.packages" ;; esac
"""


def set_up(folder: Path, *words: str, has_uv: bool) -> list[str]:
    """`./dev` with these words in a folder that was not set up; the calls of the programs."""
    for name in ("dev", "pyproject.toml", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, folder)
    programs = [folder / ".venv/bin/python", *([folder / "bin/uv"] if has_uv else [])]
    for program in programs:
        program.parent.mkdir(parents=True)
        program.write_text(LOGGED.format(name=program.name))
        program.chmod(0o755)
    environment = {
        "PATH": f"{folder / 'bin'}:{os.path.dirname(sys.executable)}:/usr/bin:/bin",
        "LOG": str(folder / "log"),
    }
    done = subprocess.run([folder / "dev", *words], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return (folder / "log").read_text().splitlines()


def test_the_demo_installs_only_what_is_needed_to_run_and_builds_nothing(tmp_path: Path) -> None:
    calls = [call for call in set_up(tmp_path, "demo", has_uv=False) if "install" in call]
    assert calls == ["python -m pip install --quiet --require-hashes -r requirements.txt"]
    assert (tmp_path / "log.packages/preheat-checkout.pth").read_text() == f"{tmp_path}/src\n"


def test_the_second_demo_installs_nothing(tmp_path: Path) -> None:
    set_up(tmp_path, "demo", has_uv=False)
    (tmp_path / "log").unlink()
    environment = {"PATH": "/usr/bin:/bin", "LOG": str(tmp_path / "log")}
    subprocess.run([tmp_path / "dev", "demo"], env=environment, check=True)
    assert (tmp_path / "log").read_text().splitlines() == ["python -m preheat demo"]


def test_uv_is_used_where_it_is_there_with_the_same_lock(tmp_path: Path) -> None:
    calls = [call for call in set_up(tmp_path, "demo", has_uv=True) if "install" in call]
    assert calls == ["uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements.txt"]


def test_the_lock_to_run_is_a_part_of_the_lock_to_develop() -> None:
    """The same versions with the same hashes: what the demo ran with is what the tests run with."""
    run, develop = (_read_lock(ROOT / name) for name in ("requirements.txt", "requirements-dev.txt"))
    assert len(run) > 30
    assert {name: hashes for name, hashes in run.items() if develop.get(name) != hashes} == {}


def _read_lock(path: Path) -> dict[str, list[str]]:
    """By name and version, the hashes; for which systems an entry is may differ."""
    entries = [entry for entry in re.split(r"\n(?=[a-z])", path.read_text()) if "--hash" in entry]
    return {entry.split()[0]: sorted(re.findall(r"sha256:\w+", entry)) for entry in entries}
