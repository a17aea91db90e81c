"""The Hermes reader: what its sessions become, from databases the real program wrote and from built ones."""

import json
import os
import shutil
from collections.abc import Iterator

import pytest

from preheat.agents import places_of
from preheat.agents.hermes.database import dump, parts
from preheat.agents.hermes.reader import READER, TOTAL_RESPONSE, HermesParser
from preheat.agents.sources import read
from preheat.model.session import (
    PREHEAT_MARK,
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    pair_calls_with_results,
    sum_usage,
)
from tests.agents.hermes_database import HermesDatabase, call, terminal
from tests.shared import FIXTURES as ALL_FIXTURES

FIXTURES = os.path.join(ALL_FIXTURES, "hermes")


@pytest.fixture
def path(tmp_path: object) -> str:
    return os.path.join(str(tmp_path), "state.db")


@pytest.fixture
def database(path: str) -> Iterator[HermesDatabase]:
    with HermesDatabase(path) as database:
        yield database


def head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(65536)


def fixture(name: str, folder: object) -> list[Session]:
    """The sessions of a fixture, read from a copy."""
    copy = os.path.join(str(folder), "state.db")
    shutil.copyfile(os.path.join(FIXTURES, name, "state.db"), copy)
    assert READER.detect(head(copy), copy)
    return read(copy, READER)


def only(path: str) -> Session:
    (session,) = read(path, READER)
    return session


def prompts(session: Session) -> list[tuple[str, str]]:
    return [(event.text, event.origin) for event in session.events if isinstance(event, UserMessage)]


# What the real program wrote.


def test_an_ordinary_session_of_the_real_program_is_read(tmp_path: object) -> None:
    """Calls joined with results, exit codes, errors, refused calls, totals; resumed in the same session."""
    (session,) = fixture("ordinary", tmp_path)
    assert session.agent == "hermes"
    assert session.project == "/home/person/project"
    assert session.model == "scripted"
    assert session.starter == "human"
    outcomes = [
        (made.tool, made.kind, result.exit_code, result.is_error) if result else None
        for made, result in pair_calls_with_results(session)
    ]
    assert outcomes == [
        ("terminal", "shell", 0, None),
        ("terminal", "shell", 2, None),
        ("no_such_tool", "other", None, True),
        ("read_file", "read", None, True),
        ("write_file", "write", None, False),
        ("patch", "edit", None, False),
        ("search_files", "search", None, False),
        ("terminal", "shell", 0, None),
    ]
    assert prompts(session) == [("Do some work", "human"), ("Run it", "human")]
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage) and event.text]
    assert texts == ["Look around.", "All done.", "It says two."]
    assert session.reported == Usage(input=1500, output=90, cache_read=100, reasoning=10)
    assert sum_usage(session) == session.reported
    assert session.problems == ()


def test_a_call_id_used_again_after_a_resume_is_another_call(tmp_path: object) -> None:
    """The scripted model counted its calls again: `call_1` occurs twice, with two results."""
    (session,) = fixture("ordinary", tmp_path)
    calls = [event for event in session.events if isinstance(event, ToolCall)]
    assert len({event.call_id for event in calls}) == len(calls) == 8
    last, result = list(pair_calls_with_results(session))[-1]
    assert last.input == {"command": "python3 one.py"}
    assert result is not None
    assert '"two"' in result.text


def test_two_compactions_in_place_of_the_real_program_are_read(tmp_path: object) -> None:
    """Every call once, with its first, whole result; two summaries; one prompt."""
    (session,) = fixture("in_place", tmp_path)
    pairs = list(pair_calls_with_results(session))
    assert [made.input["command"] for made, _ in pairs] == [f"seq {n} {900 + n}" for n in range(13)]
    assert all(result is not None and result.exit_code == 0 for _, result in pairs)
    assert sum(isinstance(event, ToolResult) for event in session.events) == 13
    assert prompts(session) == [("Count a lot", "human")]
    summaries = [event for event in session.events if isinstance(event, Compaction)]
    assert len(summaries) == 2
    assert all("CONTEXT COMPACTION" in event.summary for event in summaries)
    assert "END OF CONTEXT SUMMARY" not in summaries[0].summary
    assert sum_usage(session) == session.reported


