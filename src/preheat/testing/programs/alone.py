"""Runs a module in a network namespace that has only a loopback, where the system lets us make one.

Some programs call home by themselves; the scripted model server has to run in there with them. Knows no agent.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TypeVar

import msgspec

Job = TypeVar("Job")


def can_be_alone() -> bool:
    """Whether this machine lets us make such a namespace."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    tried = subprocess.run(
        ["unshare", "--map-root-user", "--net", "ip", "link", "set", "lo", "up"],
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def run_alone(module: str, job: bytes, limit: float) -> bytes:
    """Run `python -m MODULE ASKED ANSWERED` cut off from the network: the job goes in, what it wrote comes back."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = os.path.join(folder, "job.json"), os.path.join(folder, "finished.json")
        with open(asked, "wb") as file:
            file.write(job)
        source = os.path.abspath(__file__)
        for _ in range(4):  # src/preheat/testing/programs/alone.py
            source = os.path.dirname(source)
        alone = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        subprocess.run(
            [*alone, sys.executable, "-m", module, asked, answered],
            env={**os.environ, "PYTHONPATH": source},
            check=True,
            timeout=limit,
        )
        with open(answered, "rb") as file:
            return file.read()


def answer(job: type[Job], run_here: Callable[[Job], object]) -> None:
    """The other end of `run_alone`: run the job in the first named file and write what came of it to the second."""
    asked, answered = sys.argv[1:3]
    with open(asked, "rb") as file:
        finished = run_here(msgspec.json.decode(file.read(), type=job))
    with open(answered, "wb") as file:
        file.write(msgspec.json.encode(finished))
