"""The Codex reader on rollouts that hold more than their own session, on old forms, and on token counts."""

import json
from typing import Any

import pytest

from preheat.agents.codex import PLACES
from preheat.agents.codex.reader import READER
from preheat.model.session import (
    CONTEXT_WINDOW,
    AssistantMessage,
    Other,
    Session,
    ToolCall,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)  # fmt: skip
from tests.agents.codex_rollout import OWN_TURN, PARENT, PARENT_TURN, THREAD, Rollout, token_counts
from tests.agents.parsing import read_whole_and_in_pieces


def read(rollout: Rollout | bytes, path: str = "rollout.jsonl") -> Session:
    data = rollout if isinstance(rollout, bytes) else rollout.data()
    return read_whole_and_in_pieces(READER, data, path)


def texts(session: Session) -> list[str]:
    return [event.text for event in session.events if isinstance(event, UserMessage | AssistantMessage) and event.text]


def with_parents_history(rollout: Rollout) -> Rollout:
    """The parent's first record and turn, as they are copied into a child."""
    rollout.meta(PARENT).turn(PARENT_TURN).prompt("Parent's prompt.").reply("Parent's answer.")
    rollout.call("parent_call", cmd="ls").tokens(token_counts(1000, 400, 50)).output("parent_call", "x")
    return rollout.event("task_complete")


SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}


# Copies of the parent's history.
@pytest.mark.parametrize(
    ("meta", "relation"),
    [
        ({"forked_from_id": PARENT}, "fork"),
        ({"forked_from_id": PARENT, "source": SPAWNED}, "subagent"),
        ({"source": SPAWNED}, "subagent"),
        ({"parent_thread_id": PARENT, "source": {"subagent": "review"}}, "subagent"),
        ({}, None),
    ],
)
def test_a_copied_history_adds_no_events_or_tokens(meta: dict[str, Any], relation: str | None) -> None:
    """The child's token totals continue from the parent's."""
    rollout = with_parents_history(Rollout(**meta))
    rollout.turn(OWN_TURN).prompt("Child's prompt.").reply("Child's answer.")
    rollout.tokens(token_counts(1000, 400, 50)).tokens(token_counts(1300, 500, 60), token_counts(300, 100, 10))
    session = read(rollout)
    assert session.id == THREAD
    assert session.relation == relation
    assert session.parent == (PARENT if relation else None)
    assert texts(session) == ["Child's prompt.", "Child's answer."]
    assert not [event for event in session.events if isinstance(event, ToolCall)]
    assert session.reported == sum_usage(session) == Usage(input=200, cache_read=100, output=10)


def test_a_subagents_prompt_is_injected() -> None:
    session = read(with_parents_history(Rollout(source=SPAWNED)).turn().prompt("Count the files."))
    assert [event.origin for event in session.events if isinstance(event, UserMessage)] == ["injected"]


def test_a_subagents_own_part_begins_at_the_ordinal_it_names() -> None:
    """In paginated rollouts; records before the first turn then count too."""
    rollout = Rollout(source=SPAWNED, subagent_history_start_ordinal=12, history_mode="paginated")
    rollout.ordinal = 1
    with_parents_history(rollout)
    assert rollout.ordinal == 12
    rollout.message("user", "Child's prompt.").turn().reply("Child's answer.")
    assert texts(read(rollout)) == ["Child's prompt.", "Child's answer."]


def test_a_fork_that_refers_to_its_parents_file_has_only_its_own_records() -> None:
    """With a `history_base` nothing is copied, but the totals still continue from the parent's."""
    base = {"thread_id": PARENT, "end_ordinal_exclusive": 58, "end_byte_offset": 64855}
    rollout = Rollout(forked_from_id=PARENT, history_base=base).message("user", "At once.").turn()
    rollout.reply("Yes.").tokens(token_counts(1100, 0, 60), token_counts(100, 0, 10))
    session = read(rollout)
    assert (session.parent, session.relation) == (PARENT, "fork")
    assert texts(session) == ["At once.", "Yes."]
    assert session.reported == sum_usage(session) == Usage(input=100, output=10)


