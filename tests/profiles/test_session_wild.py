"""Any session at all has a profile: properties over random events in any order."""

import math
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.ingest.source_rows import make_session_rows
from preheat.model.outcome import CAUSES, FAILURES, RUNGS, STATUSES, Outcome
from preheat.model.profile import CallRecord, Rate, SessionProfile
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Rewind,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from preheat.profiles import profile_session, trace

times = st.none() | st.floats(-1e12, 1e12)
texts = st.sampled_from(["", "x", "why?", "/go", "src/a.py and ```\nx\n```", "é" * 300])
names = st.sampled_from(["", "a", "b", "c"])
values = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | texts, lambda inner: st.lists(inner, max_size=2))
arguments = st.dictionaries(
    st.sampled_from(["command", "file_path", "path", "text", "changes", "workdir", "x"]),
    values | st.sampled_from(["git commit", "cat a.py", "sed -i x a.py", "a.py", "*** Update File: a.py\n"]),
    max_size=3,
)
usages = st.none() | st.builds(Usage, *[st.integers(0, 10**9)] * 5)
events: Any = st.one_of(
    st.builds(
        ToolCall, line=st.integers(0, 50), at=times, call_id=names, tool=st.sampled_from(["Bash", "ask", "T", ""]),
        kind=st.sampled_from(["read", "edit", "write", "shell", "search", "web", "plan", "delegate", "other"]),
        input=arguments, response=names,
    ),
    st.builds(
        ToolResult, line=st.integers(0, 50), at=times, call_id=names, text=texts, seconds=times,
    ),
    st.builds(UserMessage, line=st.integers(0, 50), at=times, text=texts, origin=st.sampled_from(["human", "injected"])),
    st.builds(AssistantMessage, line=st.integers(0, 50), at=times, text=texts, response=names, usage=usages),
    st.builds(Compaction, line=st.integers(0, 50), tokens_before=st.none() | st.integers(0, 10**9)),
    st.builds(Rewind, line=st.integers(0, 50), after=st.integers(0, 50)),
    st.builds(Other, line=st.integers(0, 50), name=st.sampled_from(["x", "context_window"]), raw=values),
)  # fmt: skip


@st.composite
def judged(draw: Any) -> tuple[Session, tuple[Outcome, ...]]:
    found: list[Event] = draw(st.lists(events, max_size=40))
    session = Session(agent="some", id="wild", started_at=draw(times), ended_at=draw(times), events=tuple(found))
    verdicts = []
    for event in found:
        if isinstance(event, ToolCall):
            status = draw(st.sampled_from(STATUSES))
            cause = draw(st.none() | st.sampled_from(CAUSES)) if status in FAILURES else None
            signature = draw(st.sampled_from(["", "one", "two"])) if cause else ""
            verdicts.append(Outcome(event.call_id, status, draw(st.sampled_from(RUNGS)), None, signature, cause))
    return session, tuple(verdicts)


def sound(rate: Rate) -> bool:
    if not rate.total:
        return rate == Rate(0, 0)
    assert rate.low is not None
    assert rate.value is not None
    assert rate.high is not None
    return 0 <= rate.count <= rate.total and 0 <= rate.low <= rate.value <= rate.high <= 1


def numbers(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)]
    return [value] if isinstance(value, float) else []


@settings(max_examples=300, deadline=None)
@given(judged())
def test_any_session_has_a_sound_profile(given_session: tuple[Session, tuple[Outcome, ...]]) -> None:
    session, outcomes = given_session
    records = trace(session, outcomes)
    found = profile_session(session, outcomes, records)
    rates = [
        found.errors, found.mistakes, found.early, found.late, found.recovery, found.repeats, found.repeated_failures,
        found.rereads, *(rate for use in found.tools.values() for rate in (use.errors, use.mistakes)),
    ]  # fmt: skip
    assert all(sound(rate) for rate in rates)
    assert found.calls + found.bookkeeping_calls == len(outcomes) == len(records)
    assert sum(found.statuses.values()) == sum(found.rungs.values()) == found.calls
    assert sum(use.calls for use in found.tools.values()) == found.calls
    assert sum(found.causes.values()) == sum(use.errors.count for use in found.tools.values()) == found.errors.count
    assert found.causes.get("mistake", 0) == found.mistakes.count <= found.errors.count
    assert found.messages == make_session_rows(session).counts["messages"]
    assert 0 <= found.proficiency <= 1
    assert found.lost_seconds <= 600 * found.errors.count
    assert all(math.isfinite(number) for number in numbers(msgspec.to_builtins(found)))


@settings(max_examples=150, deadline=None)
@given(judged())
def test_what_is_stored_is_what_was_measured(given_session: tuple[Session, tuple[Outcome, ...]]) -> None:
    """Records and profile go through JSON unchanged, and a second measurement gives the same."""
    session, outcomes = given_session
    records = trace(session, outcomes)
    found = profile_session(session, outcomes, records)
    assert trace(session, outcomes) == records
    assert msgspec.json.decode(msgspec.json.encode(records), type=tuple[CallRecord, ...]) == records
    assert msgspec.json.decode(msgspec.json.encode(found), type=SessionProfile) == found


@settings(max_examples=150, deadline=None)
@given(judged())
def test_records_are_consistent(given_session: tuple[Session, tuple[Outcome, ...]]) -> None:
    records = trace(*given_session)
    for record in records:
        assert record.recovered_in is None or (1 <= record.recovered_in <= 5 and record.status in FAILURES)
        assert record.seconds is None or record.seconds >= 0
        assert 0 <= record.lost_seconds <= 600
        assert record.lost_tokens >= 0
        assert record.status in FAILURES or (record.lost_seconds, record.lost_tokens) == (0.0, 0)
        if record.recovered_in is not None:
            assert records[record.seq + record.recovered_in].status in ("ok", "empty")
    assert [record.seq for record in records] == list(range(len(records)))
