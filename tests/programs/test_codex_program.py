"""The real Codex program with the scripted model: the sessions it writes are read correctly."""

import os
from pathlib import Path

import pytest

from preheat.agents.codex.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Session,
    Spawn,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from preheat.testing.model_server import Call, ModelServer, Reply
from tests.programs.codex import CodexHome, CodexServer, events, find_codex, thread_of
from tests.shared import real_program

GOOD_PATCH = "*** Begin Patch\n*** Add File: greeting.txt\n+hello\n*** End Patch"
BAD_PATCH = "*** Begin Patch\n*** Update File: absent.txt\n@@\n-old\n+new\n*** End Patch"

pytestmark = pytest.mark.program


@pytest.fixture(autouse=True)
def program() -> str:
    return real_program(find_codex(), "codex")


def read_one(path: str) -> Session:
    (session,) = read(path)
    assert session.problems == ()
    return session


def human_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human"]


def assistant_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]


def test_a_headless_session_is_read_as_it_was_scripted(tmp_path: Path) -> None:
    """Calls, exit codes, flags, texts, reasoning and tokens are exactly those of the script."""
    script = [
        Reply(
            "I look first.",
            [Call("exec_command", {"cmd": "ls missing-folder"})],
            reasoning="It may not be there.",
            usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
        ),
        Reply(
            calls=[
                Call("exec_command", {"cmd": "echo good"}),
                Call("exec_command", {"cmd": "sh -c 'exit 3'"}),
            ],
            usage=Usage(input=20, cache_read=120, output=30),
        ),
        Reply("Now the file.", [Call("apply_patch", GOOD_PATCH)], usage=Usage(input=11, output=12)),
        Reply(calls=[Call("apply_patch", BAD_PATCH)], usage=Usage(input=13, output=14)),
        Reply(calls=[Call("no_such_tool", {"x": 1})], usage=Usage(input=15, output=16)),
        Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
    ]
    with ModelServer(script) as server:
        home = CodexHome(str(tmp_path), server.url)
        thread = thread_of(home.exec("Make a greeting file."))
        assert server.unused_replies == 0
        assert all(request.path == "/v1/responses" for request in server.requests)
    assert (tmp_path / "proj" / "greeting.txt").read_text() == "hello\n"
    path = home.rollout(thread)
    assert detect(path) is READER
    session = read_one(path)
    assert (session.id, session.starter, session.project) == (thread, "headless", home.project)
    assert human_texts(session) == ["Make a greeting file."]
    assert assistant_texts(session) == [reply.text for reply in script if reply.text]
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["It may not be there."]
    pairs = list(pair_calls_with_results(session))
    calls = [call for reply in script for call in reply.calls]
    assert [(call.tool, call.input) for call, _ in pairs] == [
        (call.name, call.arguments if isinstance(call.arguments, dict) else {"text": call.arguments}) for call in calls
    ]
    results = [result for _, result in pairs if result is not None]
    assert [result.exit_code for result in results] == [2, 0, 3, 0, None, None]
    assert [result.is_error for result in results] == [None, None, None, False, None, None]
    assert "missing-folder" in results[0].text
    assert results[1].text == "good\n"
    assert results[4].text.startswith("apply_patch verification failed")
    assert results[5].text == "unsupported call: no_such_tool"
    total = sum((reply.usage for reply in script), Usage())
    assert session.reported == sum_usage(session) == total
    stated = [event.usage for event in session.events if isinstance(event, AssistantMessage) and event.usage]
    assert stated == [reply.usage for reply in script]


def test_the_tokens_read_are_those_the_program_prints(tmp_path: Path) -> None:
    """`codex exec --json` ends with its own count, cached tokens inside the input."""
    with ModelServer([Reply("Yes.", usage=Usage(input=70, cache_read=30, output=25, reasoning=5))]) as server:
        home = CodexHome(str(tmp_path), server.url)
        finished = home.exec("Is it?")
    (printed,) = (event["usage"] for event in events(finished) if event["type"] == "turn.completed")
    counted = sum_usage(read_one(home.rollout(thread_of(finished))))
    assert printed["input_tokens"] == counted.input + counted.cache_read
    assert printed["output_tokens"] == counted.output
    assert printed["reasoning_output_tokens"] == counted.reasoning