def test_copies_without_turn_ids_end_when_their_burst_of_writes_ends() -> None:
    lines = [
        ("00.000", "session_meta", {"id": THREAD, "forked_from_id": "b5f6c1c2"}),
        ("00.001", "session_meta", {"id": "b5f6c1c2"}),
        ("00.002", "event_msg", {"type": "task_started"}),
        ("00.003", "response_item", {"type": "message", "role": "user", "content": "Parent's."}),
        ("00.004", "event_msg", {"type": "user_message", "message": "Parent's."}),
        ("09.000", "event_msg", {"type": "task_started"}),
        ("09.001", "response_item", {"type": "message", "role": "user", "content": "Child's."}),
    ]
    data = b"".join(
        json.dumps({"timestamp": f"2026-03-01T10:00:{at}Z", "type": kind, "payload": payload}).encode() + b"\n"
        for at, kind, payload in lines
    )
    assert texts(read(data)) == ["Child's."]


def test_a_child_with_only_copies_has_no_events() -> None:
    session = read(with_parents_history(Rollout(forked_from_id=PARENT)))
    assert (session.id, session.events, session.reported) == (THREAD, (), None)


def test_the_same_first_record_again_changes_nothing() -> None:
    """Some versions repeat it at a resume."""
    rollout = Rollout().turn().prompt("One.").meta(THREAD).turn().prompt("Two.")
    assert texts(read(rollout)) == ["One.", "Two."]


def test_a_thread_that_was_rolled_back_into_a_new_file_is_a_continuation() -> None:
    """The second file has the same thread id and a name of its own: it must not replace the first."""
    other = "019d0009-0000-7000-8000-000000000009"
    name = f"sessions/2026/03/01/rollout-2026-03-01T10-00-00-{THREAD}_{other}.jsonl"
    base = {"thread_id": THREAD, "end_ordinal_exclusive": 9, "end_byte_offset": 900}
    session = read(Rollout(history_base=base).turn().prompt("Another way."), name)
    assert session.id == f"{THREAD}_{other}"
    assert (session.parent, session.relation) == (THREAD, "continuation")


# Tokens.
def test_repeated_totals_count_once() -> None:
    """Each count has the total and the last response's tokens; both are repeated when a rate limit changes."""
    first, second = token_counts(100, 30, 25, 5), token_counts(240, 160, 50, 5)
    rollout = Rollout().turn().reply("One.").tokens(first).tokens(first)
    rollout.event("token_count", info=None, rate_limits={"primary": None})
    rollout.reply("Two.").tokens(second, token_counts(140, 130, 25)).tokens(second, token_counts(6796))
    session = read(rollout)
    assert session.reported == sum_usage(session) == Usage(input=80, cache_read=160, output=50, reasoning=5)
    assert [event.usage for event in session.events if isinstance(event, AssistantMessage) and event.usage] == [
        Usage(input=70, cache_read=30, output=25, reasoning=5),
        Usage(input=10, cache_read=130, output=25),
    ]


def test_a_context_window_event_is_added_only_when_its_size_changes() -> None:
    rollout = Rollout().turn()
    for size in (258_400, 258_400, 400_000, None, "many", 400_000):
        rollout.event("token_count", info={"model_context_window": size})
    assert [
        event.raw for event in read(rollout).events if isinstance(event, Other) and event.name == CONTEXT_WINDOW
    ] == [
        258_400,
        400_000,
    ]


def test_records_of_responses_and_totals_beside_them_count_once() -> None:
    rollout = Rollout().turn()
    for number, total in enumerate((token_counts(100, 0, 10), token_counts(200, 0, 20)), 1):
        rollout.reply("Yes.")
        record = {"response_id": f"resp_{number}", "usage": token_counts(100, 0, 10), "thread_token_usage": total}
        rollout.add("token_usage_record", record).tokens(total, token_counts(100, 0, 10))
    session = read(rollout)
    assert session.reported == sum_usage(session) == Usage(input=200, output=20)


