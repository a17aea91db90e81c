"""Hermes stores messages again when it compacts, rotates or branches: each counts once all the same."""

import os
from collections.abc import Iterator

import pytest

from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Rewind,
    Session,
    ToolCall,
    ToolResult,
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)
from tests.agents.hermes_database import HermesDatabase, call, terminal

SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n## Historical Task\nPart {}."
    "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
)


@pytest.fixture
def path(tmp_path: object) -> str:
    return os.path.join(str(tmp_path), "state.db")


@pytest.fixture
def database(path: str) -> Iterator[HermesDatabase]:
    with HermesDatabase(path) as database:
        yield database


def sessions(path: str) -> dict[str, Session]:
    return {session.id: session for session in read(path, READER)}


def contents(session: Session) -> list[str]:
    """User and assistant texts, and the calls, in order."""
    found = []
    for event in session.events:
        if isinstance(event, UserMessage | AssistantMessage) and event.text:
            found.append(event.text)
        elif isinstance(event, ToolCall):
            found.append(event.call_id)
        elif isinstance(event, Compaction):
            found.append("COMPACTED")
    return found


def conversation(database: HermesDatabase, session: str, numbers: range) -> None:
    for number in numbers:
        database.message(session, "user", f"ask {number}")
        database.turn(session, f"c{number}", f"out {number}", exit_code=number)
        database.message(session, "assistant", f"answer {number}")


def test_three_compactions_in_place_count_everything_once(database: HermesDatabase, path: str) -> None:
    """Flags do not tell the generations apart: all rows of the middle ones are compacted away."""
    database.session("s")
    for generation in range(3):
        conversation(database, "s", range(generation * 3, generation * 3 + 3))
        database.compact("s", 2, 5, SUMMARY.format(generation))
    conversation(database, "s", range(9, 10))
    session = sessions(path)["s"]
    expected = []
    for number in range(10):
        expected += [f"ask {number}", f"c{number}", f"answer {number}"]
        expected += ["COMPACTED"] if number in (2, 5, 8) else []
    assert contents(session) == expected
    assert [result.exit_code for _, result in pair_calls_with_results(session) if result] == list(range(10))
    assert sum(isinstance(event, ToolResult) for event in session.events) == 10
    summaries = [event.summary for event in session.events if isinstance(event, Compaction)]
    assert [f"Part {n}." in summary for n, summary in enumerate(summaries)] == [True] * 3


def test_two_compactions_in_a_row_are_two_events(database: HermesDatabase, path: str) -> None:
    database.session("s")
    conversation(database, "s", range(3))
    database.compact("s", 2, 3, SUMMARY.format(1))
    database.compact("s", 2, 2, SUMMARY.format(2))
    assert [each for each in contents(sessions(path)["s"]) if each != "COMPACTED"] == [
        f"{what}{n}" for n in range(3) for what in ("ask ", "c", "answer ")
    ]


def test_a_compaction_may_keep_only_the_summary(database: HermesDatabase, path: str) -> None:
    """With `protect_first_n: 0` and no tail."""
    database.session("s")
    conversation(database, "s", range(2))
    database.compact("s", 0, 0, SUMMARY.format(1))
    database.message("s", "user", "ask 0")
    assert contents(sessions(path)["s"])[-2:] == ["COMPACTED", "ask 0"]


def test_the_same_text_twice_is_two_messages(database: HermesDatabase, path: str) -> None:
    """Repeating the first prompt or `continue`, before and after a compaction, makes no copy."""
    database.session("s")
    for text in ("go", "yes", "continue", "well", "go", "yes", "continue", "fine"):
        database.message("s", "user" if text in ("go", "continue") else "assistant", text)
    database.compact("s", 2, 3, SUMMARY.format(1))
    for text in ("continue", "fine", "go", "yes"):
        database.message("s", "user" if text in ("go", "continue") else "assistant", text)
    assert contents(sessions(path)["s"]) == [
        *("go", "yes", "continue", "well", "go", "yes", "continue", "fine"),
        *("COMPACTED", "continue", "fine", "go", "yes"),
    ]


