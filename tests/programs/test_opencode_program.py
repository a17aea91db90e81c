"""The real OpenCode with the scripted model: the sessions it writes are read correctly."""

import os

import pytest

from preheat.agents.opencode.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Session,
    Spawn,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from preheat.testing.script import Call, Reply
from tests.programs import opencode
from tests.shared import real_program

pytestmark = pytest.mark.program

SCRIPT = (
    Reply(
        "I look around.",
        calls=[
            Call("bash", {"command": "ls nowhere; exit 2", "description": "List"}),
            Call("read", {"filePath": "missing.txt"}),
        ],
        usage=Usage(input=700, output=40, cache_read=300, reasoning=15),
    ),
    Reply(calls=[Call("bash", {"command": "echo hello", "description": "Say"}), Call("no_such_tool", {})]),
    Reply("All done."),
)
DELEGATING = (
    Reply(calls=[Call("task", {"description": "Count", "prompt": "Count the files.", "subagent_type": "general"})]),
    Reply("None."),
    Reply("There are none."),
)


@pytest.fixture
def program() -> str:
    return real_program(opencode.find_opencode(), "opencode")


def run(
    program: str, home: str, arguments: list[str], script: tuple[Reply, ...] = ()
) -> tuple[opencode.Finished, list[Session]]:
    finished = opencode.run(opencode.Job(program=program, home=home, arguments=arguments, script=script))
    assert detect(opencode.database(home)).agent == "opencode"
    return finished, read(opencode.database(home), READER)


def test_a_session_its_continuation_and_its_export_are_read(program: str, tmp_path: object) -> None:
    """Calls, exit codes, texts and totals; the second run continues the session, and an export gives the same."""
    home = str(tmp_path)
    finished, (session,) = run(program, home, ["run", "Do some work"], SCRIPT)
    assert "All done." in finished.output
    assert finished.remaining == 0
    assert session.project == os.path.realpath(opencode.project(home))
    assert [
        (call.tool, call.kind, result.exit_code, result.is_error)
        for call, result in pair_calls_with_results(session)
        if result
    ] == [
        ("bash", "shell", 2, False),
        ("read", "read", None, True),
        ("bash", "shell", 0, False),
        ("invalid", "other", None, True),
    ]
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]
    assert texts == ["I look around.", "All done."]
    assert session.reported == Usage(input=900, output=60, cache_read=300, reasoning=15)
    assert sum_usage(session) == session.reported
    assert session.problems == ()

    _, (resumed,) = run(program, home, ["run", "--session", session.id, "And now?"], (Reply("Nothing."),))
    assert resumed.id == session.id
    assert resumed.events[1 : len(session.events)] == session.events[1:]
    prompts = [event.text.strip('"') for event in resumed.events if isinstance(event, UserMessage)]
    assert prompts == ["Do some work", "And now?"]
    assert sum_usage(resumed) == resumed.reported

    exported = os.path.join(home, "exported.json")
    with open(exported, "w", encoding="utf-8") as file:
        file.write(run(program, home, ["export", session.id])[0].output)
    (document,) = read(exported)
    assert document.events[1:] == resumed.events[1:]
    assert document.reported == resumed.reported


def test_a_delegated_task_is_a_subagent(program: str, tmp_path: object) -> None:
    _, (parent, child) = run(program, str(tmp_path), ["run", "Delegate the count"], DELEGATING)
    assert (child.parent, child.relation) == (parent.id, "subagent")
    assert [event.session for event in parent.events if isinstance(event, Spawn)] == [child.id]