def test_two_compactions_by_rotation_of_the_real_program_are_read(tmp_path: object) -> None:
    """In parent, child and grandchild, a copied message counts only in the session it was written in."""
    first, second, third = fixture("rotation", tmp_path)
    assert (second.relation, second.parent) == ("compaction", first.id)
    assert (third.relation, third.parent) == ("compaction", second.id)
    assert {session.project for session in (first, second, third)} == {"/home/person/project"}
    commands = [
        made.input["command"] for session in (first, second, third) for made, _ in pair_calls_with_results(session)
    ]
    assert commands == [f"seq {n} {900 + n}" for n in range(13)]
    assert [prompts(session) for session in (first, second, third)] == [[("Count a lot", "human")], [], []]
    counts = [sum(isinstance(event, Compaction) for event in each.events) for each in (first, second, third)]
    assert counts == [0, 1, 1]
    assert all(sum_usage(session) == session.reported for session in (first, second, third))


def test_a_subagent_of_the_real_program_is_read(tmp_path: object) -> None:
    """The child names its parent, the parent's call names the child; the child's prompt is injected."""
    parent, child = fixture("subagent", tmp_path)
    assert (child.relation, child.parent) == ("subagent", parent.id)
    assert prompts(child) == [("Count the files", "injected")]
    (spawn,) = (event for event in parent.events if isinstance(event, Spawn))
    (handed,) = (event for event in parent.events if isinstance(event, ToolCall) and event.kind == "delegate")
    assert (spawn.session, spawn.call_id) == (child.id, handed.call_id)
    assert [made.call_id for made, _ in pair_calls_with_results(parent)] != [
        made.call_id for made, _ in pair_calls_with_results(child)
    ]


def test_feeding_in_pieces_gives_the_same_as_feeding_whole(tmp_path: object) -> None:
    """Save and load after every line, at every fixture: the events do not change."""
    for name in sorted(os.listdir(FIXTURES)):
        copy = os.path.join(str(tmp_path), f"{name}.db")
        shutil.copyfile(os.path.join(FIXTURES, name, "state.db"), copy)
        for part in parts(copy):
            lines = list(dump(copy, part.id))
            whole = HermesParser("a")
            whole.feed(b"\n".join(lines) + b"\n", 1)
            (expected,) = whole.take()
            events: list[object] = []
            state = None
            for number, line in enumerate(lines, start=1):
                piece = HermesParser("a")
                if state is not None:
                    piece.load(state)
                piece.feed(line + b"\n", number)
                events += [event for session in piece.take() for event in session.events]
                state = piece.save()
            assert events == list(expected.events)


# Traps of the format, on built databases.


def test_messages_are_ordered_by_id_not_by_time(database: HermesDatabase, path: str) -> None:
    """A clock that steps back does not put a result before its call."""
    database.session("s")
    database.message("s", "user", "go", timestamp=1_790_000_500.0)
    database.message("s", "assistant", tool_calls=[call("c1", command="ls")], timestamp=1_790_000_400.0)
    database.message("s", "tool", terminal("a"), tool_call_id="c1", timestamp=1_790_000_300.0)
    session = only(path)
    kinds = [type(event) for event in session.events if not isinstance(event, Other)]
    assert kinds == [UserMessage, ToolCall, ToolResult]
    assert session.ended_at == 1_790_000_500.0


def test_results_of_a_large_batch_are_joined_by_id(database: HermesDatabase, path: str) -> None:
    """Seven calls in one answer, results in another order, no tool name on a row."""
    database.session("s")
    database.message("s", "assistant", tool_calls=[call(f"c{n}", command=f"echo {n}") for n in range(7)])
    for n in reversed(range(7)):
        database.message(
            "s", "tool", terminal(f"{n}", n), tool_call_id=f"c{n}", tool_name=None, effect_disposition="none"
        )
    results = [result for _, result in pair_calls_with_results(only(path)) if result]
    assert [result.exit_code for result in results] == list(range(7))
    assert results[0].detail == {"effect_disposition": "none"}


