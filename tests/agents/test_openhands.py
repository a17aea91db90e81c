"""Reading OpenHands: folders of conversations of the SDK, and histories of older versions."""

import json
import os
import shutil
from typing import Any

import pytest

from preheat.agents.openhands import PLACES, discover
from preheat.agents.openhands.reader import READER
from preheat.agents.openhands.storage import dump, parts
from preheat.agents.sources import detect, read
from preheat.errors import SourceUnreadable
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.shared import FIXTURES, SHARED, needs_corpus

NAME = "aaaaaaaabbbb4ccc8dddeeeeeeeeeeee"
ROOT = os.path.join(FIXTURES, "openhands", "conversations")
STATE = os.path.join(ROOT, NAME, "base_state.json")
CHILD = os.path.join(ROOT, NAME, "subagents", "99999999bbbb4ccc8dddeeeeeeeeeeee", "base_state.json")


def session_of(path: str = STATE) -> Session:
    (session,) = read(path, READER)
    return session


def results() -> dict[str, ToolResult | None]:
    return {call.call_id: result for call, result in pair_calls_with_results(session_of())}


def parse(value: Any, path: str = "events.json") -> list[Session]:
    parser = READER.parser(path)
    parser.feed(value if isinstance(value, bytes) else json.dumps(value).encode(), 1)
    return parser.take()


# The SDK's folders.
def test_the_error_flag_and_the_exit_code_are_separate() -> None:
    """A command that exits with 1 is no error of the tool; a missing file is."""
    found = results()
    assert found["c1"] is not None
    assert (found["c1"].exit_code, found["c1"].is_error, found["c1"].text) == (1, False, "1 failed")
    assert found["c2"] is not None
    assert (found["c2"].exit_code, found["c2"].is_error) == (None, True)


def test_exit_code_minus_one_means_still_running() -> None:
    result = results()["c3"]
    assert result is not None
    assert (result.exit_code, result.detail) == (None, {"running": True, "timeout": True})


def test_an_error_of_the_program_is_the_result_of_its_call() -> None:
    """The arguments could not be parsed, so there was no action, but a call."""
    pairs = {call.call_id: (call, result) for call, result in pair_calls_with_results(session_of())}
    call, result = pairs["c4"]
    assert call.input == {"text": '{"comand": 1'}
    assert result is not None
    assert (result.is_error, result.detail) == (True, {"agent_error": True})


def test_a_refusal_by_a_person_is_an_error_result() -> None:
    result = results()["c5"]
    assert result is not None
    assert (result.is_error, result.text, result.detail) == (True, "Not that.", {"rejected": "user"})


def test_calls_of_one_response_share_its_text_and_tokens() -> None:
    session = session_of()
    first, second = list(pair_calls_with_results(session))[:2]
    assert first[0].response == second[0].response == "r1"
    assert (first[0].kind, second[0].kind) == ("shell", "read")
    answers = [event for event in session.events if isinstance(event, AssistantMessage) and event.response == "r1"]
    assert [(event.text, event.usage) for event in answers] == [
        ("Two things.", Usage(input=50, output=10, cache_write=50))
    ]
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["Tests and a look."]


def test_tokens_of_condenser_and_titles_are_part_of_the_total() -> None:
    session = session_of()
    assert session.reported == sum_usage(session) == Usage(input=390, output=73, cache_read=300, cache_write=50)


def test_a_condensation_is_a_compaction() -> None:
    (event,) = [event for event in session_of().events if isinstance(event, Compaction)]
    assert (event.trigger, event.summary) == ("condenser", "Tests fail.")


def test_an_event_with_an_earlier_parent_is_a_rewind() -> None:
    """Updates of the state are not part of the tree of events."""
    (event,) = [event for event in session_of().events if isinstance(event, Rewind)]
    prompt = next(event for event in session_of().events if isinstance(event, UserMessage))
    assert event.after == prompt.line


def test_messages_have_the_origin_of_their_author() -> None:
    prompts = [(event.origin, event.text[:10]) for event in session_of().events if isinstance(event, UserMessage)]
    assert prompts == [
        ("human", "Run the te"),
        ("injected", "<EXTRA_INF"),
        ("human", "No, start "),
        ("injected", "Your last "),
    ]