def test_a_reset_total_loses_no_tokens() -> None:
    """When the context ran over, some versions set the total to the window's size."""
    rollout = Rollout().turn().reply("One.").tokens(token_counts(500, 0, 50))
    rollout.tokens({"input_tokens": 0, "output_tokens": 0, "total_tokens": 258_400})
    rollout.reply("Two.").tokens(token_counts(100, 0, 10))
    session = read(rollout)
    assert session.reported == sum_usage(session) == Usage(input=600, output=60)


def test_a_lost_token_count_is_made_up_by_the_next_total() -> None:
    rollout = Rollout().turn().reply("One.").tokens(token_counts(100, 0, 10)).raw(b'{"type":"event_msg","payl')
    session = read(rollout.reply("Two.").tokens(token_counts(300, 0, 30), token_counts(100, 0, 10)))
    assert session.reported == sum_usage(session) == Usage(input=300, output=30)


def test_text_and_calls_of_one_response_have_the_same_response_name() -> None:
    rollout = Rollout().turn().reply("Both.").call("a", cmd="x").call("b", cmd="y").tokens(token_counts(10, 0, 1))
    rollout.output("a", "1").output("b", "2").call("c", cmd="z").tokens(token_counts(30, 0, 2))
    session = read(rollout)
    names = [call.response for call, _ in pair_calls_with_results(session)]
    assert names[0] == names[1] != names[2]
    reply = next(event for event in session.events if isinstance(event, AssistantMessage))
    assert reply.response == names[0]


# Old rollouts.
def old_rollout() -> bytes:
    output = {"output": "no such file", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}
    git = {"branch": "main"}
    records: list[dict[str, Any]] = [
        {"id": "b5f6c1c2", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": "Be brief.", "git": git},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List it."}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"record_type": "state"},
        {"type": "function_call", "name": "shell", "arguments": '{"command": ["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": json.dumps(output)},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "It is not there."}],
        },
    ]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_old_rollouts_without_envelopes_are_read() -> None:
    session = read(old_rollout())
    assert (session.id, session.branch, session.started_at) == ("b5f6c1c2", "main", 1748772000.0)
    assert texts(session) == ["List it.", "It is not there."]
    ((call, answer),) = pair_calls_with_results(session)
    assert (call.tool, call.input) == ("shell", {"command": ["ls"]})
    assert answer is not None
    assert (answer.exit_code, answer.text) == (2, "no such file")
    assert session.problems == ()


# Recognising and finding.
def test_rollouts_are_recognised_by_their_content() -> None:
    assert READER.detect(Rollout().data(), "x")
    assert READER.detect(old_rollout(), "x")
    long = Rollout(base_instructions={"text": "x" * 100_000}).data()
    assert READER.detect(long[: 64 * 1024], "x")
    assert READER.detect(b"{broken\n" + Rollout().turn().data(), "x")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{}\n",
        b"plain text\n",
        b'{"type":"user","uuid":"u","message":{"role":"user","content":"x"},"timestamp":"t"}\n',
        b'{"type":"thread.started","thread_id":"t"}\n',
        b'{"id":"x","timestamp":"t","messages":[]}\n',
        b'{"type":"session.start","data":{},"id":"x","timestamp":"t"}\n',
    ],
)
def test_other_files_are_not_taken_for_rollouts(head: bytes) -> None:
    assert not READER.detect(head, "rollout-x.jsonl")


def test_sessions_and_archive_are_searched_for_plain_and_compressed_rollouts(tmp_path: Any) -> None:
    home = tmp_path / "codex"
    wanted = [
        "sessions/2026/03/01/rollout-a.jsonl",
        "sessions/2026/03/01/rollout-b.jsonl.zst",
        "archived_sessions/rollout-c.jsonl",
    ]
    both = "sessions/2026/03/01/rollout-a.jsonl.zst"  # while it is being compressed: the same session twice
    for name in [*wanted, both, "sessions/2026/03/01/notes.txt", "history.jsonl", "sessions/x.jsonl"]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"{}\n")
    roots = PLACES.roots({"CODEX_HOME": str(home), "HOME": str(tmp_path)})
    found = {item.path for root in roots for item in PLACES.discover(root)}
    assert found == {str(home / name) for name in wanted}
    assert PLACES.roots({"HOME": "/h"}) == ["/h/.codex/sessions", "/h/.codex/archived_sessions"]
