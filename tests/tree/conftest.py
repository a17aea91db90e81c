"""A project with files and commits, and its index in a folder of its own."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from preheat.model.tree import FileEvidence, TreeUpdate
from preheat.tree.index import TreeIndex

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
_NOBODY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "x",
    "GIT_AUTHOR_EMAIL": "x@example.com",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@example.com",
}


class Project:
    """A folder with files, and the index of it."""

    def __init__(self, work: Path) -> None:
        self.root = work / "project"
        self.root.mkdir()
        self.home = work / "home"
        self.index = TreeIndex.open(str(self.home), str(self.root))

    def write(self, path: str, text: str | bytes = "") -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def git(self, *words: str, at: int = 1_750_000_000) -> str:
        dates = {"GIT_AUTHOR_DATE": f"{at} +0000", "GIT_COMMITTER_DATE": f"{at} +0000"}
        command = ["git", "-C", str(self.root), *words]
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, **_NOBODY, **dates}
        )
        return done.stdout.strip()

    def commit(self, message: str = "some work", at: int = 1_750_000_000) -> str:
        """Commit everything; the id."""
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, at=at)
        return self.git("rev-parse", "HEAD")

    def update(self, most_files: int = 1000) -> TreeUpdate:
        return self.index.update(most_files=most_files)

    def look_up(self, prompt: str, *touched: str) -> dict[str, FileEvidence]:
        """What the index says, by path."""
        return {each.path: each for each in self.index.look_up(prompt, touched).files}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.index.close()
