"""Reading result files of tau-bench and tau2-bench: many runs with rewards."""

import json
import os
from typing import Any

import pytest

from preheat.agents import reader_of
from preheat.agents.sources import read
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

BOTH = pytest.mark.parametrize("agent", ["tau_bench", "tau2_bench"])


def read_fixture(agent: str) -> list[Session]:
    return read(os.path.join(FIXTURES, agent, "results.json"))


def parse(agent: str, document: Any, path: str = "/some/where/results.json") -> list[Session]:
    parser = reader_of(agent).parser(path)
    parser.feed(document if isinstance(document, bytes) else json.dumps(document).encode(), 1)
    return parser.take()


def reward(session: Session) -> Any:
    (event,) = (event for event in session.events if isinstance(event, Other) and event.name == "reward")
    assert event is session.events[-1]
    return event.raw


def test_tau_runs_are_sessions_with_rewards() -> None:
    """The same task run twice is two sessions, even with the same beginning."""
    first, second = read_fixture("tau_bench")
    assert (first.title, second.title) == ("task 3, trial 0: reward 1", "task 3, trial 1: reward 0")
    assert first.id != second.id
    assert (reward(first)["reward"], reward(second)["reward"]) == (1.0, 0.0)
    assert reward(first)["info"]["reward_info"]["reward"] == 1.0
    assert [event.name for event in first.events if isinstance(event, Other)] == ["task", "system", "reward"]
    assert [event.origin for event in first.events if isinstance(event, UserMessage)] == ["human", "human"]
    ((call, result),) = pair_calls_with_results(first)
    assert (call.tool, call.input, result and result.text) == (
        "get_clock_details",
        {"clock_id": "C1"},
        '{"late": true}',
    )


def test_tau_results_have_no_error_flag() -> None:
    """Not even if the text says error."""
    results = [
        event for session in read_fixture("tau_bench") for event in session.events if isinstance(event, ToolResult)
    ]
    assert [result.is_error for result in results] == [None, None]


def test_tau_ids_do_not_depend_on_the_file() -> None:
    """A file that has grown or was renamed holds the same ids."""
    with open(os.path.join(FIXTURES, "tau_bench", "results.json"), "rb") as file:
        runs = json.load(file)
    again = parse("tau_bench", [runs[1], runs[0], {**runs[0], "task_id": 9}], "other.json")
    assert [session.id for session in again[:2]] == [session.id for session in reversed(read_fixture("tau_bench"))]
    assert len({session.id for session in again}) == 3


