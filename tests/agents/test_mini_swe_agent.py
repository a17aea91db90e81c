"""Reading mini-swe-agent's trajectories: calls, results, and all other messages."""

import glob
import json
import os
from typing import Any

import pytest

from preheat.agents.mini_swe_agent import READER, fenced_commands
from preheat.agents.sources import detect, read
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "mini_swe_agent")


def session_of(name: str) -> Session:
    (session,) = read(os.path.join(FOLDER, name), READER)
    return session


def parse(document: Any, path: str = "run.traj.json") -> Session:
    parser = READER.parser(path)
    parser.feed(document if isinstance(document, bytes) else json.dumps(document).encode(), 1)
    (session,) = parser.take()
    return session


def test_version_1_commands_are_read_from_the_text() -> None:
    """One call a response, the exit code from the program's line, the output without tags."""
    pairs = list(pair_calls_with_results(session_of("version-1.traj.json")))
    assert [call.input["command"] for call, _ in pairs][:1] == ["ls"]
    results = [result for _, result in pairs]
    assert [result.exit_code if result else None for result in results] == [0, None, 1, None, None]
    assert results[0] is not None
    assert results[0].text == "clock.py"


def test_version_1_two_commands_are_a_format_error() -> None:
    """The program ran neither: one call, marked as an error."""
    call, result = list(pair_calls_with_results(session_of("version-1.traj.json")))[1]
    assert call.input == {"command": "cat clock.py\npython clock.py"}
    assert result is not None
    assert (result.is_error, result.detail) == (True, {"format_error": True})


def test_version_1_timeout_is_an_error_without_exit_code() -> None:
    _, result = list(pair_calls_with_results(session_of("version-1.traj.json")))[3]
    assert result is not None
    assert (result.is_error, result.exit_code, result.detail) == (True, None, {"exception": "timeout"})


def test_version_1_submission_is_no_result() -> None:
    """The last message is the submission, not the last command's output."""
    session = session_of("version-1.traj.json")
    assert list(pair_calls_with_results(session))[-1][1] is None
    names = [event.name for event in session.events if isinstance(event, Other)]
    assert names == ["system", "exit", "ending"]
    ending = session.events[-1]
    assert isinstance(ending, Other)
    assert ending.raw["model_stats"] == {"instance_cost": 0.01, "api_calls": 5}
    assert ending.raw["exit_status"] == "Submitted"


def test_the_heading_comes_from_the_config() -> None:
    session = session_of("version-1.traj.json")
    assert (session.version, session.model, session.project) == ("1.15.0", "scripted", "/testbed")
    assert session.starter == "headless"
    assert session.id.startswith("clock__clock-1-")
    assert (session.started_at, session.ended_at) == (1_700_000_010, 1_700_000_050)
    assert sum_usage(session) == Usage(input=700, output=64)


def test_each_of_several_calls_in_a_response_has_its_result() -> None:
    """Matched by id, with exit codes from `extra.returncode`."""
    first, second = list(pair_calls_with_results(session_of("tool-calls.traj.json")))[:2]
    assert first[0].input == {"command": "echo hello > answer.txt; ls"}
    assert first[0].kind == "shell"
    assert first[1] is not None
    assert (first[1].exit_code, first[1].text) == (0, "answer.txt\n")
    assert second[1] is not None
    assert second[1].exit_code == 1
    assert first[0].response == second[0].response == "resp_1"


def test_a_refused_response_is_read_from_the_refusal() -> None:
    """Version 2 records a response that it could not run only inside the refusing message."""
    session = session_of("tool-calls.traj.json")
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage)]
    assert "I forgot to call anything." in texts
    refused = [
        pair for pair in pair_calls_with_results(session) if pair[1] and pair[1].detail == {"format_error": True}
    ]
    assert [call.tool for call, _ in refused] == ["bash", "no_such_tool"]
    assert all(result and result.is_error for _, result in refused)


def test_an_exception_of_the_program_is_an_error() -> None:
    """A command that ran into the time limit has no exit code (the program writes -1)."""
    failed = [event for event in session_of("tool-calls.traj.json").events if isinstance(event, ToolResult)]
    late = next(event for event in failed if "exception" in event.detail)
    assert (late.is_error, late.exit_code, late.detail) == (True, None, {"exception": "TimeoutExpired"})