def test_multimodal_content_gives_its_text_and_counts_images(database: HermesDatabase, path: str) -> None:
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:"}},
    ]
    database.session("s")
    database.message("s", "user", "\x00json:" + json.dumps(content))
    database.message("s", "user", "\x00json:[broken")
    first, second = (event for event in only(path).events if isinstance(event, UserMessage))
    assert (first.text, first.images) == ("What is this?", 1)
    assert (second.text, second.images) == ("[broken", 0)


@pytest.mark.parametrize(
    "text",
    [
        "[Your active task list was preserved across context compression]\n- one",
        '[IMPORTANT: The user has invoked the "tidy" skill, indicating they want ...',
        "[IMPORTANT: Background process proc_1 finished]",
        "[ASYNC DELEGATION deleg_1 finished]",
        "[Continuing toward your standing goal]\nGo on.",
        "[System: Your previous response was truncated by the output limit]",
    ],
)
def test_user_messages_of_the_program_are_injected(database: HermesDatabase, path: str, text: str) -> None:
    database.session("s")
    database.message("s", "user", "Do it")
    database.message("s", "user", text)
    assert prompts(only(path)) == [("Do it", "human"), (text, "injected")]


def test_text_injected_for_the_model_is_an_event_of_its_own(database: HermesDatabase, path: str) -> None:
    """`api_content` is the text that was sent; Preheat's mark in it makes a warm session recognisable."""
    database.session("s")
    warm = f"{PREHEAT_MARK}context>Use make.</preheat-context>"
    database.message("s", "user", "Build", api_content=f"Build\n\n{warm}")
    database.message("s", "user", "Again", api_content="Again\n\n<memory>x</memory>")
    assert prompts(only(path)) == [
        ("Build", "human"),
        (warm, "preheat"),
        ("Again", "human"),
        ("<memory>x</memory>", "injected"),
    ]


def test_a_message_typed_while_a_tool_runs_is_a_user_message(database: HermesDatabase, path: str) -> None:
    """Steering is stored inside the tool's result."""
    database.session("s")
    database.message("s", "assistant", tool_calls=[call("c1", command="make")])
    block = "[OUT-OF-BAND USER MESSAGE — a direct message]\nUse ninja instead\n[/OUT-OF-BAND USER MESSAGE]"
    database.message("s", "tool", f"{terminal('no', 2)}\n\n{block}", tool_call_id="c1")
    session = only(path)
    assert prompts(session) == [("Use ninja instead", "human")]
    assert [result.exit_code for _, result in pair_calls_with_results(session) if result] == [2]


@pytest.mark.parametrize(
    ("source", "end", "prompt", "starter"),
    [
        ("cli", None, "x", "human"),
        ("cli", "cli_close", "x", "human"),
        ("cli", "agent_close", "x", "headless"),
        ("tui", "tui_close", "x", "human"),
        ("acp", None, "x", "human"),
        ("telegram", None, "x", "human"),
        ("cron", "cron_complete", "x", "headless"),
        ("tool", None, "x", "background"),
        ("cli", None, "Review the conversation above and update the skill library.", "background"),
    ],
)
def test_the_starter_is_known_by_the_source(
    database: HermesDatabase, path: str, source: str, end: str | None, prompt: str, starter: str
) -> None:
    database.session("s", source=source, end_reason=end)
    database.message("s", "user", prompt)
    assert only(path).starter == starter


