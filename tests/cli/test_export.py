"""`preheat sessions export` and the forms it writes; ATIF is held to a schema written from its published field list."""

import json
import os
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec
import pytest

from preheat.agents import AGENTS
from preheat.agents.atif.writer import to_trajectory
from preheat.agents.sources import detect, read
from preheat.app.sessions.exports import json_lines
from preheat.errors import UserError
from preheat.model.session import AssistantMessage, Session, Spawn, ToolCall, ToolResult, Usage, UserMessage, sum_usage
from tests.shared import FIXTURES, SHARED, fixture_files, needs_corpus

from .conftest import FIRST, SECOND, Person, first_session


# What ATIF v1.7 allows: Harbor's models forbid every other key.
class SubagentRef(msgspec.Struct, forbid_unknown_fields=True):
    trajectory_id: str | None = None
    trajectory_path: str | None = None
    session_id: str | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        assert self.trajectory_id or self.trajectory_path


class AtifResult(msgspec.Struct, forbid_unknown_fields=True):
    source_call_id: str | None = None
    content: str | None = None
    subagent_trajectory_ref: list[SubagentRef] | None = None
    extra: dict[str, Any] | None = None


class Observation(msgspec.Struct, forbid_unknown_fields=True):
    results: list[AtifResult]


class AtifCall(msgspec.Struct, forbid_unknown_fields=True):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: dict[str, Any] | None = None