def test_each_response_has_usage_and_reasoning() -> None:
    session = session_of("tool-calls.traj.json")
    assert sum_usage(session) == Usage(input=600, output=60, cache_read=50, reasoning=5)
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["First see what is there."]


def test_version_2_commands_in_fences_are_read() -> None:
    """The fences have another name; a response without a command is refused."""
    session = session_of("text.traj.json")
    commands = [event.input.get("command") for event in session.events if isinstance(event, ToolCall)]
    assert commands[0] == "echo hello > answer.txt; exit 3"
    codes = [event.exit_code for event in session.events if isinstance(event, ToolResult)]
    assert codes == [3, None]
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["Write an answer."]


def test_items_of_the_responses_interface_are_read() -> None:
    """Responses are `object: response`, results `function_call_output`."""
    session = parse(
        {
            "info": {"exit_status": "", "mini_version": "2.2.7"},
            "messages": [
                {"role": "user", "content": "go"},
                {
                    "object": "response", "id": "r1", "usage": {},
                    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Looking."}]}],
                    "extra": {"actions": [{"command": "ls", "tool_call_id": "f1"}], "timestamp": 5.0},
                },
                {
                    "type": "function_call_output", "call_id": "f1", "output": "a",
                    "extra": {"returncode": 0, "raw_output": "a"},
                },
            ],
            "trajectory_format": "mini-swe-agent-1.1",
        }
    )  # fmt: skip
    ((call, result),) = pair_calls_with_results(session)
    assert call.input == {"command": "ls"}
    assert result is not None
    assert (result.exit_code, result.text) == (0, "a")
    assert [event.text for event in session.events if isinstance(event, AssistantMessage)] == ["Looking."]


def test_two_runs_of_one_task_are_two_sessions() -> None:
    with open(os.path.join(FOLDER, "version-1.traj.json"), "rb") as file:
        data = file.read()
    again = data.replace(b'"gen-1"', b'"gen-9"')
    assert parse(data).id != parse(again).id


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"messages": 1}', b"\xff\xfe", b'{"info": {"exit'])
def test_a_file_without_trajectory_is_a_session_with_a_problem(data: bytes) -> None:
    session = parse(data, "/some/where/cut.traj.json")
    assert session.id == "cut"
    assert [problem.file for problem in session.problems] == ["/some/where/cut.traj.json"]
    assert not [event for event in session.events if not isinstance(event, Other)]


def test_a_message_of_any_shape_is_kept() -> None:
    session = parse({"messages": [7, {"role": "assistant"}, {"role": "tool", "content": "lost"}, {"role": []}]})
    names = [event.name for event in session.events if isinstance(event, Other)]
    assert names.count("unknown") == 2
    assert len(session.problems) == 2


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("```bash\nls\n```", ["ls"]),
        ("```bash\nls\n```\n```bash\npwd\n```", ["ls", "pwd"]),
        ("```python\nls\n```", []),
        ("```bash\ncat <<'E'\n`x`\nE\n```", ["cat <<'E'\n`x`\nE"]),
        ("```bash\nls", []),
        ("```bashful\nls\n```", []),
        ("```bash x\n" * 20_000, []),
    ],
)
def test_commands_are_the_fenced_shell_blocks(text: str, commands: list[str]) -> None:
    assert fenced_commands(text) == commands


@pytest.mark.corpus
@needs_corpus
@pytest.mark.parametrize(
    ("folder", "calls", "labelled"),
    [("mini_swe_agent__gruckion", 491, 469), ("mini_swe_agent__SWE-agent-prs", 247, 242)],
)
def test_real_trajectories_have_the_counts_of_the_corpus(folder: str, calls: int, labelled: int) -> None:
    """`labelled` are the calls with an exit code."""
    files = glob.glob(os.path.join(SHARED, "corpus", folder, "**", "*.traj.json"), recursive=True)
    sessions = [session for path in files for session in read(path, detect(path))]
    assert {session.agent for session in sessions} == {"mini_swe_agent"}
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    assert len(pairs) == calls
    assert sum(result is not None and result.exit_code is not None for _, result in pairs) == labelled
    assert not [problem for session in sessions for problem in session.problems]
    assert len({session.id for session in sessions}) == len(files)