def test_subagents_are_child_sessions() -> None:
    (spawn,) = [event for event in session_of().events if isinstance(event, Spawn)]
    child = session_of(CHILD)
    assert spawn.session == child.id
    assert (child.parent, child.relation) == (NAME, "subagent")


def test_the_heading_is_read_without_setup_and_secrets() -> None:
    session = session_of()
    assert (session.id, session.project, session.model, session.title) == (NAME, "/w", "scripted", "Run the tests")
    state = next(event for event in session.events if isinstance(event, Other))
    assert not {"secret_registry", "agent_state", "stats"} & state.raw.keys()


def test_conversations_are_found(tmp_path: Any) -> None:
    shutil.copytree(ROOT, tmp_path / "conversations")
    found = sorted(each.path for each in discover(str(tmp_path / "conversations")))
    assert [os.path.basename(os.path.dirname(path))[:8] for path in found] == ["aaaaaaaa", "99999999"]
    assert PLACES.roots({"OPENHANDS_CONVERSATIONS_DIR": "/x"}) == ["/x"]
    assert PLACES.roots({"OPENHANDS_PERSISTENCE_DIR": "/y"}) == [os.path.join("/y", "conversations")]
    home = PLACES.roots({"HOME": "/h", "USERPROFILE": "/h"})
    assert home == [os.path.join("/h", ".openhands", "conversations")]


def test_a_new_event_changes_the_stamp(tmp_path: Any) -> None:
    shutil.copytree(ROOT, tmp_path / "c")
    path = str(tmp_path / "c" / NAME / "base_state.json")
    (before,) = parts(path)
    events = tmp_path / "c" / NAME / "events"
    os.utime(events, (1, 1))
    assert parts(path) != [before]


def test_a_damaged_event_does_not_affect_others(tmp_path: Any) -> None:
    shutil.copytree(ROOT, tmp_path / "c")
    folder = tmp_path / "c" / NAME
    victim = next(name for name in os.listdir(folder / "events") if name.startswith("event-00004"))
    (folder / "events" / victim).write_bytes(b'{"kind": "Obs')
    session = session_of(str(folder / "base_state.json"))
    assert len(session.problems) == 1
    assert victim in session.problems[0].message
    assert len(list(pair_calls_with_results(session))) == 5


def test_events_are_read_despite_a_damaged_state(tmp_path: Any) -> None:
    shutil.copytree(ROOT, tmp_path / "c")
    path = tmp_path / "c" / NAME / "base_state.json"
    path.write_bytes(b'{"id": "aaaa')
    assert READER.detect(path.read_bytes(), str(path))
    assert len(list(pair_calls_with_results(session_of(str(path))))) == 5
    with pytest.raises(SourceUnreadable):
        parts(str(tmp_path / "nowhere" / "base_state.json"))


def test_events_are_ordered_by_number(tmp_path: Any) -> None:
    """From 100,000 on names sort in another order than numbers."""
    shutil.copytree(ROOT, tmp_path / "c")
    folder = tmp_path / "c" / NAME
    late = {"id": "z", "kind": "PauseEvent", "source": "user", "timestamp": "2026-05-01T13:00:00"}
    (folder / "events" / "event-100000-00000000-0000-4000-8000-00000000000z.json").write_text(json.dumps(late))
    lines = [json.loads(line) for line in dump(str(folder / "base_state.json"), "")]
    assert [line["value"].get("kind") for line in lines if line["record"] == "event"][-1] == "PauseEvent"


def test_reading_writes_nothing(tmp_path: Any) -> None:
    shutil.copytree(ROOT, tmp_path / "c")
    before = {path: os.stat(path).st_mtime_ns for path in map(str, sorted((tmp_path / "c").rglob("*")))}
    session_of(str(tmp_path / "c" / NAME / "base_state.json"))
    assert {path: os.stat(path).st_mtime_ns for path in map(str, sorted((tmp_path / "c").rglob("*")))} == before


