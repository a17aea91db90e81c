"""Runs a module in a network namespace that has only a loopback, where the system lets us make one.

Some programs call home by themselves; the scripted model server has to run in there with them. Knows no agent.
"""

import os
import shutil
import subprocess
import sys
import tempfile


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
