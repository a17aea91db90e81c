"""Which commit a recorded session began at: no file of a later commit may be taken for one that existed."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.orientation_data import Base, find_base
from tests.tree.conftest import needs_git

START = 1_750_000_000


def commit(folder: Path, name: str, at: int, *, merging: str = "") -> str:
    """Add a file and commit, or merge a branch; the id."""
    identity = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "T"), ("EMAIL", "t@example.com"), ("DATE", f"{at} +0000"))}  # fmt: skip

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **identity},
        )
        return done.stdout.strip()

    if merging:
        git("merge", "-q", "--no-ff", "-m", f"Merge pull request #1 from someone/{merging}", merging)
    else:
        (folder / name).write_text(name, encoding="utf-8")
        git("add", "-A")
        git("commit", "-q", "-m", name)
    return git("rev-parse", "HEAD")


def switch(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), "switch", "-q", *words], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A branch `fix/till` with a commit before and one after the start, merged later; the ids by name."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    found = {"first": commit(tmp_path, "a", START - 500)}
    switch(tmp_path, "-c", "fix/till")
    found["early"] = commit(tmp_path, "b", START - 300)
    found["late"] = commit(tmp_path, "c", START + 100)
    switch(tmp_path, "main")
    found["main"] = commit(tmp_path, "d", START - 200)
    found["merge"] = commit(tmp_path, "", START + 200, merging="fix/till")
    return tmp_path, found


@needs_git
def test_a_session_on_a_branch_began_at_its_last_commit_before_the_start(
    repository: tuple[Path, dict[str, str]],
) -> None:
    folder, ids = repository
    assert find_base(str(folder), "fix/till", Base(), START) == ids["early"]
    subprocess.run(["git", "-C", str(folder), "branch", "-q", "-D", "fix/till"], check=True)
    assert find_base(str(folder), "fix/till", Base(), START) == ids["early"], "as it was merged"
    assert find_base(str(folder), "main", Base(ids["main"]), START) == ids["main"]
    assert find_base(str(folder), "fix/other", Base(ids["main"]), START) == ids["main"]


@needs_git
def test_the_parent_of_its_first_commit_counts_only_if_it_was_there_before_the_start(
    repository: tuple[Path, dict[str, str]],
) -> None:
    folder, ids = repository
    assert find_base(str(folder), "", Base(ids["main"], ids["early"]), START) == ids["early"]
    assert find_base(str(folder), "", Base(ids["main"], ids["late"]), START) == ids["main"]
    assert find_base(str(folder), "", Base("f" * 40, "0" * 40), START) == ids["main"]
