"""A hook event as a call that is about to be made."""

from preheat.app.live.answers import planned_call
from preheat.model.live import HookEvent


def test_a_call_with_a_folder_of_its_own_runs_there() -> None:
    arguments = {"command": "ls", "workdir": "src"}
    event = HookEvent(
        agent="codex", session="s", name="before_tool", host_event="x", tool="shell", cwd="/w", arguments=arguments
    )
    assert planned_call(event).folder == "/w/src"
