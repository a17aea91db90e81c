"""Whether a session goes on where the last one stopped: by its branch and by its task."""

import subprocess
import time
from pathlib import Path

import pytest

from preheat.app.context import goes_on, provision, render
from preheat.app.learning import learn
from preheat.app.sessions.archive import sync
from preheat.model.lesson import ResumePacket
from preheat.testing.builders import ClaudeTranscript

PACKET = ResumePacket(
    session="s",
    goal="make the invoice export resume",
    unverified=("src/export.py",),
    branch="feat/export",
    committed=False,
)


@pytest.mark.parametrize(
    ("branch", "task", "expected"),
    [
        ("feat/export", "resume the invoice export after a broken line", True),
        ("feat/export", "continue", True),
        ("feat/export", "why does export.py fail", True),
        ("feat/export", "", True),
        ("feat/export", "rename the login button", False),
        ("main", "resume the invoice export", False),
        ("main", "", False),
    ],
)
def test_a_session_goes_on_only_on_the_same_branch_and_with_the_same_aim(
    branch: str, task: str, expected: bool
) -> None:
    assert goes_on(PACKET, branch, task) is expected


TASK = "go on: the invoice export must resume"
LAST = "Last session here"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project on a branch of its own, whose last session left a failing test."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "feat/export")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    for number in (1, 2):
        began = time.time() - 7200 + number * 600
        made = ClaudeTranscript(
            session=f"{number:08x}-1111-4000-8000-000000000000",
            project=str(folder),
            branch="feat/export",
            started=began,
        )
        made = made.prompt("make the invoice export resume").answer("I look.").run("ls src", "export.py")
        made = made.answer("I change it.")
        change = {"file_path": f"{folder}/src/export.py", "old_string": "a", "new_string": f"{number}"}
        made = made.call("Edit", change).result("The file has been updated.").answer("I test.")
        made = made.run("make test", "FAILED tests/test_export.py\n1 failed, 3 passed", 1).answer("It fails.")
        made.write(str(tmp_path / ".claude" / "projects"))
    sync(str(tmp_path / "data"), {"HOME": str(tmp_path)})
    learn(str(tmp_path / "data"))
    return folder


def git(folder: Path, *arguments: str) -> None:
    person = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *person, "-C", str(folder), *arguments], check=True)


def told(shop: Path, task: str, form: str = "text") -> str:
    """What a session is given at its start, as its hook asks for it."""
    chosen = provision(str(shop.parent / "data"), task, agent="claude_code", project=str(shop), resuming=True)
    rendered = render(chosen, form)
    return rendered.text + "".join(rendered.files.values())


def test_where_the_last_session_stopped_is_told_only_where_branch_and_aim_go_on(shop: Path) -> None:
    assert LAST in told(shop, TASK)
    assert LAST not in told(shop, "rename the login button")
    git(shop, "checkout", "-q", "-b", "feat/login")
    assert LAST not in told(shop, TASK)


@pytest.mark.parametrize("form", ["agents-md", "skill"])
def test_where_the_last_session_stopped_never_goes_into_a_file_of_the_project(shop: Path, form: str) -> None:
    assert LAST in told(shop, TASK)
    assert LAST not in told(shop, TASK, form)