def test_a_resumed_session_grows_and_a_fork_counts_only_its_own(tmp_path: Path) -> None:
    call = Call("exec_command", {"cmd": "echo one"})
    with ModelServer([Reply(calls=[call]), Reply("One."), Reply("Two."), Reply("Three.")]) as server:
        home = CodexHome(str(tmp_path), server.url)
        thread = thread_of(home.exec("First."))
        before = read_one(home.rollout(thread))
        assert thread_of(home.resume(thread, "Second.")) == thread
        fork = thread_of(home.fork(thread, "Third."))
    after, forked = read_one(home.rollout(thread)), read_one(home.rollout(fork))
    assert after.events[: len(before.events)] == before.events
    assert human_texts(after) == ["First.", "Second."]
    assert sum_usage(after) == after.reported == Usage(input=300, output=30)
    assert (forked.parent, forked.relation, human_texts(forked), assistant_texts(forked)) == (
        thread,
        "fork",
        ["Third."],
        ["Three."],
    )
    assert sum_usage(forked) == forked.reported == Usage(input=100, output=10)


def test_interruption_compaction_and_copied_fork_are_read_in_legacy_mode(tmp_path: Path) -> None:
    script = [
        Reply("Looking.", [Call("exec_command", {"cmd": "ls missing-folder"}), Call("apply_patch", GOOD_PATCH)]),
        Reply("It is there."),
        Reply(calls=[Call("exec_command", {"cmd": "sleep 60"})]),
        Reply("Going on."),
        Reply("Another way."),
    ]
    with ModelServer(script) as server:
        home = CodexHome(str(tmp_path), server.url)
        with CodexServer(home) as codex:
            thread = codex.start("legacy")
            codex.turn(thread, "Make a greeting file.")
            codex.interrupted_turn(thread, "Wait a while.")
            codex.compact(thread)
            codex.turn(thread, "Go on.")
            fork = codex.fork(thread)
            codex.turn(fork, "Try another way.")
        assert server.unused_replies == 0
    session, forked = read_one(home.rollout(thread)), read_one(home.rollout(fork))
    assert session.starter == "human"
    assert human_texts(session) == ["Make a greeting file.", "Wait a while.", "Go on."]
    results = [result for _, result in pair_calls_with_results(session) if result is not None]
    assert [result.exit_code for result in results] == [2, 0, None]
    assert [result.is_error for result in results] == [None, False, None]
    assert results[2].text == "aborted by user"
    assert [event.name for event in session.events if isinstance(event, Other)] == ["context_window", "turn_aborted"]
    assert len([event for event in session.events if isinstance(event, Compaction)]) == 1
    # Five replies of the default size, one of them the summary.
    assert sum_usage(session) == session.reported == Usage(input=500, output=50)
    assert (forked.parent, forked.relation) == (thread, "fork")
    assert (human_texts(forked), assistant_texts(forked)) == (["Try another way."], ["Another way."])
    assert not list(pair_calls_with_results(forked))
    assert sum_usage(forked) == forked.reported == Usage(input=100, output=10)


def test_a_subagent_is_a_child_without_its_parents_tokens(tmp_path: Path) -> None:
    spawn = Call("spawn_agent", {"task_name": "count", "message": "Count the files."})
    script = [
        Reply("Ask.", [spawn, Call("wait_agent", {"timeout_ms": 20_000})]),
        Reply("None."),
        Reply("Zero."),
    ]
    with ModelServer(script) as server:
        home = CodexHome(str(tmp_path), server.url)
        thread = thread_of(home.exec("How many files are there?", "--enable", "multi_agent_v2"))
        (child_path,) = (path for path in home.rollouts() if thread not in os.path.basename(path))
    parent, child = read_one(home.rollout(thread)), read_one(child_path)
    (spawned,) = (event for event in parent.events if isinstance(event, Spawn))
    assert (spawned.session, spawned.call_id) == (child.id, "call_1")
    assert (child.parent, child.relation) == (parent.id, "subagent")
    assert (assistant_texts(parent), assistant_texts(child)) == (["Ask.", "Zero."], ["None."])
    assert human_texts(child) == []
    assert not [event for event in child.events if isinstance(event, ToolResult)]
    assert sum_usage(parent) == parent.reported == Usage(input=200, output=20)
    assert sum_usage(child) == child.reported == Usage(input=100, output=10)
