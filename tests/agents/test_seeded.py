"""Messages that Preheat put into a history never count as the agent's work: with every reader, in every form a program stores,
and in Hermes's database after any compaction."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import AGENTS, reader_of, renderers_of
from preheat.agents.atif.writer import to_trajectory
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.ingest.source_rows import make_session_rows
from preheat.model.context import CALLS_WORKED_REPLY, NOTED_REPLY, PREHEAT_CALL, Context, RenderedContext
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Session,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from preheat.provisioning import FORMATS, provision, render
from preheat.testing.builders import ClaudeTranscript
from tests.agents.hermes_database import HermesDatabase, call, terminal
from tests.provisioning.builders import NOW, PROJECT, command_lesson, example, lesson, wild_lessons
from tests.shared import fixture_files
from tests.test_conformance import records

FORMS = (*FORMATS, *renderers_of("hermes"))
SUMMARY = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n## Historical Task\nPart {}."
    "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
)
HEADING, ENDING = (
    "[PRIOR CONTEXT — for reference only; not a new message]",
    "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]",
)


def warm(*lessons: Any, agent: str = "hermes") -> Context:
    chosen = lessons or (command_lesson(), example("e1", agent), example("e2", agent, command="mise run upload"))
    return provision(list(chosen), task="fix the lint", agent=agent, project=PROJECT, now=NOW, examples=True)


def in_form(context: Context, form: str) -> RenderedContext:
    return render(context, form, FORMS)


def counted(session: Session) -> dict[str, Any]:
    """Everything that the archive derives from a session's events."""
    rows = make_session_rows(session)
    counts = {name: number for name, number in rows.counts.items() if name != "events"}
    return {**counts, "opening": rows.opening, "passages": [each.text for each in rows.passages]}


# Never mined back.
def openai_file(messages: list[dict[str, Any]], count: int) -> bytes:
    """A file of a program that got messages in OpenAI's form and then worked."""
    messages_of_agent: list[dict[str, Any]] = [{"role": "user", "content": "fix the lint"}]
    for number in range(count):
        function = {"name": "terminal", "arguments": json.dumps({"command": f"make {number}"})}
        messages_of_agent.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            }
        )
        messages_of_agent.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"made {number}"})
    return json.dumps(
        {"messages": [*messages, *messages_of_agent, {"role": "assistant", "content": "It is fixed."}]}
    ).encode()


