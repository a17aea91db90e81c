"""The real Hermes program with the scripted model: the sessions it writes are read correctly."""

import os

import pytest

from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.model.session import AssistantMessage, Session, Usage, UserMessage, pair_calls_with_results, sum_usage
from preheat.testing.script import Call, Reply
from tests.programs import hermes
from tests.shared import real_program

pytestmark = pytest.mark.program

SCRIPT = (
    Reply(
        "I look around.",
        calls=[
            Call("terminal", {"command": "echo hello"}),
            Call("terminal", {"command": "ls nowhere; exit 2"}),
        ],
        usage=Usage(input=700, output=40, cache_read=300, reasoning=15),
    ),
    Reply(calls=[Call("write_file", {"path": "a.txt", "content": "one\n"}), Call("no_such_tool", {})]),
    Reply("All done."),
)


@pytest.fixture
def program() -> str:
    return real_program(hermes.find_hermes(), "hermes")


def run(program: str, home: str, arguments: list[str], script: tuple[Reply, ...]) -> tuple[hermes.Finished, Session]:
    finished = hermes.run(hermes.Job(program=program, home=home, arguments=arguments, script=script))
    (session,) = read(hermes.database(home), READER)
    return finished, session


def test_a_session_and_its_continuation_are_read(program: str, tmp_path: object) -> None:
    """Calls, exit codes, texts and totals; the second run continues the session."""
    home = str(tmp_path)
    finished, session = run(program, home, ["chat", "-q", "Do some work", "-Q"], SCRIPT)
    assert "All done." in finished.output
    assert session.id == finished.session
    assert session.project == os.path.realpath(os.path.join(home, "project"))
    assert [
        (call.tool, call.kind, result.exit_code, result.is_error)
        for call, result in pair_calls_with_results(session)
        if result
    ] == [
        ("terminal", "shell", 0, None),
        ("terminal", "shell", 2, None),
        ("write_file", "write", None, False),
        ("no_such_tool", "other", None, True),
    ]
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]
    assert texts == ["I look around.", "All done."]
    assert session.reported == Usage(input=900, output=60, cache_read=300, reasoning=15)
    assert sum_usage(session) == session.reported
    assert session.problems == ()

    _, resumed = run(program, home, ["chat", "--resume", session.id, "-q", "And now?", "-Q"], (Reply("Nothing."),))
    assert resumed.id == session.id
    assert resumed.events[2 : len(session.events) - 2] == session.events[2:-2]
    prompts = [event.text for event in resumed.events if isinstance(event, UserMessage)]
    assert prompts == ["Do some work", "And now?"]
    assert sum_usage(resumed) == resumed.reported
