"""The repository that an agent's program recorded in the heading of a session."""

import json

import pytest

from preheat.agents import reader_of
from preheat.agents.documents import repository_of_task


def test_codex_names_the_repository_of_its_worktree() -> None:
    """I3: its own worktrees lie in the home folder; the remote is kept without a password."""
    git = {"repository_url": "https://ann:s3cret@github.com/acme/app.git", "commit_hash": "c0ffee", "branch": "main"}
    payload = {"id": "s1", "cwd": "/Users/ann/.codex/worktrees/7f3a/app", "originator": "codex_cli", "git": git}
    parser = reader_of("codex").parser("rollout.jsonl", "")
    parser.feed(json.dumps({"type": "session_meta", "payload": payload}).encode() + b"\n", 1)
    (session,) = parser.take()
    assert (session.repository, session.commit, session.branch) == ("github.com/acme/app", "c0ffee", "main")


@pytest.mark.parametrize(
    ("name", "repository"),
    [
        ("django__django-14915", "github.com/django/django"),
        ("scikit-learn__scikit-learn-9", "github.com/scikit-learn/scikit-learn"),
        ("my-task", ""),
        ("a__b", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_benchmark_task_says_its_repository(name: str, repository: str) -> None:
    assert repository_of_task(name) == repository
