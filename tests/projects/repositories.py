"""Real repositories for tests: made with git, without a network and without the person's own settings."""

import os
import subprocess
from pathlib import Path


def git(folder: Path, *words: str) -> str:
    """Run git in a folder; what it prints."""
    person = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *person, "-C", str(folder), *words], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.strip()


def make_repository(folder: Path, remote: str = "", text: str = "first") -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", text)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def add_worktree(repository: Path, folder: Path) -> Path:
    git(repository, "worktree", "add", "-q", str(folder))
    return folder
