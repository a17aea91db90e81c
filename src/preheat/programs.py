"""Other programs, and Preheat itself as another process: how they are found and called so that no project's files take part.

A folder in which an agent works holds files of other people. A relative entry of the PATH would find programs there, Python would
import from the current folder and from `PYTHONPATH`, and git runs what a repository's own settings name. Knows no agent.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_SAFE_PATH = "PYTHONSAFEPATH"
_GIT_SECONDS = 2.0
_GIT_OPTIONS = (
    "--no-pager", "--no-optional-locks", "--no-replace-objects",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.sshCommand=false",
    "-c", "core.askPass=false", "-c", "credential.helper=", "-c", "gpg.program=false", "-c", "log.showSignature=false",
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip
"""Turns off the settings of a repository by which the commands that we use could run a program."""
_GIT_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # a repository with missing objects would fetch them by a command that it names
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def own_command(*words: str, module: str = "preheat") -> list[str]:
    """A command of Preheat, or one of its modules, for another process. Python then imports
    neither from the current folder nor, unless Preheat itself is there, from folders that the environment names."""
    return [sys.executable, *_python_options(), "-m", module, *words]


def _python_options() -> list[str]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    needed = package in [os.path.abspath(each) for each in named if each]
    return ["-P"] if needed else ["-E", "-P"]


@contextmanager
def shut_out_current_folder() -> Iterator[None]:
    """Python processes that are started meanwhile do not import from the current folder: workers that are not forked would."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        os.environ.pop(_SAFE_PATH)
        if before is not None:
            os.environ[_SAFE_PATH] = before


def find_program(name: str, environment: Mapping[str, str] | None = None, outside: str = "") -> str | None:
    """The path of a program in the folders of the PATH, without relative ones and those inside the folder `outside`; a path is
    given back as it is, if there is such a program."""
    if os.path.dirname(name):
        return shutil.which(os.path.abspath(name))
    # One by one: Windows would begin with the current folder.
    found = (shutil.which(os.path.join(folder, name)) for folder in program_folders(environment, outside))
    return next((each for each in found if each is not None), None)


def program_folders(environment: Mapping[str, str] | None = None, outside: str = "") -> list[str]:
    """The folders of the PATH, without relative ones and those inside the folder `outside`."""
    path = (os.environ if environment is None else environment).get("PATH", os.defpath)
    avoided = os.path.join(os.path.realpath(outside), "") if outside else ""
    return [
        each
        for each in path.split(os.pathsep)
        if os.path.isabs(each) and not (avoided and os.path.join(os.path.realpath(each), "").startswith(avoided))
    ]


def current_repository(home: str) -> str:
    """The root of the repository that the command runs in; empty if there is none, or if it is around the person's home."""
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        return ""
    while folder != os.path.dirname(folder) and not os.path.join(home, "").startswith(os.path.join(folder, "")):
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def ask_git(folder: str, *arguments: str) -> str:
    """What git prints about the repository in a folder; empty if it fails. Nothing that the repository names is run."""
    command = git_command("-C", folder, *arguments, outside=folder)
    if not command:
        return ""
    try:
        finished = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=git_environment(),
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return finished.stdout.strip() if finished.returncode == 0 else ""


def git_command(*arguments: str, outside: str) -> list[str]:
    """A command of git that runs nothing that a repository names, for `git_environment`; empty if there is no git outside the
    folder `outside`. Commands that show differences also need `--no-ext-diff` and `--no-textconv`."""
    git = find_program("git", outside=outside)
    return [git, *_GIT_OPTIONS, *arguments] if git is not None else []


def git_environment() -> dict[str, str]:
    """The environment for `git_command`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, **_GIT_ENVIRONMENT}
