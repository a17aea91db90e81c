"""Runs a module in a network namespace that has only a loopback, where the system allows that.

Some programs connect to their vendors by themselves; the scripted model server runs in the namespace with them. Knows no agent.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TypeVar

import msgspec

from tests.programs.program import checkout

Job = TypeVar("Job")


def can_isolate() -> bool:
    """Whether this machine allows such a namespace."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    tried = subprocess.run(
        ["unshare", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def run_isolated(module: str, job: bytes, limit: float) -> bytes:
    """Run `python -m MODULE JOB RESULT` without a network; the job is written to the first file, the second is returned."""
    with tempfile.TemporaryDirectory() as folder:
        job_path, result_path = os.path.join(folder, "job.json"), os.path.join(folder, "finished.json")
        with open(job_path, "wb") as file:
            file.write(job)
        folder_of_code = checkout()
        source = os.pathsep.join((os.path.join(folder_of_code, "src"), folder_of_code))
        alone = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        subprocess.run(
            [*alone, sys.executable, "-m", module, job_path, result_path],
            env={**os.environ, "PYTHONPATH": source},
            check=True,
            timeout=limit,
        )
        with open(result_path, "rb") as file:
            return file.read()


def run_isolated_job(job: type[Job], run_here: Callable[[Job], object]) -> None:
    """The other end of `run_isolated`: run the job in the first file and write its result to the second."""
    job_path, result_path = sys.argv[1:3]
    with open(job_path, "rb") as file:
        finished = run_here(msgspec.json.decode(file.read(), type=job))
    with open(result_path, "wb") as file:
        file.write(msgspec.json.encode(finished))
