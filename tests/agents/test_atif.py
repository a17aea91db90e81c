"""Reading ATIF trajectories: those that Preheat wrote come back exactly, others are read as far as the format allows."""

import json
import os
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS
from preheat.agents.atif.notes import NOTES_KEY
from preheat.agents.atif.reader import READER
from preheat.agents.atif.writer import to_trajectory
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES, fixture_files

FOLDER = os.path.join(FIXTURES, "atif")


def parse(document: Any, path: str = "run.json") -> list[Session]:
    parser = READER.parser(path)
    parser.feed(document if isinstance(document, bytes) else json.dumps(document).encode(), 1)
    return parser.take()


def read_back(session: Session) -> Session:
    """The session after export and reading, under its first agent's name."""
    (again,) = parse(msgspec.json.encode(to_trajectory(session)))
    assert again.agent == "atif"
    return msgspec.structs.replace(again, agent=session.agent)


# What Preheat wrote itself.
@pytest.mark.parametrize("name", [name for agent in AGENTS for name in fixture_files(agent)])
def test_recorded_sessions_of_every_agent_come_back_exactly(name: str) -> None:
    """All events and the heading; problems of the source are not part of the export."""
    for session in read(os.path.join(FIXTURES, name)):
        assert read_back(session) == msgspec.structs.replace(session, problems=())


texts = st.text(max_size=12)
times = st.none() | st.floats(0, 2e9, allow_nan=False)
lines = st.integers(0, 50)
names = st.sampled_from(["", "a", "b", "line 3", "ä"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
inputs = st.dictionaries(texts, values, max_size=2)
usages = st.none() | st.builds(Usage, *[st.integers(0, 10**9)] * 5)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        UserMessage, line=lines, at=times, text=texts, origin=st.sampled_from(["human", "injected", "preheat"]),
        images=st.integers(0, 3),
    ),
    st.builds(AssistantMessage, line=lines, at=times, text=texts, response=names, model=texts, usage=usages),
    st.builds(Reasoning, line=lines, at=times, text=texts, response=names),
    st.builds(
        ToolCall, line=lines, at=times, call_id=names, tool=texts, kind=st.sampled_from(["shell", "other", "edit"]),
        input=inputs, response=names,
    ),
    st.builds(
        ToolResult, line=lines, at=times, call_id=names, text=texts, is_error=st.none() | st.booleans(),
        exit_code=st.none() | st.integers(-5, 255), seconds=times, detail=inputs,
    ),
    st.builds(
        Compaction, line=lines, at=times, trigger=texts, summary=texts, tokens_before=st.none() | st.integers(0, 10**6)
    ),
    st.builds(Spawn, line=lines, at=times, session=names, call_id=names),
    st.builds(Rewind, line=lines, at=times, after=lines),
    st.builds(Other, line=lines, at=times, name=texts, raw=values),
)  # fmt: skip
sessions = st.builds(
    Session, agent=st.just("any"), id=texts.filter(bool), version=texts, model=texts, project=texts, branch=texts,
    parent=st.none() | texts, relation=st.sampled_from([None, "subagent", "fork"]), started_at=times, ended_at=times,
    starter=st.sampled_from(["human", "unknown", "headless"]), title=texts, reported=usages,
    events=st.lists(events, max_size=12).map(tuple),
)  # fmt: skip


@given(session=sessions)
@settings(max_examples=300, deadline=None)
def test_any_session_comes_back_exactly(session: Session) -> None:
    assert read_back(session) == session


def test_notes_hold_no_text_of_the_session() -> None:
    """Text that is redacted in the steps must not remain in the notes."""
    session = Session(
        agent="a",
        id="s",
        events=(
            UserMessage(line=1, text="a long secret text"),
            AssistantMessage(line=2, text="another long text", response="r"),
            ToolCall(line=2, call_id="c", tool="t", kind="other", input={"path": "a long argument"}, response="r"),
            ToolResult(line=3, call_id="c", text="a long result"),
            Other(line=4, name="o", raw="a long record"),
        ),
    )
    notes = json.dumps(to_trajectory(session)["extra"][NOTES_KEY])
    assert "long" not in notes
    redacted = msgspec.json.encode(to_trajectory(session)).replace(b"long secret", b"[taken out]")
    (again,) = parse(redacted)
    first = again.events[0]
    assert isinstance(first, UserMessage)
    assert first.text == "a [taken out] text"


def test_notes_that_do_not_fit_the_steps_are_ignored_with_a_problem() -> None:
    """The steps were shortened after the export."""
    made = to_trajectory(
        Session(agent="a", id="s", events=(UserMessage(line=1, text="hi"), UserMessage(line=2, text="ho")))
    )
    made["steps"].pop()
    (session,) = parse(made)
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["hi"]
    assert "do not fit" in session.problems[0].message


# What others wrote.
def read_foreign(name: str = "delegating.json") -> list[Session]:
    return read(os.path.join(FOLDER, name), READER)


