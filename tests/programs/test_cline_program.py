"""The real Cline CLI, run now against the scripted model: what it writes is what the reader gives.

CI does not install it (`scripts/install-agents cline` does): what it writes is recorded in the fixtures.
"""

from pathlib import Path

import pytest

from preheat.agents.cline.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Reasoning,
    Session,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.cline import ClineHome, find_cline

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(
        find_cline() is None,
        reason="the `cline` program is not installed: run `scripts/install-agents cline`",
    ),
]


def assistant_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]


def test_a_headless_session_is_read_as_it_was_scripted(tmp_path: Path) -> None:
    """Calls, exit codes, flags, texts, reasoning and tokens are exactly those of the script."""
    script = [
        Reply(
            "I look first.",
            [Call("run_commands", {"commands": ["ls missing-folder", "echo good"]})],
            reasoning="It may not be there.",
            usage=Usage(input=70, cache_read=30, output=25),
        ),
        Reply(calls=[Call("read_files", {"files": [{"path": "missing.txt"}]})], usage=Usage(input=11, output=12)),
        Reply(calls=[Call("run_commands", {"commands": ["sh -c 'exit 3'"]})]),
        Reply(calls=[Call("no_such_tool", {"x": 1})], usage=Usage(input=15, output=16)),
        Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
    ]
    with ModelServer(script) as server:
        home = ClineHome(str(tmp_path), server.url)
        home.prompt("Look around here.")
        assert server.unused_replies == 0
    (path,) = home.messages()
    assert detect(path) is READER
    (session,) = read(path)
    assert session.problems == ()
    assert (session.project, session.model, session.starter) == (home.project, "scripted", "headless")
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["Look around here."]
    assert assistant_texts(session) == ["I look first.", "All done."]
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["It may not be there."]
    pairs = list(pair_calls_with_results(session))
    assert [(call.tool, call.input) for call, _ in pairs] == [
        (call.name, call.arguments) for reply in script for call in reply.calls
    ]
    results = [result for _, result in pairs if result is not None]
    assert [result.exit_code for result in results] == [2, None, 3, None]
    assert [result.is_error for result in results] == [True, True, True, True]
    assert [item["success"] for item in results[0].detail["items"]] == [False, True]
    assert session.reported == sum_usage(session) == sum((reply.usage for reply in script), Usage())


def test_a_subagent_is_a_child(tmp_path: Path) -> None:
    spawn = Call("spawn_agent", {"systemPrompt": "You count.", "task": "Count the files."})
    with ModelServer([Reply("Ask.", [spawn]), Reply("None."), Reply("Zero.")]) as server:
        home = ClineHome(str(tmp_path), server.url)
        home.prompt("How many files are there?")
    parent, child = (session for path in home.messages() for session in read(path))
    assert (child.parent, child.relation, child.project) == (parent.id, "subagent", home.project)
    assert (assistant_texts(parent), assistant_texts(child)) == (["Ask.", "Zero."], ["None."])
    assert (sum_usage(parent), sum_usage(child)) == (Usage(input=200, output=20), Usage(input=100, output=10))
