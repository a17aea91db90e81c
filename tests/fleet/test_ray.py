"""The fleet on a real Ray: a killed node, a killed driver, an interruption, and who can reach it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.one_machine import Everything, differences, load_fleet
from tests.fleet.builders import ObjectStore, analyse, copy_sessions, serve_objects, store_variables
from tests.shared import TESTS
from tests.waiting import HUNG

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes in /proc")
ROOT = os.path.dirname(TESTS)
AGENTS = ("codex", "claude_code", "cline", "openhands", "hermes", "gemini", "pi", "specstory", "cursor")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with serve_objects() as found:
        yield found


@pytest.fixture(scope="module")
def expected(store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> Everything:
    """What a run in one process makes of the objects."""
    store.put_folder(copy_sessions(tmp_path_factory.mktemp("source"), AGENTS), "runs/ray")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store_variables(store).items():
            patch.setenv(name, value)
        analyse("s3://runs/ray", "s3://results/quiet")
        return load_fleet("s3://results/quiet")


def environment(store: ObjectStore, home: Path) -> dict[str, str]:
    home.mkdir(mode=0o700, exist_ok=True)
    return {**os.environ, **store_variables(store), "PREHEAT_HOME": str(home), "PYTHONWARNINGS": "ignore"}


def processes_of(group: int) -> list[str]:
    """The processes of a session, by their command lines, but for the one that leads it."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != group:
            try:
                with open(f"/proc/{name}/stat") as stat, open(f"/proc/{name}/cmdline") as line:
                    fields = stat.read().rpartition(")")[2].split()
                    if int(fields[3]) == group and fields[0] != "Z":
                        found.append(line.read().replace("\0", " ")[:80])
            except (OSError, IndexError):
                continue
    return found


def wait_until_empty(group: int) -> list[str]:
    deadline = time.monotonic() + HUNG
    while (left := processes_of(group)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def start(store: ObjectStore, home: Path, destination: str) -> "subprocess.Popen[str]":
    """Start the command as the leader of a session, so that everything it starts can be found."""
    command = [sys.executable, "-m", "preheat", "fleet", "analyse", "s3://runs/ray", "--out", destination]
    return subprocess.Popen(
        [*command, "--workers", "2", "--batch", "20KB", "--json"],
        env=environment(store, home),
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def count_entries(store: ObjectStore, destination: str) -> int:
    from pyarrow import fs

    selector = fs.FileSelector(f"{destination}/manifest", allow_not_found=True, recursive=True)
    return len(store.filesystem.get_file_info(selector))


def wait_for_entries(store: ObjectStore, destination: str, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + HUNG
    while count_entries(store, destination) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def load(store: ObjectStore, destination: str) -> Everything:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store_variables(store).items():
            patch.setenv(name, value)
        return load_fleet(destination)


def test_a_node_killed_while_it_reads_changes_nothing(store: ObjectStore, expected: Everything, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fleet.killed_node", "s3://runs/ray", "s3://results/killed"],
        env=environment(store, tmp_path / "home"), cwd=ROOT, capture_output=True, text=True, timeout=6 * HUNG, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["was_running"], "no task was running on the node"
    assert (found["failed"], found["problems"]) == (0, 0)
    assert differences(expected, load(store, "s3://results/killed")) == []


def test_a_driver_killed_and_started_again_ends_with_the_same_and_leaves_nothing(
    store: ObjectStore, expected: Everything, tmp_path: Path
) -> None:
    first = start(store, tmp_path / "home", "s3://results/driver")
    wait_for_entries(store, "results/driver", first)
    first.kill()
    first.communicate()
    done_before = count_entries(store, "results/driver")
    assert done_before >= 2, "it was killed before it had committed anything"
    assert wait_until_empty(first.pid) == []
    second = start(store, tmp_path / "home", "s3://results/driver")
    said, errors = second.communicate(timeout=6 * HUNG)
    assert second.returncode == 0, errors[-2000:]
    assert json.loads(said)["new"] < json.loads(said)["objects"], "everything was read again"
    assert differences(expected, load(store, "s3://results/driver")) == []
    assert wait_until_empty(second.pid) == []


def test_an_interruption_leaves_no_process_and_no_folder_and_ray_listens_on_loopback_only(
    store: ObjectStore, expected: Everything, tmp_path: Path
) -> None:
    process = start(store, tmp_path / "home", "s3://results/stopped")
    wait_for_entries(store, "results/stopped", process)
    folders = [path for path in Path("/tmp").glob("preheat-ray-*") if path.is_dir()]
    assert folders
    assert all(path.stat().st_mode & 0o077 == 0 for path in folders)
    listening = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[3] for line in listening.splitlines() if _is_of(line, process.pid)]
    assert len(ours) > 3
    assert [each for each in ours if "127.0.0.1" not in each] == []
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=HUNG)
    assert process.returncode == 128 + signal.SIGINT
    assert "stopped; what was done so far is kept" in errors
    assert wait_until_empty(process.pid) == []
    assert [path for path in folders if path.exists()] == []


def _is_of(line: str, group: int) -> bool:
    """Whether a line of `ss` is of a process of a session."""
    for part in line.split("pid=")[1:]:
        try:
            with open(f"/proc/{int(part.split(',')[0])}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[3]) == group:
                    return True
        except (OSError, ValueError):
            continue
    return False