class Metrics(msgspec.Struct, forbid_unknown_fields=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: list[int] | None = None
    completion_token_ids: list[int] | None = None
    logprobs: list[float] | None = None
    extra: dict[str, Any] | None = None


class Step(msgspec.Struct, forbid_unknown_fields=True):
    step_id: int
    source: str
    message: str
    timestamp: str | None = None
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    reasoning_content: str | None = None
    tool_calls: list[AtifCall] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: dict[str, Any] | None = None


class FinalMetrics(msgspec.Struct, forbid_unknown_fields=True):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = None
    extra: dict[str, Any] | None = None


class Agent(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    version: str
    model_name: str | None = None
    tool_definitions: list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None


class Trajectory(msgspec.Struct, forbid_unknown_fields=True):
    schema_version: str
    agent: Agent
    steps: list[Step]
    session_id: str | None = None
    trajectory_id: str | None = None
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    subagent_trajectories: list[Any] | None = None
    extra: dict[str, Any] | None = None


def checked(document: bytes) -> Trajectory:
    """A trajectory that keeps every rule of the format's own validator."""
    found = msgspec.json.decode(document, type=Trajectory)
    assert found.schema_version == "ATIF-v1.7"
    assert found.steps
    assert [step.step_id for step in found.steps] == list(range(1, len(found.steps) + 1))
    for step in found.steps:
        assert step.source in ("user", "agent", "system")
        if step.timestamp is not None:
            datetime.fromisoformat(step.timestamp)
        calls = {call.tool_call_id for call in step.tool_calls or ()}
        assert all(calls)
        if step.source != "agent":
            agents_only = (step.model_name, step.reasoning_content, step.tool_calls, step.metrics, step.observation)
            assert not any(value is not None for value in agents_only)
        for result in step.observation.results if step.observation else ():
            assert result.source_call_id is None or result.source_call_id in calls
    assert found.final_metrics is not None
    assert found.final_metrics.total_steps == len(found.steps)
    return found


def exported(session: Session) -> Trajectory:
    return checked(msgspec.json.encode(to_trajectory(session)))


def test_the_format_checker_refuses_invalid_trajectories() -> None:
    """Else every test below would pass for nothing."""
    made = to_trajectory(Session(agent="a", id="s", events=(UserMessage(line=1, text="hi"),)))
    checked(msgspec.json.encode(made))
    mistakes: list[dict[str, Any]] = [{"surprise": 1}, {"steps": []}, {"schema_version": "ATIF-v9"}]
    for wrong in mistakes:
        with pytest.raises((AssertionError, msgspec.ValidationError)):
            checked(msgspec.json.encode({**made, **wrong}))


def test_a_session_is_exported_as_steps(person: Person) -> None:
    (session,) = read(person.write(first_session()))
    found = exported(session)
    assert [step.source for step in found.steps[:2]] == ["user", "agent"]
    first = found.steps[1]
    assert first.message == "I run the test first."
    assert first.reasoning_content == "The test comes first."
    assert first.tool_calls is not None
    assert first.tool_calls[0].function_name == "Bash"
    assert first.observation is not None
    result = first.observation.results[0]
    assert result.source_call_id == first.tool_calls[0].tool_call_id
    assert result.extra is not None
    assert (result.extra["is_error"], result.extra["exit_code"]) == (True, 1)


def test_trajectories_have_subagents_compactions_and_rewinds(person: Person) -> None:
    (session,) = read(person.write(first_session()))
    found = exported(session)
    references = [
        reference.trajectory_path
        for step in found.steps
        for result in (step.observation.results if step.observation else ())
        for reference in result.subagent_trajectory_ref or ()
    ]
    assert references == [f"{FIRST}:agent-abc123.json"]
    compactions = [step for step in found.steps if step.extra and "compaction" in step.extra]
    assert [step.source for step in compactions] == ["system"]
    back = [step.message for step in found.steps if step.extra and step.extra.get("taken_back")]
    assert back == ["use sqlite", "I use sqlite."]
    assert found.extra is not None
    assert len(found.extra["rewinds"]) == 1


def test_metrics_count_every_response_once(person: Person) -> None:
    """The prompt includes cached tokens; the sums of the steps are the totals."""
    (session,) = read(person.write(first_session()))
    found, used = exported(session), sum_usage(session)
    assert found.final_metrics is not None
    assert found.final_metrics.total_prompt_tokens == used.input + used.cache_read + used.cache_write
    metrics = [step.metrics for step in found.steps if step.metrics]
    assert sum(each.prompt_tokens or 0 for each in metrics) == found.final_metrics.total_prompt_tokens
    assert sum(each.completion_tokens or 0 for each in metrics) == used.output
    assert sum(each.cached_tokens or 0 for each in metrics) == used.cache_read


def test_odd_sessions_give_valid_trajectories() -> None:
    """A result without its call, a call without an id, a subagent without a call, a wrong clock."""
    found = exported(
        Session(
            agent="a",
            id="s",
            events=(
                ToolResult(line=1, call_id="lost", text="orphan"),
                UserMessage(line=2, at=1e18, text="hi", images=2, origin="injected"),
                ToolCall(line=3, call_id="", tool="", kind="other", input={}),
                Spawn(line=3, session="child"),
                AssistantMessage(line=4, text="", response="r", usage=Usage(input=1)),
            ),
        )
    )
    assert found.steps[0].observation is not None
    assert found.steps[0].observation.results[0].source_call_id is None


@pytest.mark.parametrize("agent", AGENTS)
def test_recorded_sessions_give_valid_trajectories(agent: str) -> None:
    for name in fixture_files(agent):
        for session in read(os.path.join(FIXTURES, name)):
            if to_trajectory(session)["steps"]:
                exported(session)


@pytest.mark.corpus
@needs_corpus
def test_real_sessions_give_valid_trajectories() -> None:
    """A few dozen real transcripts of several agents, whatever is in them."""
    paths = sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(os.path.join(SHARED, "corpus"))
        for name in names
        if name.endswith((".jsonl", ".traj.json"))
    )
    seen = 0
    for path in paths[::4]:
        with suppress(UserError):
            for session in read(path):
                if to_trajectory(session)["steps"]:
                    exported(session)
                    seen += 1
    assert seen > 10


def test_jsonl_loses_nothing(person: Person) -> None:
    (session,) = read(person.write(first_session()))
    heading, *events = (json.loads(line) for line in json_lines(session))
    assert heading.pop("type") == "session"
    assert msgspec.convert({**heading, "events": events}, Session) == session


def test_a_file_gets_the_same_as_the_screen(archived: Person) -> None:
    target = os.path.join(archived.home, "run.json")
    shown = archived.spawn("export", "0f3c1a2b", "--format", "atif").out
    done = archived.run("export", "0f3c1a2b", "--format", "atif", "-o", target)
    assert done.code == 0
    with open(target, "rb") as stream:
        data = stream.read()
    assert data.decode() == shown
    checked(data)


def test_nothing_is_overwritten_unless_forced(archived: Person) -> None:
    target = os.path.join(archived.home, "run.jsonl")
    with open(target, "w") as stream:
        stream.write("mine")
    done = archived.run("export", "latest", "-o", target)
    assert done.code == 2
    assert "`--force` overwrites it" in done.err
    with open(target) as stream:
        assert stream.read() == "mine"
    assert archived.run("export", "latest", "-o", target, "--force").code == 0
    assert os.listdir(archived.home).count("run.jsonl") == 1
    assert not [name for name in os.listdir(archived.home) if ".new-" in name]


def test_export_all_writes_the_sessions_that_match_the_filters(archived: Person) -> None:
    """Subagents are written where their parents' trajectories say they are."""
    folder = os.path.join(archived.home, "trajectories")
    report = json.loads(archived.run("export", "--all", "--format", "atif", "-o", folder, "--json").out)
    names = {os.path.basename(file["path"]) for file in report["files"]}
    assert len(names) == 3
    with open(os.path.join(folder, f"claude_code_{FIRST}.json")) as stream:
        assert f"claude_code_{FIRST}_agent-abc123.json" in stream.read()
    assert f"claude_code_{FIRST}_agent-abc123.json" in names
    other = os.path.join(archived.home, "other")
    assert "Wrote 1 session" in archived.run("export", "--all", "--project", "/w/other", "-o", other).out
    assert os.listdir(other) == [f"claude_code_{SECOND}.jsonl"]


def test_chat_messages_can_be_read_again(archived: Person) -> None:
    """Preheat can read the file again."""
    target = os.path.join(archived.home, "chats")
    report = json.loads(archived.run("export", "--all", "--format", "openai", "-o", target, "--json").out)
    assert len(report["files"]) == 3
    path = os.path.join(target, f"claude_code_{FIRST}.chat.json")
    assert detect(path).agent == "openai_chat"
    (session,) = read(path)
    assert session.id == FIRST
    assert session.events


def test_raw_export_is_what_the_agent_wrote(archived: Person) -> None:
    target = os.path.join(archived.home, "copy.jsonl")
    assert archived.run("export", "0f3c1a2b", "--format", "raw", "-o", target).code == 0
    with open(target, "rb") as stream:
        assert stream.read() == first_session().data()
