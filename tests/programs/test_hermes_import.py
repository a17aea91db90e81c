"""A warm session in the store of the real Hermes: made by its own code, gone on with, not mined back, deleted again; refused with
a clear line and nothing touched where it cannot be made. And Preheat reading while Hermes runs leaves Hermes as it is."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.hermes import session_import
from preheat.app.templates.library import Templates
from preheat.errors import UserError
from preheat.model.lesson import DAY, Example, Lesson, Scope, Support
from preheat.model.template import Template
from preheat.testing.script import Call, Reply
from tests.agents.test_hermes_bad_databases import files
from tests.programs import hermes, seeds
from tests.programs.program import run_program
from tests.waiting import HUNG

pytestmark = pytest.mark.program

WORK = (
    Reply(
        "I look.",
        calls=[Call("terminal", {"command": "echo hello"}), Call("terminal", {"command": "ls nowhere; exit 2"})],
    ),
    Reply(calls=[Call("terminal", {"command": "echo done"})]),
    Reply("Mended."),
)


class Machine:
    """A person's machine: Hermes on the PATH, and Preheat with one template."""

    def __init__(self, folder: Path) -> None:
        self.home = str(folder / "home")
        self.own = os.path.join(self.home, ".hermes")
        self.project = os.path.join(self.home, "project")
        for needed in (self.own, self.project):
            os.makedirs(needed)
        self.data = str(folder / "data")
        self.environment = {**seeds.environment(self.home), "PREHEAT_HOME": self.data}
        self.store = hermes.database(self.home)

    def add_template(self) -> None:
        now = time.time()
        common: dict[str, Any] = {
            "scope": Scope(project="project"), "last_seen": now - DAY, "first_seen": now - 30 * DAY, "score": 0.6,
        }  # fmt: skip
        call = Example(
            "terminal", {"command": seeds.COMMAND}, '{"output": "0 issues.", "exit_code": 0}', "shell", "hermes"
        )
        lessons = (
            Lesson(id="c1", kind="convention", topic="test", text=f"Tests run with `{seeds.FACT}`.", use=seeds.FACT,
                   support=Support(40, 9, 1, 1), **common),
            Lesson(id="e1", kind="example", text="A call.", example=call, support=Support(9, 9, 0, 0), **common),
        )  # fmt: skip
        Templates(self.data).store(Template(name="shop", project="project", lessons=lessons), "built")

    def preheat(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "preheat", *words],
            env=self.environment, cwd=self.project, capture_output=True, text=True, timeout=HUNG,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, *words: str, script: tuple[Reply, ...] = WORK) -> hermes.Finished:
        """Run Hermes with one question."""
        return hermes.run(
            hermes.Job(program=seeds.program(), home=self.home, arguments=["chat", *words, "-Q"], script=script)
        )

    def begin_session(self) -> dict[str, Any]:
        words = (
            "warm",
            "start",
            "--task",
            "mend the lint",
            "--template",
            "shop",
            "--format",
            "hermes-import",
            "--json",
        )
        found: dict[str, Any] = json.loads(self.preheat(*words))["begun"]
        return found

    def list_sessions(self) -> dict[str, dict[str, Any]]:
        return {each["session"]: each for each in json.loads(self.preheat("sessions", "list", "--json"))}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_warm_session_can_be_imported_resumed_and_deleted(machine: Machine) -> None:
    """Imported, resumed, read, judged, learned from, deleted: our messages reach the model as history and are not counted."""
    machine.add_template()
    before = machine.ask("-q", "Look around", script=(Reply("Looked."),)).session
    begun = machine.begin_session()
    assert begun["resume"] == ["hermes", "chat", "--resume", begun["session"]]
    assert tuple(map(int, begun["version"].split(".")[:2])) >= session_import.SINCE
    seeds.check_integrity(machine.store)
    machine.preheat("sync")
    assert machine.list_sessions()[begun["session"]]["messages"] == 0

    finished = machine.ask("--resume", begun["session"], "-q", "mend the lint")
    assert "Mended." in finished.output
    assert finished.session == begun["session"]
    first = seeds.request_messages(finished)[0]
    assert [each["role"] for each in first] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert seeds.FACT in first[1]["content"]
    assert json.loads(first[4]["tool_calls"][0]["function"]["arguments"]) == {"command": seeds.COMMAND}
    assert first[4]["tool_calls"][0]["id"] == first[5]["tool_call_id"]
    assert first[-1]["content"].endswith("mend the lint")

    machine.preheat("sync")
    known = machine.list_sessions()
    assert set(known) == {before, begun["session"]}
    session = known[begun["session"]]
    assert (session["calls"], session["prompts"], session["opening"]) == (3, 1, "mend the lint")
    assert session["project"] == os.path.realpath(machine.project)
    profile = json.loads(machine.preheat("profile", begun["session"], "--json"))
    assert seeds.COMMAND not in json.dumps(profile)
    machine.preheat("learn")
    for words in (("lessons", "list", "--all", "--json"), ("mistakes", "--json")):
        said = machine.preheat(*words)
        assert seeds.COMMAND not in said
        assert "preheat_" not in said
    assert seeds.COMMAND not in machine.preheat("sessions", "show", begun["session"])

    run_program([seeds.program(), *begun["undo"][1:], "--yes"], machine.project, machine.environment)
    assert session_ids(machine.store) == [before]
    seeds.check_integrity(machine.store)


def session_ids(store: str) -> list[str]:
    connection = sqlite3.connect(f"{Path(store).as_uri()}?mode=ro", uri=True)
    try:
        return sorted(row[0] for row in connection.execute("SELECT id FROM sessions"))
    finally:
        connection.close()


