"""A cloned repository controls nothing: none of its files are run by hooks, by the daemon that they start, or by a command."""

import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from preheat.ingest.pool import run_in_processes
from preheat.programs import ask_git, find_program, own_command
from tests.daemon.builders import BRIEF, end_started, learned, ran, run_client, started
from tests.waiting import HUNG, until

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the traps are shell scripts")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
PROGRAMS = ("git", "python", "python3", "uv", "sh", "hermes", "claude", "codex", "less", "vi", "ssh", "node")
MODULES = (
    "json",
    "os_extra",
    "click",
    "msgspec",
    "sqlite3",
    "sitecustomize",
    "usercustomize",
    "alembic",
    "numpy",
    "zstandard",
)


class HostileRepository:
    """A repository full of files that leave a mark when anything of them is run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.mark = folder / "was-run"
        self.folder.mkdir()
        self._script = f'#!/bin/sh\necho "$0" >> {self.mark}\n'
        self._python = f"open({str(self.mark)!r}, 'a').write(__file__ + '\\n')\n"
        for place in (".", "bin", "node_modules/.bin", ".venv/bin"):
            for name in PROGRAMS:
                self._write(f"{place}/{name}", self._script, 0o755)
        for name in MODULES:
            self._write(f"{name}.py", self._python)
        self._write("preheat/__init__.py", self._python)
        self._write("preheat/__main__.py", self._python)
        self._write("conftest.py", self._python)
        for name in ("pyproject.toml", "preheat.toml", "settings.toml", ".preheat/settings.toml", ".preheat/live.toml"):
            self._write(name, f'[tool.preheat]\nstart = "{self.folder}/git"\nblock = "any"\n')
        for name in (".env", ".envrc", ".preheat/env"):
            self._write(name, f"PREHEAT_HOME={self.folder}/.preheat\nPYTHONPATH={self.folder}\n")
        for name in (".preheat/live/start", "live/start"):
            self._write(name, f"0\n{self.folder}/git\n")
        self._write("pyvenv.cfg", f"home = {self.folder}/bin\n")

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def make_repository(self) -> str:
        """Make it a repository of git with settings that run programs, as an unpacked archive can have; its commit."""
        git, trap = find_program("git", outside=str(self.folder)), str(self.folder / "bin" / "sh")
        assert git is not None

        def run(*words: str) -> str:
            command = [git, "-C", str(self.folder), *words]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        run("init", "-q")
        run("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "first")
        head = run("rev-parse", "HEAD")
        for name, value in {
            "core.fsmonitor": trap, "core.hooksPath": str(self.folder / "bin"), "core.pager": trap, "pager.branch": trap,
            "pager.rev-list": trap, "core.editor": trap, "core.sshCommand": trap, "diff.external": trap, "gpg.program": trap,
            "log.showSignature": "true", "alias.rev-parse": f"!{trap}", "alias.branch": f"!{trap}", "credential.helper": trap,
            "core.askPass": trap, "extensions.partialClone": "origin", "remote.origin.url": f"ext::{trap}",
            "remote.origin.promisor": "true", "remote.origin.uploadpack": trap, "protocol.ext.allow": "always",
            "core.repositoryformatversion": "1", "core.alternateRefsCommand": trap,
        }.items():  # fmt: skip
            run("config", name, value)
        return head

    def path(self) -> str:
        """A PATH with entries that lead into it, relative ones first."""
        entries = ["", ".", "bin", "node_modules/.bin", str(self.folder / "bin"), os.environ["PATH"]]
        return os.pathsep.join(entries)

    def was_run(self) -> list[str]:
        return self.mark.read_text().splitlines() if self.mark.exists() else []


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path)


def test_the_traps_work(hostile: HostileRepository) -> None:
    subprocess.run([str(hostile.folder / "git")], check=True)
    subprocess.run(
        [sys.executable, "-c", "import json_missing, json"], cwd=hostile.folder, check=False, capture_output=True
    )
    subprocess.run([sys.executable, "-m", "conftest"], cwd=hostile.folder, check=False, capture_output=True)
    assert len(hostile.was_run()) >= 2


@needs_git
def test_git_runs_nothing_that_a_repository_names(hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch) -> None:
    head = hostile.make_repository()
    monkeypatch.setenv("PATH", hostile.path())
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(hostile.folder / "sh"))
    monkeypatch.setenv("GIT_SSH_COMMAND", str(hostile.folder / "sh"))
    monkeypatch.chdir(hostile.folder)
    assert ask_git(str(hostile.folder), "rev-parse", "HEAD") == head
    assert ask_git(str(hostile.folder), "branch", "--show-current")
    assert ask_git(str(hostile.folder), "rev-list", "--count", f"{head}..HEAD") == "0"
    # A commit that is not there would be fetched, by a command that the repository names.
    assert ask_git(str(hostile.folder), "rev-list", "--count", f"{'1' * 40}..HEAD") == ""
    assert ask_git(str(hostile.folder), "status", "--porcelain") != ""
    assert hostile.was_run() == []


def test_programs_are_not_found_in_the_current_folder_or_the_project(
    hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    only = {"PATH": os.pathsep.join(["", ".", "bin", "./bin"])}
    assert find_program("hermes", only) is None
    inside = {"PATH": str(hostile.folder / "bin")}
    assert find_program("hermes", inside) == str(hostile.folder / "bin" / "hermes")
    assert find_program("hermes", inside, outside=str(hostile.folder)) is None
    assert find_program("./hermes", only) == str(hostile.folder / "hermes")  # a person who names it means it


def test_preheat_starts_itself_without_the_modules_of_a_project(
    hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{hostile.folder}{os.pathsep}.")
    done = subprocess.run(own_command("--version"), cwd=hostile.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert hostile.was_run() == []


def test_workers_that_are_not_forked_import_nothing_from_the_current_folder(
    hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on systems without `fork`; they begin with `python -c`, which looks into the current folder first."""
    for name in ("multiprocessing", "pickle", "signal", "runpy"):
        shutil.copy(hostile.folder / "json.py", hostile.folder / f"{name}.py")
    monkeypatch.chdir(hostile.folder)
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()  # with a thread nothing is forked
    try:
        assert sorted(run_in_processes(_as_bytes, [1, 2, 3], 2)) == [b"1", b"2", b"3"]
    finally:
        ended.set()
        other.join()
    assert hostile.was_run() == []