def test_copies_with_the_times_of_the_originals_count_once(database: HermesDatabase, path: str) -> None:
    """In a session that was resumed before, copies keep the originals' times."""
    database.session("s")
    conversation(database, "s", range(3))
    database.compact("s", 2, 4, SUMMARY.format(1))
    # The prompts keep theirs; messages of the newest turn have no time yet and get the time of storing.
    database.connection.execute(
        "UPDATE messages AS copy SET timestamp = (SELECT first.timestamp FROM messages AS first"
        " WHERE first.content = copy.content AND first.compacted = 1)"
        " WHERE copy.active = 1 AND copy.content IN ('ask 0', 'ask 2')"
    )
    conversation(database, "s", range(3, 4))
    assert contents(sessions(path)["s"]) == [
        *(f"{what}{n}" for n in range(3) for what in ("ask ", "c", "answer ")),
        *("COMPACTED", "ask 3", "c3", "answer 3"),
    ]


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_summary_is_neither_a_prompt_nor_an_answer(database: HermesDatabase, path: str, role: str) -> None:
    database.session("s")
    conversation(database, "s", range(2))
    database.compact("s", 1, 2, SUMMARY.format(1), role)
    session = sessions(path)["s"]
    assert contents(session).count("COMPACTED") == 1
    assert not any("COMPACTION" in text for text in contents(session))


def test_a_summary_merged_into_the_next_message_is_split_off(database: HermesDatabase, path: str) -> None:
    """Newer versions put the old message first, under a heading; it is a copy."""
    database.session("s")
    conversation(database, "s", range(2))
    database.compact("s", 1, 1, "")
    merged = (
        "[PRIOR CONTEXT — for reference only; not a new message]\nanswer 1\n\n"
        f"[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{SUMMARY.format(1)}"
    )
    database.connection.execute("UPDATE messages SET content = ? WHERE active = 1 AND content = 'answer 1'", (merged,))
    session = sessions(path)["s"]
    assert contents(session) == ["ask 0", "c0", "answer 0", "ask 1", "c1", "answer 1", "COMPACTED"]
    (compaction,) = (event for event in session.events if isinstance(event, Compaction))
    assert "answer 1" not in compaction.summary
    assert "Part 1." in compaction.summary


def test_a_merged_message_that_was_never_stored_before_is_kept(database: HermesDatabase, path: str) -> None:
    """Compaction before the first answer: the newest prompt exists only inside the merged row. Older form."""
    database.session("s")
    conversation(database, "s", range(2))
    merged = {"session_id": "s", "role": "user", "content": f"{SUMMARY.format(1)}\n\nask again"}
    database.compact("s", 0, 0, "")
    database.store_together([merged])
    assert contents(sessions(path)["s"])[-2:] == ["COMPACTED", "ask again"]


def test_a_prompt_before_a_summary_in_one_message_is_split_off(database: HermesDatabase, path: str) -> None:
    """The newest prompt may come before the summary in one row: the prompt is a copy, the summary no prompt."""
    database.session("s")
    conversation(database, "s", range(2))
    database.compact("s", 0, 0, "")
    database.store_together([{"session_id": "s", "role": "user", "content": f"ask 1\n\n{SUMMARY.format(1)}"}])
    assert contents(sessions(path)["s"])[-4:] == ["ask 1", "c1", "answer 1", "COMPACTED"]


def test_the_older_mark_of_a_summary_is_recognised(database: HermesDatabase, path: str) -> None:
    database.session("s")
    database.message("s", "user", "[CONTEXT SUMMARY]: We did things.")
    assert contents(sessions(path)["s"]) == ["COMPACTED"]


def test_a_child_after_rotation_by_an_older_version_is_read(tmp_path: object) -> None:
    """Copies are stored one by one, with new times; text that the child repeats itself is kept."""
    path = os.path.join(str(tmp_path), "state.db")
    with HermesDatabase(path, version=13) as database:
        database.session("parent", end_reason="compression")
        conversation(database, "parent", range(3))
        database.session("child", parent_session_id="parent")
        database.message("child", "user", "ask 0")
        database.message("child", "assistant", SUMMARY.format(1))
        database.message("child", "user", "ask 2")
        database.message("child", "assistant", tool_calls=[call("c2", command="run c2")])
        database.message("child", "tool", "[terminal] ran `run c2` -> exit 2, 1 lines output", tool_call_id="c2")
        database.message("child", "assistant", "answer 2")
        database.message("child", "user", "ask 0")
        database.turn("child", "c9")
    found = sessions(path)
    assert (found["child"].relation, found["child"].parent) == ("compaction", "parent")
    assert contents(found["child"]) == ["COMPACTED", "ask 0", "c9"]


