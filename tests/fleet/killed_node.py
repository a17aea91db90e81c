"""A program of the tests: a run on a Ray cluster of two nodes on loopback, one of which is killed while a task runs on it.

    python -m tests.fleet.killed_node SOURCE DEST

Prints JSON: whether a task was running on the node, and what the run came to. Storage is as the environment says.
"""

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from typing import Any

FOLDER = tempfile.mkdtemp(prefix="phk-", dir="/tmp")
os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_TMPDIR": FOLDER,
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
os.makedirs(os.path.join(FOLDER, "ray"))

import ray  # noqa: E402, F401 - after its variables
from ray.cluster_utils import Cluster  # noqa: E402

import preheat  # noqa: E402

NODE: dict[str, Any] = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80 * 1024 * 1024}


def main(source: str, destination: str) -> None:
    cluster = Cluster(head_node_args={**NODE, "include_dashboard": False}, initialize_head=True, shutdown_at_exit=True)
    found: dict[str, Any] = {"was_running": False}
    try:
        node = cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        killer = threading.Thread(target=_kill_busy_node, args=(cluster, node, found), daemon=True)
        killer.start()
        run = preheat.open().fleet.analyse(source, destination, address=cluster.address, batch=20_000)
        found |= {
            "sessions": run.sessions, "calls": run.calls, "failed": run.failed, "problems": len(run.problems),
            "batches": run.batches,
        }  # fmt: skip
        killer.join(1)
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]
        shutil.rmtree(FOLDER, ignore_errors=True)
    print(json.dumps(found))


def _kill_busy_node(cluster: Cluster, node: Any, found: dict[str, Any]) -> None:
    """Kill a node as soon as one of its processes works on a task, and add another one in its place."""
    raylet = node.all_processes["raylet"][0].process.pid
    while not any(_title(child).startswith("ray::read") for child in _children(raylet)):
        time.sleep(0.005)
    found["was_running"] = True
    cluster.remove_node(node, allow_graceful=False)
    cluster.add_node(**NODE)


def _children(parent: int) -> list[int]:
    with open(f"/proc/{parent}/task/{parent}/children") as stream:
        return [int(each) for each in stream.read().split()]


def _title(process: int) -> str:
    try:
        with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