def test_the_sessions_totals_count_once(database: HermesDatabase, path: str) -> None:
    """Rows have no token counts; the auxiliary model's usage is not added."""
    database.session("s", input_tokens=900, output_tokens=80, cache_read_tokens=50, reasoning_tokens=30)
    database.message("s", "assistant", "Hello", token_count=None, finish_reason="stop")
    row = {"session_id": "s", "model": "m", "task": "compression", "input_tokens": 10, "output_tokens": 1}
    database.add("session_model_usage", row)
    session = only(path)
    assert session.reported == Usage(input=900, output=80, cache_read=50, reasoning=30)
    assert sum_usage(session) == session.reported
    last = session.events[-1]
    assert isinstance(last, AssistantMessage)
    assert (last.text, last.response) == ("", TOTAL_RESPONSE)
    kept = [
        event.raw["row"] for event in session.events if isinstance(event, Other) and event.name == "session_model_usage"
    ]
    assert [(each["task"], each["input_tokens"]) for each in kept] == [("compression", 10)]


def test_reasoning_prompt_and_unusual_ends_are_kept(database: HermesDatabase, path: str) -> None:
    database.session("s", system_prompt="You are careful.", title="A title")
    database.message("s", "assistant", "Done", reasoning_content="Because", finish_reason="verification_required")
    database.message("s", "assistant", "Done now", codex_reasoning_items='[{"encrypted_content": "x"}]')
    database.message("s", "narrator", "Meanwhile")
    session = only(path)
    assert session.title == "A title"
    assert [event.text for event in session.events if isinstance(event, Reasoning)] == ["Because", ""]
    others = {event.name: event.raw for event in session.events if isinstance(event, Other)}
    assert others["system_prompt"] == "You are careful."
    assert others["finish_reason"] == "verification_required"
    assert others["message.narrator"]["content"] == "Meanwhile"
    assert others["session"]["source"] == "cli"


def test_invalid_values_do_not_affect_the_rest(database: HermesDatabase, path: str) -> None:
    """Calls and arguments that are not JSON, wrong types, bytes that are not UTF-8, missing ids."""
    database.session("s", model_config="{broken")
    database.message("s", "assistant", "one", tool_calls="[{")
    database.message("s", "assistant", "two", tool_calls="7")
    arguments = {"function": {"name": "terminal", "arguments": "{not json"}}
    database.message("s", "assistant", "three", tool_calls=[arguments])
    database.connection.execute(
        "INSERT INTO messages (session_id, role, content, timestamp)"
        " VALUES ('s', 'user', CAST(x'ff41' AS TEXT), 'never'), ('s', 'user', 12, 1e300)"
    )
    database.message("s", "assistant", "deep", tool_calls="[" * 100_000)
    session = only(path)
    texts = [event.text for event in session.events if isinstance(event, AssistantMessage | UserMessage)]
    assert texts == ["one", "two", "three", "\ufffdA", "12", "deep"]
    assert [event.input for event in session.events if isinstance(event, ToolCall)] == [{"text": "{not json"}]
    assert len(session.problems) == 3
    assert all(problem.line for problem in session.problems)


def test_damaged_lines_in_the_archive_become_problems() -> None:
    parser = HermesParser("archived")
    parser.feed(b'{"table":"sessions","row":{"id":"s"}}\n{"table":"mess\n{"table":7}\n{"table":"news","row":{}}\n', 1)
    (session,) = parser.take()
    assert [problem.line for problem in session.problems] == [2, 3]
    assert "news" in [event.name for event in session.events if isinstance(event, Other)]


def test_places_are_light_and_follow_the_environment(tmp_path: object) -> None:
    home = os.path.join(str(tmp_path), "h")
    for folder in (home, os.path.join(home, "profiles", "work")):
        os.makedirs(folder)
        HermesDatabase(os.path.join(folder, "state.db")).connection.close()
    found = places_of("hermes")
    assert found.roots({"HERMES_HOME": home}) == [home]
    assert found.roots({"HOME": "/h", "USERPROFILE": "/h", "LOCALAPPDATA": "/h"})[0].startswith("/h")
    relative = [os.path.relpath(each.path, home) for each in found.discover(home)]
    assert relative == ["state.db", os.path.join("profiles", "work", "state.db")]
    assert list(found.discover(os.path.join(home, "nothing"))) == []