def test_a_single_event_file_is_no_session() -> None:
    """A folder that a person names is read by its state file."""
    head = b'{"id": "a", "timestamp": "t", "source": "user", "kind": "MessageEvent"}'
    assert not READER.detect(head, os.path.join("c", "events", "event-00000-a.json"))
    assert READER.detect(b"[" + head + b"]", "exported.json")


def test_a_call_of_another_agent_counts_once() -> None:
    """Its event is repeated whenever the status changes."""
    base = {"kind": "ACPToolCallEvent", "source": "agent", "timestamp": "2026-05-01T12:00:00", "tool_call_id": "x"}
    more = {"title": "Run make", "tool_kind": "execute", "raw_input": {"command": "make"}}
    (session,) = parse(
        [
            {**base, **more, "id": "1", "status": "pending"},
            {**base, **more, "id": "2", "status": "in_progress"},
            {**base, **more, "id": "3", "status": "failed", "raw_output": "no rule"},
        ]
    )
    ((call, result),) = pair_calls_with_results(session)
    assert (call.kind, call.input) == ("shell", {"command": "make"})
    assert result is not None
    assert (result.is_error, result.text) == (True, "no rule")


# Before the SDK.
def runs() -> list[Session]:
    return read(os.path.join(FIXTURES, "openhands", "output.jsonl"), READER)


def test_results_are_matched_by_the_event_that_caused_them() -> None:
    """A model may use one call id twice."""
    pairs = list(pair_calls_with_results(runs()[0]))
    assert [call.input.get("command") for call, _ in pairs] == ["ls", "view", "sleep 99"]
    first, second, third = (result for _, result in pairs)
    assert first is not None
    assert (first.exit_code, first.is_error, first.text) == (0, None, "a.py")
    assert second is not None
    assert (second.is_error, second.detail) == (True, {"error": "NOT_FOUND"})
    assert third is not None
    assert (third.exit_code, third.detail) == (None, {"running": True})


def test_a_response_counts_once() -> None:
    """Each of its calls and results carries a copy of it."""
    session = runs()[0]
    assert session.reported == sum_usage(session) == Usage(input=110, output=11)
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage)]
    assert texts == ["Look.", "Wait.", "I give up."]


def test_older_runs_are_sessions_with_all_their_records() -> None:
    first, second = runs()
    assert first.id.startswith("w__w-1-")
    assert (first.model, first.starter) == ("scripted", "headless")
    names = [event.name for event in first.events if isinstance(event, Other)]
    assert names == ["system", "recall", "recall", "error", "ending"]
    assert [event.images for event in first.events if isinstance(event, UserMessage)] == [1]
    assert [event.summary for event in first.events if isinstance(event, Compaction)] == ["Nothing found."]
    ((call, result),) = pair_calls_with_results(second)  # pairs of action and observation, no ids
    assert (call.tool, call.kind, call.input) == ("run", "shell", {"command": "ls"})
    assert result is not None
    assert result.exit_code == 2


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b'[{"id": 1'])
def test_a_file_without_history_is_a_session_with_a_problem(data: bytes) -> None:
    session = parse(data, "/some/where/cut.json")[0]
    assert session.id == "cut"
    assert {problem.file for problem in session.problems} == {"/some/where/cut.json"}


@pytest.mark.corpus
@needs_corpus
def test_real_runs_have_the_counts_of_the_corpus() -> None:
    """The corpus does not count the two `finish` calls, which have no result. One error has no recorded call."""
    path = os.path.join(SHARED, "corpus", "openhands__OpenHands", "output.jsonl")
    sessions = read(path, detect(path))
    assert len(sessions) == 2
    pairs = [pair for session in sessions for pair in pair_calls_with_results(session)]
    assert sum(call.tool != "finish" for call, _ in pairs) == 54
    assert all(result is None for call, result in pairs if call.tool == "finish")
    coded = sum(result is not None and result.exit_code is not None for _, result in pairs)
    errors = [
        event for session in sessions for event in session.events if isinstance(event, Other) and event.name == "error"
    ]
    assert (coded, len(errors)) == (25, 1)
    assert all(session.reported == sum_usage(session) for session in sessions)
    assert not [problem for session in sessions for problem in session.problems]
