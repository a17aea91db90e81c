"""A hook event as a call that is about to be made."""

import pytest

from preheat.app.live.answers import planned_call
from preheat.model.live import HookEvent


@pytest.mark.parametrize(
    ("agent", "tool", "reads_first"),
    [("claude_code", "Edit", True), ("claude_code", "Write", False), ("opencode", "edit", False)],
)
def test_which_tools_refuse_an_unread_file_is_the_agents_own_knowledge(
    agent: str, tool: str, reads_first: bool
) -> None:
    event = HookEvent(agent=agent, session="s", name="before_tool", host_event="x", tool=tool, cwd="/w")
    assert planned_call(event).reads_first is reads_first


def test_a_call_with_a_folder_of_its_own_runs_there() -> None:
    arguments = {"command": "ls", "workdir": "src"}
    event = HookEvent(
        agent="codex", session="s", name="before_tool", host_event="x", tool="shell", cwd="/w", arguments=arguments
    )
    assert planned_call(event).folder == "/w/src"