def test_two_equal_runs_are_two_sessions() -> None:
    run = {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": [{"role": "user", "content": "a"}]}
    first, second = parse("tau_bench", [run, run])
    assert first.id != second.id


def test_tau2_runs_are_sessions_with_rewards() -> None:
    (session,) = read_fixture("tau2_bench")
    assert (session.id, session.model) == ("aaaaaaaa-0000-4000-8000-000000000001", "scripted-1")
    assert (session.title, session.version) == ("clocks task 7, trial 0: reward 0", "0123456789ab")
    assert reward(session)["reward"] == 0.0
    assert reward(session)["termination_reason"] == "user_stop"
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["Look it up."]
    names = [event.name for event in session.events if isinstance(event, Other)]
    assert names == ["run", "task", "reward"]


def test_tau2_times_without_zone_are_utc() -> None:
    (session,) = read_fixture("tau2_bench")
    assert (session.started_at, session.ended_at) == (1769940010.0, 1769940040.0)


def test_tau2_results_have_the_error_flag() -> None:
    (session,) = read_fixture("tau2_bench")
    assert [(call.tool, result and result.is_error) for call, result in pair_calls_with_results(session)] == [
        ("get_clock", True),
        ("press_button", False),
        ("read_dial", False),
    ]


def test_tau2_calls_of_the_simulated_person_are_marked() -> None:
    """They belong to no response, their results name the requestor, and their tokens are not the agent's."""
    (session,) = read_fixture("tau2_bench")
    details = [result.detail for result in session.events if isinstance(result, ToolResult)]
    assert details == [{}, {"requestor": "user"}, {"requestor": "user"}]
    calls = [call for call in session.events if isinstance(call, ToolCall)]
    assert [bool(call.response) for call in calls] == [True, False, False]
    assert sum_usage(session) == Usage(input=220, output=14)
    texts = [event.text for event in session.events if isinstance(event, UserMessage)]
    assert texts == ["My clock is late.", "It says noon. ###STOP###"]


@BOTH
@pytest.mark.parametrize("data", [b"", b"[", b"{", b"7", b"\xff", b'{"simulations": 3}'])
def test_a_file_without_results_is_a_session_with_a_problem(agent: str, data: bytes) -> None:
    (session,) = parse(agent, data)
    assert (session.id, session.events) == ("results", ())
    assert [problem.file for problem in session.problems] == ["/some/where/results.json"]


@pytest.mark.parametrize("run", [None, 3, [], "x"])
def test_a_broken_run_does_not_affect_others(run: Any) -> None:
    good = {"task_id": 1, "reward": None, "info": 3, "traj": [{"role": "assistant", "content": "a"}, 7, {"role": []}]}
    (session,) = parse("tau_bench", [run, good])
    assert [event.text for event in session.events if isinstance(event, AssistantMessage)] == ["a"]
    assert len(session.problems) == 1
    assert session.title == "task 1"


@pytest.mark.parametrize(
    "run",
    [{}, {"id": 4, "messages": {}}, {"messages": [None]}, {"reward_info": 3, "start_time": [], "task_id": {}}],
)
def test_tau2_values_of_wrong_types_are_ignored(run: Any) -> None:
    (session,) = parse("tau2_bench", {"info": [], "tasks": {}, "simulations": [run]})
    assert session.id
    assert session.problems == ()


@pytest.mark.parametrize(
    "head",
    [
        b'[{"task_id":0,"traj":[{"role":"user","content":"a"}]}]',
        b'[{"task_id":0,"reward":1,"info":{},"other":1}]',
        b'{"info":{"exit_status":"x"},"messages":[]}',
        b'{"info":{"num_trials":1},"simulations":[]}',
        b'[{"role":"user","content":"a"}]',
        b"[]",
    ],
)
@BOTH
def test_other_formats_are_not_detected(agent: str, head: bytes) -> None:
    assert not reader_of(agent).detect(head, "results.json")


@BOTH
def test_a_cut_off_head_is_detected(agent: str) -> None:
    """The first task or the guidelines may be longer than the head."""
    with open(os.path.join(FIXTURES, agent, "results.json"), "rb") as file:
        head = file.read()
    cut = head.index(b'"traj"' if agent == "tau_bench" else b'"agent_info"') + 20
    assert reader_of(agent).detect(head[:cut], "results.json")


@pytest.mark.corpus
@needs_corpus
@pytest.mark.parametrize(
    ("agent", "sessions", "calls", "truth"), [("tau_bench", 100, 577, 0), ("tau2_bench", 58, 1016, 1016)]
)
def test_real_results_have_the_counts_of_the_corpus(agent: str, sessions: int, calls: int, truth: int) -> None:
    folder = os.path.join(SHARED, "corpus", f"{agent}__sierra")
    names = [name for name in sorted(os.listdir(folder)) if name != "INDEX.json"]
    found = [session for name in names for session in read(os.path.join(folder, name))]
    assert {session.agent for session in found} == {agent}
    assert (len(found), len({session.id for session in found})) == (sessions, sessions)
    pairs = [pair for session in found for pair in pair_calls_with_results(session)]
    assert len(pairs) == calls
    assert sum(result is not None and result.is_error is not None for _, result in pairs) == truth
    assert all(reward(session)["reward"] in (0.0, 1.0) for session in found)
    assert not [problem for session in found for problem in session.problems]