def test_results_are_matched_by_the_id_of_their_call() -> None:
    pairs = {call.call_id: (call, result) for call, result in pair_calls_with_results(read_foreign()[0])}
    assert pairs["c1"][1] is not None
    assert (pairs["c1"][1].text, pairs["c1"][1].exit_code, pairs["c1"][1].is_error) == ("a.py", 0, False)
    assert pairs["c2"][1] is not None
    assert (pairs["c2"][1].text, pairs["c2"][1].exit_code, pairs["c2"][1].is_error) == ("three", None, None)
    assert pairs["c1"][0].kind == "shell"


def test_one_observation_of_several_calls_belongs_to_the_last() -> None:
    """Agents at a terminal send keys several times and look once."""
    pairs = {call.call_id: result for call, result in pair_calls_with_results(read_foreign()[0])}
    assert pairs["k1"] is None
    assert pairs["k2"] is not None
    assert (pairs["k2"].text, pairs["k2"].detail) == ("make: *** No targets.", {"calls": 2})


def test_copied_context_is_not_counted() -> None:
    main = read_foreign()[0]
    assert [event.text for event in main.events if isinstance(event, UserMessage)] == ["Fix what is in the picture."]
    assert [event.name for event in main.events if isinstance(event, Other)] == [
        "trajectory",
        "system",
        "copied context",
    ]


def test_content_in_parts_is_joined_and_images_are_counted() -> None:
    (prompt,) = [event for event in read_foreign()[0].events if isinstance(event, UserMessage)]
    assert (prompt.text, prompt.images) == ("Fix what is in the picture.", 1)


def test_embedded_subagents_are_child_sessions() -> None:
    main, child = read_foreign()
    assert (child.id, child.parent, child.relation) == ("traj-child", "traj-main", "subagent")
    (spawn,) = [event for event in main.events if isinstance(event, Spawn)]
    assert (spawn.session, spawn.call_id) == ("traj-child", "c2")


def test_totals_that_equal_the_steps_are_reported() -> None:
    main, child = read_foreign()
    assert main.reported == sum_usage(main) == Usage(input=700, output=65, cache_read=1300, reasoning=8)
    assert sum_usage(child) == Usage(input=50, output=1)
    models = [event.model for event in main.events if isinstance(event, AssistantMessage)]
    assert models == ["scripted-large", "scripted", "scripted"]


def test_the_oldest_version_is_read() -> None:
    """It has no ids and no usage of steps: the totals count once, and the only result belongs to the only call."""
    (session,) = read_foreign("oldest.json")
    ((call, result),) = pair_calls_with_results(session)
    assert call.call_id
    assert result is not None
    assert result.text == "hello"
    assert session.reported == sum_usage(session) == Usage(input=60, output=9, cache_read=30)


def test_totals_that_differ_from_the_steps_are_not_reported() -> None:
    """They may include subagents or copied steps."""
    step = {"step_id": 1, "source": "agent", "message": "x", "metrics": {"prompt_tokens": 5, "completion_tokens": 1}}
    document = {
        "schema_version": "ATIF-v1.5",
        "agent": {},
        "steps": [step],
        "final_metrics": {"total_prompt_tokens": 99},
    }
    (session,) = parse(document)
    assert session.reported is None
    assert sum_usage(session) == Usage(input=5, output=1)


def test_every_trajectory_in_a_file_is_a_session() -> None:
    one = {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {}, "steps": [{"source": "user", "message": "a"}]}
    assert [session.id for session in parse([one, one])] == ["s", "s-2"]
    assert [session.id for session in parse(b"\n".join([json.dumps(one).encode()] * 2))] == ["s", "s-2"]


def test_segments_of_one_run_are_separate_sessions() -> None:
    """They share the `session_id`."""
    one = {"schema_version": "ATIF-v1.7", "session_id": "s", "trajectory_id": "s-1", "agent": {}, "steps": []}
    assert [session.id for session in parse([one, {**one, "trajectory_id": "s-2"}])] == ["s-1", "s-2"]


@pytest.mark.parametrize(
    "data", [b"", b"{", b"null", b'{"steps": 1}', b"\xff", b'{"schema_version": "ATIF-v1.7",\n"ste']
)
def test_a_file_without_trajectory_is_a_session_with_a_problem(data: bytes) -> None:
    (session,) = parse(data, "/some/where/cut.json")
    assert session.id == "cut"
    assert [problem.file for problem in session.problems] == ["/some/where/cut.json"]


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'{"schema_version": "ATIF-v1.2", "steps": [', True),
        (b'[{"agent": {}, "schema_version": "ATIF-v1.7"}]', True),
        (b'{"agent": {"name": "a"}, "steps": [{"step_id": 1, "mess', True),
        (b'{"schema_version": "other-1", "steps": []}', False),
        (b'{"note": "\\"schema_version\\": \\"ATIF-v1.7\\""}', False),
        (b'{"raw": {"schema_version": "ATIF-v1.7"}}', False),
    ],
)
def test_only_trajectories_are_detected(head: bytes, known: bool) -> None:
    assert READER.detect(head, "x.json") is known