def anthropic_file(messages: list[dict[str, Any]], count: int, system: Any = None) -> bytes:
    messages_of_agent: list[dict[str, Any]] = [{"role": "user", "content": "fix the lint"}]
    for number in range(count):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "terminal", "input": {"command": f"make {number}"}}
        messages_of_agent.append({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"made {number}"}
        messages_of_agent.append({"role": "user", "content": [result]})
    document = {
        "messages": [
            *messages,
            *messages_of_agent,
            {"role": "assistant", "content": [{"type": "text", "text": "It is fixed."}]},
        ]
    }
    return json.dumps({"system": system, **document} if system else document).encode()


def fed(agent: str, data: bytes) -> Session:
    parser = reader_of(agent).parser("chat.json")
    parser.feed(data, 1)
    (session,) = parser.take()
    return session


def without_task(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return messages[:-1] if messages and messages[-1]["role"] == "user" else messages


@settings(deadline=None, max_examples=60)
@given(lessons=wild_lessons(), count=st.integers(0, 3), real=st.booleans())
def test_messages_of_preheat_are_never_counted(lessons: list[Any], count: int, real: bool) -> None:
    """Counts and searchable texts are those of a session that started cold, whatever the lessons are."""
    context = warm(*lessons, command_lesson(), example("e1", "hermes")) if real else warm(*lessons)
    openai = in_form(context, "openai").document
    assert counted(fed("openai_chat", openai_file(without_task(openai), count))) == counted(
        fed("openai_chat", openai_file([], count))
    )
    anthropic = in_form(context, "anthropic").document
    given_ = without_task(anthropic["messages"])
    assert counted(fed("anthropic_messages", anthropic_file(given_, count, anthropic.get("system")))) == counted(
        fed("anthropic_messages", anthropic_file([], count))
    )
    history = in_form(context, "hermes-history").document["conversation_history"]
    assert counted(fed("openai_chat", openai_file(history, count))) == counted(
        fed("openai_chat", openai_file([], count))
    )


def test_messages_of_preheat_are_kept_as_other_events() -> None:
    """Texts of the user role have the origin `preheat`."""
    openai = in_form(warm(), "hermes-history").document["conversation_history"]
    session = fed("openai_chat", openai_file(openai, 1))
    aside = [
        (each.name, each.raw) for each in session.events if isinstance(each, Other) and each.name[:8] == "preheat."
    ]
    assert [name for name, _ in aside] == [
        "preheat.said", *["preheat.call", "preheat.result"] * 2, "preheat.said",
    ]  # fmt: skip
    assert aside[0][1] == NOTED_REPLY
    assert aside[-1][1] == CALLS_WORKED_REPLY
    assert aside[1][1]["input"] == {"command": "mise run lint"}
    assert aside[2][1]["text"] == "(1 line of output)"
    assert [each.origin for each in session.events if isinstance(each, UserMessage)] == ["preheat", "preheat", "human"]


def test_a_model_that_repeats_preheats_words_is_counted() -> None:
    """Its words have usage."""
    transcript = ClaudeTranscript().prompt("go").answer(CALLS_WORKED_REPLY, Usage(input=1, output=2))
    (session,) = [each for each in fed_lines("claude_code", transcript) if each.id]
    assert [each.text for each in session.events if isinstance(each, AssistantMessage)] == [CALLS_WORKED_REPLY]


def fed_lines(agent: str, transcript: ClaudeTranscript) -> list[Session]:
    parser = reader_of(agent).parser("t.jsonl")
    parser.feed(transcript.data(), 1)
    return parser.take()


NAMELESS = {"aider", "sharegpt", "specstory"}
"""Formats that keep no ids of calls: nothing of ours can be told there but our texts."""


def renamed(agent: str, name: str) -> Iterator[tuple[str, Session, Session]]:
    """Every source of a recorded file as it is, and with a call renamed to an id of Preheat's; with that id."""
    for path, part, data in records(agent, name):
        before = parsed(agent, path, part, data)
        for place, session in enumerate(before):
            ids = [each.call_id for each in session.events if isinstance(each, ToolCall)]
            quoted = {each: json.dumps(each).encode() for each in ids if each}
            own = next((each for each in quoted if ids.count(each) == 1 and quoted[each] in data), "")
            if own:
                changed = data
                for quote in (b'"', b'\\"'):  # some keep JSON as text in JSON
                    ours = (PREHEAT_CALL + own).encode().join((quote, quote))
                    changed = changed.replace(own.encode().join((quote, quote)), ours)
                yield own, session, parsed(agent, path, part, changed)[place]  # some are named by their contents


def parsed(agent: str, path: str, part: str, data: bytes) -> list[Session]:
    parser = reader_of(agent).parser(path, part)
    parser.feed(data, 1)
    return parser.take()


def test_every_reader_turns_calls_of_preheat_into_other_events() -> None:
    """One call of each recorded session gets an id of Preheat's: only that call is no call any more."""
    seen: Counter[str] = Counter()
    for agent in AGENTS:
        for name in fixture_files(agent):
            for own, before, after in renamed(agent, name):
                for kind in (ToolCall, ToolResult):
                    ids = [each.call_id for each in before.events if isinstance(each, kind)]
                    # The same id again, in a later answer, has its place behind it.
                    ours = [each for each in ids if each == own or each.startswith(f"{own} ")]
                    kept = [each.call_id for each in after.events if isinstance(each, kind)]
                    assert Counter(kept) == Counter(ids) - Counter(ours), (agent, name)
                seen[agent] += 1
    assert set(AGENTS) - set(seen) <= NAMELESS, sorted(set(AGENTS) - set(seen))


# In Hermes's own database.
@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state.db")


def seed(database: HermesDatabase, session: str, at: float) -> None:
    """Preheat's messages as an import stores them: a microsecond apart."""
    for place, message in enumerate(in_form(warm(), "hermes-import").document["messages"]):
        row = {name: json.dumps(value) if name == "tool_calls" else value for name, value in message.items()}
        database.add("messages", {"session_id": session, "timestamp": at + place * 1e-6, **row})


def work(database: HermesDatabase, session: str, numbers: range) -> None:
    for number in numbers:
        database.turn(session, f"call_{number}", f"out {number}", exit_code=number % 2)


def restored(database: HermesDatabase, rows: list[dict[str, Any]], old: float) -> None:
    """Store rows again as a compaction of a resumed session does: older rows keep their times."""
    database.clock += 1
    for place, row in enumerate(rows):
        new = {name: value for name, value in row.items() if name not in ("id", "active", "compacted")}
        keeps = new.get("timestamp") is not None and new["timestamp"] < old
        database.add("messages", {**new, "timestamp": new["timestamp"] if keeps else database.clock + place * 1e-6})


def live(database: HermesDatabase, session: str) -> list[dict[str, Any]]:
    query = "SELECT * FROM messages WHERE session_id = ? AND active = 1 ORDER BY id"
    found = [dict(row) for row in database.connection.execute(query, (session,))]
    database.connection.execute(
        "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1", (session,)
    )
    return found


def own(session: Session) -> tuple[list[str], list[str], int]:
    return (
        [each.call_id for each in session.events if isinstance(each, ToolCall)],
        [each.text for each in session.events if isinstance(each, UserMessage) and each.origin == "human"],
        sum(isinstance(each, Compaction) for each in session.events),
    )


def test_an_imported_session_counts_only_what_follows_the_import(path: str) -> None:
    with HermesDatabase(path) as database:
        database.session("s", cwd="/w/shop")
        seed(database, "s", database.clock)
        (waiting,) = read(path, READER)
        database.message("s", "user", "fix the lint")
        work(database, "s", range(2))
        (resumed,) = read(path, READER)
    assert (waiting.starter, counted(waiting)["messages"], counted(waiting)["opening"]) == ("preheat", 0, "")
    assert resumed.starter == "human"
    counts = counted(resumed)
    assert (counts["prompts"], counts["calls"], counts["errors"], counts["opening"]) == (1, 2, 1, "fix the lint")


@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_a_resumed_and_compacted_session_counts_its_own_work_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Compacted in place, several times, with any head and tail kept, the summary alone or merged into a message."""
    path = str(tmp_path_factory.mktemp("store") / "state.db")
    done = 0
    with HermesDatabase(path) as database:
        database.session("s")
        seed(database, "s", database.clock)
        database.clock += 60
        resumed = database.clock
        database.message("s", "user", "fix the lint")
        rounds = data.draw(st.integers(1, 3))
        for turn in range(rounds):
            more = data.draw(st.integers(1, 4))
            work(database, "s", range(done, done + more))
            done += more
            rows = live(database, "s")
            head = data.draw(st.integers(0, min(7, len(rows))))
            tail = rows[len(rows) - data.draw(st.integers(0, len(rows) - head)) :]
            between = compacted(rows[:head], tail, SUMMARY.format(turn), data.draw(st.booleans()))
            restored(database, between, resumed)
        work(database, "s", range(done, done + 1))
        (session,) = read(path, READER)
    calls, prompts, compactions = own(session)
    assert calls == [f"call_{number}" for number in range(done + 1)]
    assert prompts == ["fix the lint"]
    assert compactions == rounds
    assert sum(isinstance(each, ToolResult) for each in session.events) == done + 1


def compacted(
    head: list[dict[str, Any]], tail: list[dict[str, Any]], summary: str, merged: bool
) -> list[dict[str, Any]]:
    first = tail[0] if tail else {}
    if merged and first.get("role") == "assistant":
        text = f"{HEADING}\n{first['content'] or ''}\n\n{ENDING}\n\n{summary}"
        return [*head, {**first, "content": text}, *tail[1:]]
    return [*head, {"session_id": "s", "role": "user", "content": summary}, *tail]


def test_a_message_merged_with_several_summaries_counts_once(path: str) -> None:
    """Each compaction counts once too."""
    once = f"{HEADING}\n{CALLS_WORKED_REPLY}\n\n{ENDING}\n\n{SUMMARY.format(1)}"
    with HermesDatabase(path) as database:
        database.session("s")
        seed(database, "s", database.clock)
        database.clock += 60
        database.message("s", "user", "fix the lint")
        work(database, "s", range(2))
        for text in (once, f"{HEADING}\n{once}\n\n{ENDING}\n\n{SUMMARY.format(2)}"):
            rows = live(database, "s")
            kept = rows[-5:] if "Part 2" not in text else rows[1:]
            restored(database, [{"session_id": "s", "role": "assistant", "content": text}, *kept], 0)
        (session,) = read(path, READER)
    assert own(session) == (["call_0", "call_1"], ["fix the lint"], 2)
    summaries = [each.summary for each in session.events if isinstance(each, Compaction)]
    assert ["Part 1." in summaries[0], "Part 2." in summaries[1]] == [True, True]
    assert not [each for each in session.events if isinstance(each, AssistantMessage) and each.text]


def test_copies_of_preheats_calls_in_a_rotated_session_are_not_counted(path: str) -> None:
    """The parent may be gone, so that the child cannot know them as copies."""
    with HermesDatabase(path) as database:
        database.session("child", parent_session_id="gone")
        seed(database, "child", database.clock)
        database.message("child", "user", SUMMARY.format(1))
        database.message("child", "assistant", tool_calls=[call("call_1", command="make")])
        database.message("child", "tool", terminal("made"), tool_call_id="call_1")
        (session,) = read(path, READER)
    assert own(session)[0] == ["call_1"]
    assert counted(session)["calls"] == 1


def test_a_lesson_that_contains_preheats_marks_does_no_harm() -> None:
    made = warm(lesson("x", use="make </preheat-context> x"), example("e1", "hermes"))
    history = in_form(made, "hermes-history").document["conversation_history"]
    assert counted(fed("openai_chat", openai_file(history, 1))) == counted(fed("openai_chat", openai_file([], 1)))


def test_messages_of_preheat_survive_an_atif_export() -> None:
    session = fed("openai_chat", openai_file(in_form(warm(), "hermes-history").document["conversation_history"], 2))
    parser = reader_of("atif").parser("x.json")
    parser.feed(json.dumps(to_trajectory(session)).encode(), 1)
    (back,) = parser.take()
    assert back.events == session.events
