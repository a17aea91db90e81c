"""The real Copilot CLI with the scripted model: the sessions it writes are read correctly.

CI does not install it (`scripts/install-agents copilot` does): what it writes is recorded in the fixtures.
"""

import os
from pathlib import Path

import pytest

from preheat.agents.copilot.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.copilot import CopilotHome, find_copilot

pytestmark = [
    pytest.mark.program,
    pytest.mark.skipif(
        find_copilot() is None,
        reason="the `copilot` program is not installed: run `scripts/install-agents copilot`",
    ),
]


def bash(command: str) -> Call:
    return Call("bash", {"command": command, "description": "Run it"})


def assistant_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]


def human_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human"]


def test_a_headless_session_is_read_as_it_was_scripted(tmp_path: Path) -> None:
    """Calls, exit codes, flags, texts, reasoning and tokens are exactly those of the script."""
    script = [
        Reply(
            "I look first.",
            [bash("ls missing-folder")],
            reasoning="It may not be there.",
            usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
        ),
        Reply(calls=[Call("view", {"path": str(tmp_path / "proj" / "missing.txt")}), bash("echo good")]),
        Reply(calls=[Call("no_such_tool", {"x": 1})], usage=Usage(input=15, output=16)),
        Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
    ]
    with ModelServer(script) as server:
        home = CopilotHome(str(tmp_path), server.url)
        home.prompt("Look around.")
        assert server.unused_replies == 0
        assert all(request.path == "/v1/chat/completions" for request in server.requests)
    (path,) = home.sessions()
    assert detect(path) is READER
    (session,) = read(path)
    assert session.problems == ()
    assert (session.id, session.starter) == (os.path.basename(os.path.dirname(path)), "headless")
    assert (session.project, session.model) == (home.project, "scripted")
    assert human_texts(session) == ["Look around."]
    assert assistant_texts(session) == ["I look first.", "All done."]
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["It may not be there."]
    pairs = list(pair_calls_with_results(session))
    calls = [call for reply in script for call in reply.calls]
    assert [(call.tool, call.input) for call, _ in pairs] == [(call.name, call.arguments) for call in calls]
    results = [result for _, result in pairs if result is not None]
    assert [result.exit_code for result in results] == [2, None, 0, None]
    assert [result.is_error for result in results] == [False, True, False, True]
    assert results[2].text == "good"
    assert session.reported == sum_usage(session) == sum((reply.usage for reply in script), Usage())


def test_a_resumed_session_grows_with_its_totals(tmp_path: Path) -> None:
    with ModelServer([Reply("One.", [bash("echo one")]), Reply("Two."), Reply("Three.")]) as server:
        home = CopilotHome(str(tmp_path), server.url)
        home.prompt("First.")
        (before,) = read(home.sessions()[0])
        home.resume(before.id, "Second.")
    (after,) = read(home.sessions()[0])
    assert after.events[: len(before.events)] == before.events
    assert human_texts(after) == ["First.", "Second."]
    assert sum_usage(after) == after.reported == Usage(input=300, output=30)


def test_a_subagent_is_a_child_without_its_parents_tokens(tmp_path: Path) -> None:
    task = {"agent_type": "explore", "name": "count", "description": "Count", "prompt": "Count the files."}
    script = [Reply("Ask.", [Call("task", task)]), Reply(calls=[bash("ls | wc -l")]), Reply("None."), Reply("Zero.")]
    with ModelServer(script) as server:
        home = CopilotHome(str(tmp_path), server.url)
        home.prompt("How many files are there?")
    parent, child = read(home.sessions()[0])
    (spawn,) = (event for event in parent.events if isinstance(event, Spawn))
    assert (spawn.session, spawn.call_id, child.parent) == (child.id, "call_1", parent.id)
    assert (assistant_texts(parent), assistant_texts(child)) == (["Ask.", "Zero."], ["None."])
    assert [event.call_id for event in child.events if isinstance(event, ToolCall)] == ["call_2"]
    assert sum_usage(parent) == parent.reported == Usage(input=200, output=20)
    assert sum_usage(child) == child.reported == Usage(input=200, output=20)
