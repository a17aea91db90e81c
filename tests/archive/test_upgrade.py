"""Folders of earlier versions are upgraded without loss, whatever interrupts, and keep working.

The folders were made by the code of their time (`scripts/make_old_homes.py`), which also recorded what it printed of them.
Everything is asked through commands, so that the form of the archive does not matter.
"""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from preheat.archive import migrations
from preheat.archive.connect import HEAD
from preheat.cli import main
from tests.daemon.builders import daemon, edited, hook_payload
from tests.packed import unpack
from tests.shared import FIXTURES
from tests.waiting import HUNG

HOMES = os.path.join(FIXTURES, "homes")
REVISIONS = sorted(os.listdir(HOMES))
LEARNED = [each for each in REVISIONS if each >= "0003"]
FIRST = "0004"
"""The revision of version 0.1.0, the first that was published."""
SAME = (
    "key", "agent", "session", "version", "model", "project", "branch", "parent", "relation", "started_at", "ended_at", "starter",
    "title", "opening", "events", "prompts", "messages", "calls", "compactions", "input_tokens", "output_tokens",
)  # fmt: skip
"""Fields of a session that its transcript states. What is judged may change when the judge does."""
PRESENT_NAMES = {"named": "remarks", "drawn": "assigned", "given": "deliveries"}
"""Fields of `--json` whose names have changed since these versions."""


