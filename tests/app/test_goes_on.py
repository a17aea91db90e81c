"""Whether a session goes on where the last one stopped: by its branch and by its task."""

import pytest

from preheat.app.context import goes_on
from preheat.model.lesson import ResumePacket

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
