"""The real Gemini CLI, run now against the scripted model: what it writes is what the reader gives."""

import time
from pathlib import Path
from typing import Any

import pytest

from preheat.agents.gemini import PLACES
from preheat.agents.gemini.reader import READER
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Reasoning,
    Session,
    Spawn,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from preheat.testing.script import Call, Reply
from tests.programs import gemini
from tests.shared import real_program

SUMMARY = "<state_snapshot><goal>Counting.</goal></state_snapshot>"

pytestmark = pytest.mark.program


@pytest.fixture(autouse=True)
def program() -> str:
    return real_program(gemini.find_gemini(), "gemini")


def run(program: str, home: Path, prompt: str, script: list[Reply], *options: str, **settings: Any) -> gemini.Finished:
    job = gemini.Job(
        program=program, home=str(home), prompt=prompt, script=script, options=options,
        settings=settings, side_text=SUMMARY,
    )  # fmt: skip
    finished = gemini.run(job)
    assert finished.remaining == 0
    return finished


def read_one(path: str) -> Session:
    assert detect(path) is READER
    (session,) = read(path)
    assert session.problems == ()
    return session


def human_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, UserMessage) and event.origin == "human"]


def assistant_texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]


def test_a_headless_session_is_read_as_it_was_scripted(program: str, tmp_path: Path) -> None:
    """Calls, exit codes, flags, texts, thoughts and tokens are exactly those of the script, and of the program's count."""
    script = [
        Reply(
            "I look first.",
            [Call("run_shell_command", {"command": "ls missing-folder"})],
            reasoning="**Looking** It may not be there.",
            usage=Usage(input=70, cache_read=30, output=25, reasoning=5),
        ),
        Reply(
            calls=[
                Call("read_file", {"file_path": "missing.txt"}),
                Call("run_shell_command", {"command": "echo good"}),
            ],
            usage=Usage(input=20, cache_read=120, output=30),
        ),
        Reply(calls=[Call("no_such_tool", {"x": 1})], usage=Usage(input=15, output=16)),
        Reply("Now the file.", [Call("write_file", {"file_path": "one.txt", "content": "hello\n"})]),
        Reply("All done.", usage=Usage(input=5, cache_read=200, output=7)),
    ]
    finished = run(program, tmp_path, "Make a file.", script)
    assert (tmp_path / "proj" / "one.txt").read_text() == "hello\n"
    (path,) = gemini.sessions(str(tmp_path))
    (root,) = PLACES.roots({"GEMINI_CLI_HOME": str(tmp_path)})
    assert [found.path for found in PLACES.discover(root)] == [path]
    session = read_one(path)
    assert (session.id, session.project, session.model) == (
        finished.session,
        gemini.project(str(tmp_path)),
        gemini.MODEL,
    )
    assert human_texts(session) == ["Make a file."]
    assert assistant_texts(session) == [reply.text for reply in script if reply.text]
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["Looking\nIt may not be there."]
    pairs = list(pair_calls_with_results(session))
    assert [(call.tool, call.input) for call, _ in pairs] == [
        (call.name, call.arguments) for reply in script for call in reply.calls
    ]
    results = [result for _, result in pairs if result is not None]
    assert [result.exit_code for result in results] == [2, None, 0, None, None]
    assert [result.is_error for result in results] == [None, True, None, True, False]
    assert results[2].text == "good"
    assert sum_usage(session) == sum((reply.usage for reply in script), Usage())
    stated = finished.printed["stats"]["models"][gemini.MODEL]["tokens"]
    total = sum_usage(session)
    assert (stated["prompt"], stated["cached"]) == (total.input + total.cache_read, total.cache_read)
    assert (stated["candidates"], stated["thoughts"]) == (total.output - total.reasoning, total.reasoning)


def test_nothing_but_the_model_is_asked(program: str, tmp_path: Path) -> None:
    """Telemetry, updates and statistics are off; the model server sees only its own interface."""
    finished = run(program, tmp_path, "Hello?", [Reply("Hello.")])
    assert [request.path for request in finished.requests] == [
        f"/v1beta/models/{gemini.MODEL}:streamGenerateContent?alt=sse"
    ]


def wait_for_room_in_the_minute(seconds: float) -> None:
    """Files are named by the minute: resumed in another one, the program leaves a second file of the same session with only
    the opening context in it, and goes on in the first."""
    left = 60 - time.time() % 60
    if left < seconds:
        time.sleep(left)


def test_a_resumed_session_grows_and_a_compaction_is_seen(program: str, tmp_path: Path) -> None:
    """Resuming rewrites the whole history into the journal: the events before stay the beginning of those after."""
    wait_for_room_in_the_minute(30)
    run(
        program,
        tmp_path,
        "Count.",
        [Reply("I count.", [Call("run_shell_command", {"command": "echo 1"})]), Reply("One.")],
    )
    (path,) = gemini.sessions(str(tmp_path))
    first = read_one(path)
    again = [Reply(calls=[Call("run_shell_command", {"command": "exit 3"})]), Reply("Three.")]
    run(program, tmp_path, "Count on.", again, "--resume", "latest")
    second = read_one(path)
    run(
        program, tmp_path, "And on.", [Reply("Going on.")], "--resume", "latest", model={"compressionThreshold": 0.0001}
    )  # fmt: skip
    third = read_one(path)
    assert gemini.sessions(str(tmp_path)) == [path]
    assert second.events[: len(first.events)] == first.events
    assert third.events[: len(second.events)] == second.events
    assert human_texts(third) == ["Count.", "Count on.", "And on."]
    assert assistant_texts(third) == ["I count.", "One.", "Three.", "Going on."]
    assert [result and result.exit_code for _, result in pair_calls_with_results(third)] == [0, 3]
    assert sum_usage(third) == Usage(input=500, output=50)
    assert [event.summary for event in third.events if isinstance(event, Compaction)] == [SUMMARY]


def test_a_subagent_is_a_child_and_counts_nothing_of_its_parent(program: str, tmp_path: Path) -> None:
    script = [
        Reply("Ask.", [Call("invoke_agent", {"agent_name": "generalist", "prompt": "Count the files."})]),
        Reply(calls=[Call("run_shell_command", {"command": "ls | wc -l"})]),
        Reply(calls=[Call("complete_task", {"result": {"response": "None."}})]),
        Reply("Zero."),
    ]
    run(program, tmp_path, "How many files are there?", script)
    parent, child = (read_one(path) for path in gemini.sessions(str(tmp_path)))
    (spawn,) = (event for event in parent.events if isinstance(event, Spawn))
    assert (spawn.session, child.parent, child.relation) == (child.id, parent.id, "subagent")
    assert (assistant_texts(parent), human_texts(child)) == (["Ask.", "Zero."], [])
    assert [event.exit_code for event in child.events if isinstance(event, ToolResult)] == [0, None]
    assert sum_usage(parent) == sum_usage(child) == Usage(input=200, output=20)
