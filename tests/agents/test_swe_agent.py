"""Reading SWE-agent's trajectories: steps are calls, and the history shows how the model wrote them."""

import glob
import json
import os
from typing import Any

import pytest

from preheat.agents.sources import detect, read
from preheat.agents.swe_agent import READER
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    Session,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES, SHARED, needs_corpus

FOLDER = os.path.join(FIXTURES, "swe_agent")


def session_of(name: str) -> Session:
    (session,) = read(os.path.join(FOLDER, name), READER)
    return session


def parse(document: Any, path: str = "task.traj") -> Session:
    parser = READER.parser(path)
    parser.feed(document if isinstance(document, bytes) else json.dumps(document).encode(), 1)
    (session,) = parser.take()
    return session


def test_the_first_word_of_a_command_names_the_tool() -> None:
    """A command of any other word is `bash`."""
    pairs = list(pair_calls_with_results(session_of("clock__clock-1.traj")))
    assert [(call.tool, call.kind) for call, _ in pairs] == [
        ("open", "read"),
        ("edit", "edit"),
        ("bash", "shell"),
        ("submit", "other"),
    ]
    assert pairs[2][0].input == {"command": "python clock.py && echo fine"}
    assert pairs[2][1] is not None
    assert pairs[2][1].text == "1700000000.5\nfine"


def test_results_have_no_exit_code_and_no_error_flag() -> None:
    for name in ("clock__clock-1.traj", "functions.traj"):
        results = [result for _, result in pair_calls_with_results(session_of(name))]
        assert {(result.is_error, result.exit_code) for result in results if result} == {(None, None)}


def test_function_calls_are_read_from_the_history() -> None:
    """The last step is no longer in the history."""
    pairs = list(pair_calls_with_results(session_of("functions.traj")))
    first, second, last = (call for call, _ in pairs)
    assert (first.call_id, first.tool, first.kind) == ("call_a", "str_replace_editor", "read")
    assert first.input == {"command": "view", "path": "/testbed/a.py"}
    assert (second.call_id, second.tool, second.kind) == ("call_b", "bash", "shell")
    assert (last.tool, last.input) == ("submit", {"command": "submit"})
    assert [result.seconds for _, result in pairs if result] == [0.25, 1.5, 0.1]
    assert [event.text for event in session_of("functions.traj").events if isinstance(event, Reasoning)] == [
        "First the file."
    ]


def test_demonstrations_are_other_events() -> None:
    session = session_of("clock__clock-1.traj")
    prompts = [event.text for event in session.events if isinstance(event, UserMessage)]
    assert prompts == ["Issue: the clock does not run."]
    assert [event.name for event in session.events if isinstance(event, Other)] == [
        "system",
        "demonstration",
        "observation",
        "ending",
    ]


def test_a_step_without_an_action_is_no_call() -> None:
    session = session_of("clock__clock-1.traj")
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage)]
    assert "I am lost." in texts
    assert len(list(pair_calls_with_results(session))) == 4


def test_heading_and_totals_are_read() -> None:
    session = session_of("clock__clock-1.traj")
    assert (session.project, session.starter) == ("/clock", "headless")
    assert session.id.startswith("clock__clock-1-")
    assert session.reported == sum_usage(session) == Usage(input=9000, output=300)
    other = session_of("functions.traj")
    assert (other.version, other.model, other.project, other.reported) == ("1.1.0", "scripted", "/testbed", None)


def test_two_runs_of_one_task_are_two_sessions() -> None:
    with open(os.path.join(FOLDER, "functions.traj"), "rb") as file:
        data = file.read()
    assert parse(data).id != parse(data.replace(b"0.25", b"0.26")).id
    assert parse(data).id == parse(data.replace(b"1 failed", b"2 failed")).id


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"trajectory": 1}', b"\xff\xfe", b'{"trajectory": [{"action'])
def test_a_file_without_trajectory_is_a_session_with_a_problem(data: bytes) -> None:
    session = parse(data, "/some/where/cut.traj")
    assert session.id == "cut"
    assert [problem.file for problem in session.problems] == ["/some/where/cut.traj"]


def test_a_step_of_any_shape_is_kept() -> None:
    session = parse({"trajectory": [7, {"action": ["x"]}, {"action": "ls", "observation": None, "state": "{"}]})
    assert len(session.problems) == 1
    assert len(list(pair_calls_with_results(session))) == 1


@pytest.mark.parametrize(
    ("head", "path", "known"),
    [
        (b'{"environment": "e", "trajectory": [{"action": "ls", "obs', "x.json", True),
        (b'{"trajectory": [], "history": [], "info": {}}', "x.traj", True),
        (b'{"trajectory": [], "history": []}', "x.json", False),
        (b'{"trajectory": [{"role": "user"}]}', "x.traj", False),
        (b'{"trajectory_format": "mini-swe-agent-1"}', "x.traj.json", False),
    ],
)
def test_only_trajectories_are_detected(head: bytes, path: str, known: bool) -> None:
    assert READER.detect(head, path) is known


@pytest.mark.corpus
@needs_corpus
def test_real_trajectories_have_the_counts_of_the_corpus() -> None:
    files = glob.glob(os.path.join(SHARED, "corpus", "swe_agent__SWE-agent", "*.traj"))
    sessions = [session for path in files for session in read(path, detect(path))]
    assert len(sessions) == 13
    assert {session.agent for session in sessions} == {"swe_agent"}
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    assert len(pairs) == 109
    assert all(result and result.is_error is None and result.exit_code is None for _, result in pairs)
    assert not [problem for session in sessions for problem in session.problems]