def _as_bytes(piece: int) -> bytes:
    return str(piece).encode()


def test_a_person_who_runs_the_module_in_a_project_imports_nothing_of_it_afterwards(hostile: HostileRepository) -> None:
    """Python itself looks for `preheat` in the current folder first; only what is imported later can be kept out."""
    shutil.rmtree(hostile.folder / "preheat")
    (hostile.folder / "json.py").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "preheat", "sessions", "list"], cwd=hostile.folder, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(hostile.folder.parent / "home")},
    )  # fmt: skip
    assert "there is no archive" in done.stderr
    assert hostile.was_run() == []


@needs_git
def test_nothing_of_a_hostile_repository_is_run_by_hooks_or_commands(
    hostile: HostileRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.make_repository()
    home, data = tmp_path / "home", tmp_path / "data"
    (home / ".claude").mkdir(parents=True)
    data.mkdir(0o700)
    learned(str(data), str(hostile.folder), str(home))
    monkeypatch.chdir(hostile.folder)
    environment = {"PATH": hostile.path(), "HOME": str(home), "PREHEAT_HOME": str(data)}
    for words in (
        ("sync",), ("learn",), ("warm", "start", "--task", "fix the tests"), ("lessons", "list"), ("doctor",), ("status",),
        ("install", "claude_code"), ("mistakes",), ("sessions", "list"), ("tool", "lessons", "{}"),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-P", "-m", "preheat", *words], cwd=hostile.folder, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=HUNG, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, (words, done.stderr)
    assert hostile.was_run() == []
    # Hooks, as an agent in the repository runs them: with its environment, a daemon has to start first.
    for name, value in (
        ("PATH", hostile.path()),
        ("HOME", str(home)),
        ("PYTHONPATH", str(hostile.folder)),
        ("PYTHONHOME", ""),
    ):
        monkeypatch.setenv(name, value)
    client, cwd = str(data / "hook.py"), str(hostile.folder)
    try:
        # The daemon is the real one with its own limits: on a busy machine an answer may come too late for one session.
        sessions = itertools.count(1)
        until(lambda: run_client(client, started(session=f"s1-{next(sessions)}", cwd=cwd)), "the context")
        run_client(client, ran(1, "pytest tests", "bash: pytest: command not found", failed=True, cwd=cwd))
        run_client(client, started(session="s2", cwd=cwd), limit=BRIEF, PREHEAT_HOME=".preheat")
        run_client(client, started(session="s3", cwd=cwd), limit=BRIEF, PREHEAT_HOME=str(hostile.folder / ".preheat"))
        time.sleep(0.5)
    finally:
        end_started(str(data))
    assert hostile.was_run() == []
    until(
        lambda: not (hostile.folder / ".preheat" / "live" / "socket").exists(), "nothing to be made in the repository"
    )


@needs_git
def test_a_link_in_a_repository_does_not_lead_our_writing_out_of_it(hostile: HostileRepository, tmp_path: Path) -> None:
    """In the place of a file that we write there could be a link to any file of the user."""
    hostile.make_repository()
    home, data, target = tmp_path / "home", tmp_path / "data", tmp_path / "home" / "precious.json"
    (home / ".claude").mkdir(parents=True)
    data.mkdir(0o700)
    learned(str(data), str(hostile.folder), str(home))
    target.write_text("{}")
    (hostile.folder / ".claude").mkdir()
    (hostile.folder / ".claude" / "settings.local.json").symlink_to(target)
    (hostile.folder / "AGENTS.md").symlink_to(target)
    (hostile.folder / "SKILL").symlink_to(home)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PREHEAT_HOME": str(data)}
    for words in (
        ("install", "claude_code", "--project"),
        ("warm", "start", "--task", "fix the tests", "--format", "agents-md", "--output", "AGENTS.md"),
        ("warm", "start", "--task", "fix the tests", "--format", "skill", "--output", "SKILL"),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "preheat", *words], cwd=hostile.folder, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=HUNG, check=False,
        )  # fmt: skip
        assert (done.returncode, "not in the project; nothing was written" in done.stderr) == (2, True), (words, done)
    assert target.read_text() == "{}"
    assert sorted(os.listdir(home)) == [".claude", "precious.json"]