class Home:
    """A folder of an earlier version, and what that version printed of it."""

    def __init__(self, folder: Path, revision: str, capture: pytest.CaptureFixture[bytes]) -> None:
        self.folder = str(folder)
        self._capture = capture
        with open(os.path.join(HOMES, revision, "printed.json"), encoding="utf-8") as stream:
            self.recorded: dict[str, Any] = json.load(stream, object_hook=with_present_names)
        unpack(os.path.join(HOMES, revision, "home.tar.xz"), folder, set_present_date)

    def run(self, *words: str) -> bytes:
        self._capture.readouterr()
        code = main(list(words))
        printed = self._capture.readouterr()
        assert code == 0, printed.err
        return printed.out

    def ask(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def sessions(self) -> dict[str, dict[str, Any]]:
        return {each["key"]: {name: each[name] for name in SAME} for each in self.ask("sessions", "list")}

    def lessons(self) -> dict[str, dict[str, Any]]:
        return {each["id"]: each for each in self.ask("lessons", "list", "--all")}

    def assert_whole(self) -> None:
        """Assert that nothing of the old folder is missing."""
        assert self.sessions() == {
            key: {name: each[name] for name in SAME} for key, each in self.recorded["sessions"].items()
        }
        raw = {
            key: hashlib.sha256(self.run("export", key, "--format", "raw")).hexdigest() for key in self.recorded["raw"]
        }
        assert raw == self.recorded["raw"]
        for words, keys in self.recorded["found"].items():
            assert sorted({hit["session"]["key"] for hit in self.ask("sessions", "search", words)}) == keys
        lessons = self.lessons()
        assert {name: each["text"] for name, each in lessons.items()} == self.recorded.get("lessons", {})
        if lessons:
            self.assert_marks_kept()
        if "ledger" in self.recorded:
            self.assert_experiments_kept()
        with sqlite3.connect(os.path.join(self.folder, "archive.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
        connection.close()

    def assert_marks_kept(self) -> None:
        """Assert that the lesson that a person pinned is pinned, and the retired one retired."""
        lessons = self.lessons()
        assert lessons[self.recorded["pinned"]]["pinned"] is True
        assert lessons[self.recorded["retired"]]["status"] == "retired"

    def assert_experiments_kept(self) -> None:
        """Assert that the ledger, the plans and the assigned sessions are those of the old version."""
        known = self.recorded["ledger"]
        ledger = self.ask("ledger")
        assert ledger["entries"][: len(known["entries"])] == known["entries"]
        assert ledger["changed_lines"] == []
        named = {each["experiment"]: each for each in self.ask("experiment", "list")}
        for each in self.recorded["experiments"]:
            assert named[each["experiment"]]["plan"] == each["plan"]
            assert (named[each["experiment"]]["stopped"] is None) == (each["stopped"] is None)
        report = self.ask("experiment", "report", "first")
        assert {name: report[name] for name in ("assigned", "deliveries", "measured")} == {
            name: self.recorded["report"][name] for name in ("assigned", "deliveries", "measured")
        }


def with_present_names(fields: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with the fields' present names."""
    return {PRESENT_NAMES.get(name, name): value for name, value in fields.items()}


def set_present_date(entry: tarfile.TarInfo) -> None:
    """Give a file the present time, because old files are cleaned up."""
    entry.mtime = time.time()


@pytest.fixture
def home(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Home:
    """The folder of the revision that is the test's parameter, on an otherwise empty machine."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "preheat"))
    monkeypatch.setenv("TZ", "UTC")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return Home(tmp_path / "preheat", request.param, capfdbinary)


of_every_revision = pytest.mark.parametrize("home", REVISIONS, indirect=True)
of_those_that_learned = pytest.mark.parametrize("home", LEARNED, indirect=True)
of_the_first_version = pytest.mark.parametrize("home", [FIRST], indirect=True)


def test_there_is_a_recorded_folder_of_every_released_revision() -> None:
    versions = Path(migrations.__file__).parent / "versions"
    assert [name for each in sorted(versions.glob("r*.py")) if (name := each.name[1:5]) <= FIRST] == REVISIONS


@of_every_revision
def test_an_upgrade_loses_nothing(home: Home) -> None:
    """Sessions, their bytes, search hits, lessons and marks."""
    home.assert_whole()


@of_those_that_learned
def test_marks_survive_learning_again(home: Home) -> None:
    home.run("learn", "--quiet")
    home.assert_marks_kept()


@of_every_revision
def test_sessions_are_analysed_again_where_the_version_requires_it(home: Home) -> None:
    calls = {key: each["calls"] for key, each in home.recorded["sessions"].items()}
    assert {key: home.ask("profile", key)["calls"] for key in calls} == calls


# Interrupted upgrades.
DYING = """
import os, signal, sqlite3, sqlite3.dbapi2, sys

home, at = os.environ["PREHEAT_HOME"], int(sys.argv[1])
points = 0


def pass_point(*_):
    global points
    points += 1
    if points == at:
        os.kill(os.getpid(), signal.SIGKILL)


def traced(connect):
    def opened(*arguments, **named):
        connection = connect(*arguments, **named)
        connection.set_trace_callback(pass_point)
        return connection

    return opened


def audit(event, arguments):
    if event in ("os.rename", "os.remove", "os.link", "os.truncate", "os.mkdir") and str(arguments[0]).startswith(home):
        pass_point()
    elif event == "open" and str(arguments[0]).startswith(home) and str(arguments[1] or "r") != "r":
        pass_point()


sqlite3.connect = sqlite3.dbapi2.connect = traced(sqlite3.connect)
sys.addaudithook(audit)
from preheat.cli import main

for words in (("sessions", "list", "--json"), ("lessons", "list", "--json"), ("experiment", "list", "--json")):
    main(list(words))
print(points, file=sys.stderr)
"""
"""Opens the folder, counts every SQL statement and every change of a file, and at one of them is killed."""
KILLS = 6


@of_every_revision
def test_a_killed_upgrade_is_complete_or_untouched(home: Home, tmp_path: Path) -> None:
    """Killed at points spread over the upgrade."""
    kept = str(tmp_path / "kept")
    shutil.copytree(home.folder, kept)

    def open_until(point: int) -> "subprocess.CompletedProcess[str]":
        shutil.rmtree(home.folder)
        shutil.copytree(kept, home.folder)
        command = [sys.executable, "-c", DYING, str(point)]
        return subprocess.run(command, capture_output=True, text=True, timeout=HUNG)

    done = open_until(0)
    points = int(done.stderr.split()[-1])
    chance = random.Random(home.recorded["revision"])
    for point in sorted(chance.sample(range(1, points + 1), KILLS)):
        assert open_until(point).returncode == -9, point
        with sqlite3.connect(os.path.join(home.folder, "archive.db")) as connection:
            (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        connection.close()
        assert version in (home.recorded["revision"], HEAD)
        home.assert_whole()


# What else is in the folder of the first version.
def old_fields(template: dict[str, Any]) -> dict[str, Any]:
    """The fields of a template that the old version had."""
    lessons = [(each["id"], each["kind"], each["text"], each.get("use")) for each in template["lessons"]]
    return {name: template[name] for name in ("name", "addendum", "project", "sources", "parent")} | {
        "lessons": lessons
    }


@of_the_first_version
def test_templates_work_after_an_upgrade(home: Home) -> None:
    """Each version exists under its digest; a deleted one can be restored, an imported one still waits for its review."""
    templates = home.recorded["templates"]
    assert {each["name"] for each in home.ask("warm", "list")} == set(templates)
    for name, known in templates.items():
        found = home.ask("warm", "show", name)
        assert found["digest"] == known["digest"]
        assert old_fields(found["template"]) == old_fields(known["template"])
    assert home.ask("warm", "history", "many")["versions"] == home.recorded["history"]
    assert home.ask("warm", "show", "many@-1")["template"]["addendum"] == ""
    assert b"Run the tests first." in home.run("warm", "start", "--task", "mend the dates", "--template", "many")
    (gone,) = home.recorded["deleted"]
    home.run("warm", "restore", gone)
    assert gone in {each["name"] for each in home.ask("warm", "list")}
    home.run("warm", "review", "theirs", "--accept-all")
    assert b"Be quick." in home.run("warm", "start", "--task", "mend it", "--template", "theirs")


@of_the_first_version
def test_a_template_gets_a_new_version_after_an_upgrade(home: Home) -> None:
    home.run("warm", "build", "many", "--min-messages", "0", "--weak", "--addendum", "Otherwise.")
    versions = home.ask("warm", "history", "many")["versions"]
    assert (
        versions[: len(home.recorded["history"])] == home.recorded["history"]
        or versions[1:] == home.recorded["history"]
    )
    assert len(versions) == len(home.recorded["history"]) + 1


@of_the_first_version
def test_experiments_continue_after_an_upgrade(home: Home) -> None:
    home.assert_experiments_kept()
    rated = next(key for key, word in home.recorded["rated"].items() if word == "good")
    assert home.ask("rate", "bad", rated)
    home.run("experiment", "stop", "second")
    entries = home.ask("ledger")["entries"]
    assert [each["name"] for each in entries] == ["first", "second"]
    home.run("experiment", "start", "third")
    assert {each["plan"]["name"] for each in home.ask("experiment", "list")} >= {"first", "second", "third"}


@of_those_that_learned
def test_running_sessions_continue_in_a_new_daemon(home: Home) -> None:
    watched = {each["session"]: each["turn"] for each in home.ask("watch", "--within", "1e9")}
    assert watched == home.recorded["watched"]
    session = max(watched, key=lambda name: watched[name])
    with daemon(home.folder) as one:
        one.ask(edited(900, "src/a.py", session))
        status = one.status()
        assert status["lost"] == 0
        assert status["events"] == 1
    assert {each["session"]: each["turn"] for each in home.ask("watch", "--within", "1e9")}[session] == watched[
        session
    ] + 1


@of_the_first_version
def test_settings_survive_an_upgrade(home: Home) -> None:
    call = hook_payload("PreToolUse", tool_name="Bash", tool_input={"command": "git push --force origin main"})
    with daemon(home.folder) as one:
        assert b"push-force-main" in one.ask(call)
