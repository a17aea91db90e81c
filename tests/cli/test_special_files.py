"""Pipes, sockets, devices and link loops where files are expected stop no command, and cost no other session."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.special_files import MAKERS, SESSION, fill_home, make_folder, make_pipe, write_session
from tests.waiting import HUNG

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such files on this system")
Environment = Mapping[str, str]
NAMED = [make for make in MAKERS if make is not make_folder]


def run(environment: Environment, *arguments: str, cwd: str | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "preheat", *arguments],
        env=dict(environment),
        cwd=cwd or environment["HOME"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=HUNG,
    )


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return fill_home(str(tmp_path / "home"))


def is_one_clear_line(error: str) -> bool:
    return error.count("\n") == 1 and "Traceback" not in error and len(error) < 600


@pytest.mark.parametrize(
    "command",
    [
        ["doctor"],
        ["status"],
        ["install", "claude_code", "--dry-run"],
        ["sessions", "list"],
        ["mistakes"],
        ["learn"],
        ["warm", "build", "mine"],
        ["warm", "list"],
        ["lab", "list"],
        ["dataset", "export", "made"],
        ["watch", "--once"],
        ["serve", "--status"],
    ],
    ids=" ".join,
)
def test_special_files_in_every_agents_folder_stop_no_command(environment: Environment, command: list[str]) -> None:
    for arguments in (["sync"], command):
        ran = run(environment, *arguments)
        assert "Traceback" not in ran.stderr
        assert ran.returncode in (0, 1) or is_one_clear_line(ran.stderr), ran.stderr


def test_a_sync_reads_the_session_among_them_and_so_does_a_sync_of_the_folder(environment: Environment) -> None:
    for arguments in (["sync"], ["sync", environment["HOME"]]):
        ran = run(environment, *arguments)
        assert "Traceback" not in ran.stderr
        listed = json.loads(run(environment, "sessions", "list", "--json").stdout)
        assert SESSION in json.dumps(listed)


def test_a_second_sync_is_not_stopped_either(environment: Environment) -> None:
    first, second = run(environment, "sync"), run(environment, "sync")
    for ran in (first, second):
        assert "Traceback" not in ran.stderr
        assert ran.returncode in (0, 1), ran.stderr


@pytest.mark.parametrize("command", [["read"], ["sync"], ["warm", "import"], ["lab", "run"]], ids=" ".join)
def test_a_special_file_that_a_person_names_gives_one_clear_line(tmp_path: Path, command: list[str]) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PREHEAT_HOME": str(tmp_path / "preheat")}
    for number, make in enumerate(NAMED):
        path = str(tmp_path / f"named-{number}.jsonl")
        make(path)
        ran = run(environment, *command, path)
        assert (ran.returncode, is_one_clear_line(ran.stderr)) == (2, True), (make, ran.stderr)


@pytest.mark.parametrize(
    ("places", "agents"),
    [
        ([".claude/settings.json", ".claude.json"], ["claude_code"]),
        ([".codex/config.toml", ".codex/hooks.json"], ["codex"]),
        ([".gemini/settings.json", ".gemini/trustedFolders.json"], ["gemini"]),
        ([".cursor/hooks.json", ".copilot/hooks/preheat.json", ".copilot/config.json"], ["cursor", "copilot"]),
        ([".hermes/config.yaml", ".hermes/active_profile"], ["hermes"]),
        (["preheat/settings.toml", "preheat/installed.json", "preheat/seen", "preheat/live/start"], ["opencode"]),
    ],
)
def test_a_pipe_in_the_place_of_a_settings_file_stops_no_command(
    tmp_path: Path, places: list[str], agents: list[str]
) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PREHEAT_HOME": str(tmp_path / "preheat")}
    for place in places:
        os.makedirs(tmp_path / os.path.dirname(place), exist_ok=True)
        make_pipe(str(tmp_path / place))
    for command in (["status"], ["doctor"], *(["install", agent, "--dry-run"] for agent in agents)):
        ran = run(environment, *command)
        assert "Traceback" not in ran.stderr, command


def test_a_database_whose_log_or_journal_is_a_pipe_is_reported_and_the_rest_is_read(environment: Environment) -> None:
    import sqlite3

    folder = os.path.join(environment["HOME"], ".local", "share", "opencode")
    for name in ("wal", "journal"):
        path = os.path.join(folder, f"opencode-{name}.db")
        with sqlite3.connect(path) as made:
            made.execute("CREATE TABLE session (id TEXT)")
        make_pipe(f"{path}-{name}")
    ran = run(environment, "sync")
    assert ran.returncode == 1
    assert ran.stderr.count("it is a named pipe, not a file") + ran.stdout.count("it is a named pipe, not a file") == 2
    assert SESSION in run(environment, "sessions", "list", "--json").stdout


def test_no_file_of_a_folder_stops_its_sync(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "PREHEAT_HOME": str(tmp_path / "preheat")}
    folder = tmp_path / "folder"
    folder.mkdir()
    strange = b'[{"role":{},"content":"x"},{"role":"user","content":"y"}]'
    for name in (b"a.json", b"with\nline end.json", b"invalid \xff\xfe.json", "\u202e\U0001f600.json".encode()):
        with open(os.path.join(os.fsencode(folder), name), "wb") as stream:
            stream.write(strange)
    (folder / "deep.json").write_bytes(b"[" * 100_000)
    (folder / "opencode.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    (folder / "unreadable.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 100)
    write_session(str(folder / "z.jsonl"))
    ran = run(environment, "sync", str(folder))
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "unreadable.jsonl.zst" in ran.stdout + ran.stderr
    assert SESSION in run(environment, "sessions", "list", "--json").stdout