def test_a_branch_begins_where_the_copies_end(database: HermesDatabase, path: str) -> None:
    """Also a branch of a compacted session: the parent's summary is no compaction of the branch."""
    database.session("parent", end_reason="branched", cwd="/work", git_branch="main")
    conversation(database, "parent", range(2))
    database.compact("parent", 1, 2, SUMMARY.format(1))
    live = database.connection.execute("SELECT role, content, tool_calls, tool_call_id FROM messages WHERE active = 1")
    database.session("branch", parent_session_id="parent", model_config={"_branched_from": "parent"})
    for row in live.fetchall():
        database.message("branch", **dict(row))
    conversation(database, "branch", range(5, 6))
    database.message("parent", "user", "ask 5")
    branch = sessions(path)["branch"]
    assert (branch.relation, branch.parent, branch.project) == ("fork", "parent", "/work")
    assert contents(branch) == ["ask 5", "c5", "answer 5"]


def test_relations_are_distinguished(database: HermesDatabase, path: str) -> None:
    """Subagents, branches and compactions all have a parent."""
    database.session("p", end_reason="compression")
    delegated = {"_delegate_from": "p"}
    database.session("a", parent_session_id="p", source="subagent", model_config=delegated)
    database.session("b", parent_session_id="a", source="subagent", model_config=delegated)
    database.session("c", parent_session_id="p")
    database.session("d", source="subagent", model_config={"_delegate_from": "__orphaned__"})
    database.session("e", parent_session_id="c", model_config={"_branched_from": "c"})
    database.session("f", parent_session_id="c")
    database.session("g", parent_session_id="gone")
    database.connection.execute("UPDATE sessions SET end_reason = 'compression' WHERE id = 'a'")
    found = {name: (each.relation, each.parent) for name, each in sessions(path).items()}
    assert found == {
        "p": (None, None),
        "a": ("subagent", "p"),
        "b": ("compaction", "a"),
        "c": ("compaction", "p"),
        "d": ("subagent", None),
        "e": ("fork", "c"),
        "f": ("continuation", "c"),
        "g": ("continuation", "gone"),
    }


def test_rewound_messages_are_read_and_removed(database: HermesDatabase, path: str) -> None:
    """Rewound rows are inactive and not compacted; the events stay, a `Rewind` follows them."""
    database.session("s")
    conversation(database, "s", range(1))
    to = database.message("s", "user", "bad idea")
    database.turn("s", "c1", exit_code=1)
    database.rewind("s", to)
    conversation(database, "s", range(2, 3))
    session = sessions(path)["s"]
    assert "bad idea" in contents(session)
    kept = surviving_events(session)
    assert not any(isinstance(event, UserMessage) and event.text == "bad idea" for event in kept)
    assert [event.call_id for event in kept if isinstance(event, ToolCall)] == ["c0", "c2"]
    assert sum(isinstance(event, Rewind) for event in session.events) == 1


def test_messages_rewound_at_the_end_of_a_session_are_removed(tmp_path: object) -> None:
    """Schema 16 has `active` but no `compacted`: inactive means rewound."""
    path = os.path.join(str(tmp_path), "state.db")
    with HermesDatabase(path, version=16) as database:
        database.session("s")
        conversation(database, "s", range(1))
        database.rewind("s", database.message("s", "user", "no"))
    session = sessions(path)["s"]
    assert [event.text for event in surviving_events(session) if isinstance(event, UserMessage)] == ["ask 0"]


def test_rewinding_to_a_copy_rewinds_the_original(database: HermesDatabase, path: str) -> None:
    """After a compaction the person rewinds to a message of the kept tail."""
    database.session("s")
    conversation(database, "s", range(3))
    database.compact("s", 1, 4, SUMMARY.format(1))
    (copy,) = database.connection.execute("SELECT MAX(id) FROM messages WHERE content = 'ask 2'").fetchone()
    database.rewind("s", copy)
    conversation(database, "s", range(7, 8))
    session = sessions(path)["s"]
    assert contents(session).count("ask 2") == 1
    kept = [event.call_id for event in surviving_events(session) if isinstance(event, ToolCall)]
    assert kept == ["c0", "c1", "c7"]


def test_a_result_belongs_to_the_newest_call_with_its_id(database: HermesDatabase, path: str) -> None:
    """Some models count calls again in each response: these are not copies, since nothing was compacted."""
    database.session("s")
    for number in range(3):
        database.message("s", "assistant", tool_calls=[call("call_0", command=f"echo {number}")])
        database.message("s", "tool", terminal(str(number), number), tool_call_id="call_0")
    pairs = [
        (made.input["command"], result.exit_code)
        for made, result in pair_calls_with_results(sessions(path)["s"])
        if result
    ]
    assert pairs == [("echo 0", 0), ("echo 1", 1), ("echo 2", 2)]