# Where it cannot be made.
@contextmanager
def hold_lock(store: str) -> Iterator[None]:
    connection = sqlite3.connect(store, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def make_newer(store: str) -> None:
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("UPDATE schema_version SET version = 99")
    connection.close()


def damage(store: str) -> None:
    """The root page of a table is overwritten; the head is whole."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with open(store, "r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xa5" * size)


@contextmanager
def forbid_growth(store: str) -> Iterator[None]:
    """Files cannot grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


REFUSALS: dict[str, tuple[Callable[[str], AbstractContextManager[None] | None], str]] = {
    "locked": (hold_lock, "another program is writing to"),
    "newer": (make_newer, "was made by a newer Hermes than the one at"),
    "damaged": (damage, "was left alone: it is damaged"),
    "full": (forbid_growth, "is the disk full?"),
}


@pytest.mark.parametrize("how", REFUSALS)
def test_a_refusal_leaves_the_store_as_it_was(machine: Machine, how: str) -> None:
    """The error is one line with the reason; the store has the same sessions as before."""
    kept = seeds.import_session(machine.home).session
    break_store, why = REFUSALS[how]
    context = break_store(machine.store)
    before = contents(machine.store) if how != "damaged" else files(machine.own)
    with context or nullcontext(), pytest.raises(UserError) as caught:
        seeds.import_session(machine.home)
    assert why in str(caught.value)
    assert machine.store in str(caught.value)
    assert "\n" not in str(caught.value)
    if how == "damaged":
        assert files(machine.own) == before
    else:
        assert contents(machine.store) == before
        assert session_ids(machine.store) == [kept]
        seeds.check_integrity(machine.store)


def contents(store: str) -> list[str]:
    connection = sqlite3.connect(store)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


MOUNTS = {
    "read-only": 'mount --bind "$own" "$own" && mount -o remount,ro,bind "$own"',
    "full": 'mount -t tmpfs -o size=208k tmpfs "$own" && cp -p "$copy"/* "$own"',
}
MOUNTED = """own=$1 copy=$2 kept=$3; shift 3
{} || exit 77
"$@"; code=$?
cp -p "$own"/state.db* "$kept"; exit $code
"""


@pytest.mark.parametrize(("how", "why"), [("read-only", "or a read-only disk"), ("full", "is the disk full?")])
def test_a_full_disk_leaves_the_store_unchanged(machine: Machine, tmp_path: Path, how: str, why: str) -> None:
    """A real full disk, mounted for the command: one line, exit code 2, and the same store."""
    machine.add_template()
    machine.begin_session()
    before, copy = contents(machine.store), tmp_path / "copy"
    shutil.copytree(machine.own, copy)
    words = ("warm", "start", "--task", "mend the lint", "--template", "shop", "--format", "hermes-import")
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNTED.format(MOUNTS[how]), "sh",
         machine.own, str(copy), str(tmp_path), sys.executable, "-m", "preheat", *words],
        env=machine.environment, cwd=machine.project, capture_output=True, text=True, timeout=HUNG, check=False,
    )  # fmt: skip
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip("this machine lets us mount nothing")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert why in done.stderr
    assert done.stderr.count("\n") == 1
    assert contents(str(tmp_path / "state.db")) == before
    assert contents(machine.store) == before


# Hermes unharmed.
SLOW = (
    *(Reply(calls=[Call("terminal", {"command": f"sleep 0.4; echo step {number}"})]) for number in range(5)),
    Reply("Mended."),
)


def test_reading_while_hermes_runs_changes_nothing(tmp_path: Path) -> None:
    """The same session with and without Preheat reading all the time: the same requests, the same answer, the same files, and
    the same rows. Afterwards every command that reads leaves the whole home byte for byte as it is."""
    found = {}
    for name in ("alone", "read"):
        (tmp_path / name).mkdir()
        machine = Machine(tmp_path / name)
        over = threading.Event()
        syncs: list[int] = []
        reading = threading.Thread(target=read_repeatedly, args=(machine, over, syncs))
        if name == "read":
            reading.start()
        try:
            finished = machine.ask("-q", "mend the lint", script=SLOW)
        finally:
            over.set()
            if name == "read":
                reading.join()
        assert name == "alone" or len(syncs) > 5
        assert set(syncs) <= {0}
        seeds.check_integrity(machine.store)
        found[name] = (
            finished.output.splitlines()[0],
            [[each["role"] for each in messages] for messages in seeds.request_messages(finished)],
            sorted(file for file in files(machine.own) if not file.startswith(("logs", "cache", "sandboxes"))),
            rows(machine.store),
        )
    assert found["alone"] == found["read"]

    before = files(machine.own)
    for words in (("sync",), ("learn",), ("doctor",), ("sessions", "list"), ("profile", "--all"), ("status",)):
        subprocess.run(
            [sys.executable, "-m", "preheat", *words],
            env=machine.environment, cwd=machine.project, capture_output=True, timeout=HUNG, check=False,
        )  # fmt: skip
    assert files(machine.own) == before
    assert [each["calls"] for each in machine.list_sessions().values()] == [5]


def read_repeatedly(machine: Machine, over: threading.Event, codes: list[int]) -> None:
    while not over.wait(0.1):
        done = subprocess.run(
            [sys.executable, "-m", "preheat", "sync", "--quiet"],
            env=machine.environment, cwd=machine.project, capture_output=True, timeout=HUNG, check=False,
        )  # fmt: skip
        codes.append(done.returncode)


def rows(store: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"{Path(store).as_uri()}?mode=ro", uri=True)
    try:
        query = "SELECT role, content, tool_call_id, tool_name, active, compacted FROM messages ORDER BY id"
        return [tuple(row) for row in connection.execute(query)]
    finally:
        connection.close()
