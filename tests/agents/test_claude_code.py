"""Reading Claude Code's transcripts: each peculiarity of the format, and every real transcript of the corpus."""

import glob
import os
from typing import Any

import msgspec
import pytest

from preheat.agents.claude_code import discover, roots
from preheat.agents.claude_code.reader import READER, ClaudeParser
from preheat.agents.sources import read
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Other,
    Reasoning,
    Rewind,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
    sum_usage,
    surviving_events,
)
from tests.agents.parsing import events_of
from tests.shared import SHARED, needs_corpus

SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "99999999-2222-4333-8444-555555555555"
clock = iter(range(10**6))


def record(kind: str, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    """A line of a transcript."""
    minute, second = divmod(next(clock) % 3600, 60)
    return {
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "isSidechain": False, "cwd": "/w/proj",
        "gitBranch": "main", "version": "2.1.220", "timestamp": f"2026-11-01T10:{minute:02d}:{second:02d}.000Z",
        **fields,
    }  # fmt: skip


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return record("user", uuid, parent, message={"role": "user", "content": content}, **fields)


def assistant(
    uuid: str, parent: str | None, message: str, *blocks: Any, tokens: int = 5, **fields: Any
) -> dict[str, Any]:
    return record(
        "assistant", uuid, parent, requestId="req",
        message={
            "id": message, "role": "assistant", "model": "claude-test", "content": list(blocks),
            "usage": {"input_tokens": 1, "output_tokens": tokens, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3},
        },
        **fields,
    )  # fmt: skip


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str, tool: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments or {"command": "ls"}}


def result(name: str, content: Any = "done", **fields: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": name, "content": content, **fields}]


def parse(*lines: Any, path: str = f"/x/projects/p/{SESSION}.jsonl") -> list[Session]:
    parser = ClaudeParser(path)
    parser.feed(
        b"".join((line if isinstance(line, bytes) else msgspec.json.encode(line)) + b"\n" for line in lines),
        1,
    )
    return parser.take()


def parse_one(*lines: Any, path: str = f"/x/projects/p/{SESSION}.jsonl") -> Session:
    sessions = parse(*lines, path=path)
    assert len(sessions) == 1
    return sessions[0]


def test_tokens_of_a_response_over_several_lines_count_once() -> None:
    """Lines that share `message.id` are one response; the last usage counts."""
    session = parse_one(
        user("u1", None, "fix it"),
        assistant("a1", "u1", "msg_1", {"type": "thinking", "thinking": "hm", "signature": "x"}, tokens=1),
        assistant("a2", "a1", "msg_1", text("On it."), tokens=1),
        assistant("a3", "a2", "msg_1", call("toolu_1"), tokens=9),
    )
    assert sum_usage(session) == Usage(1, 9, 7, 3)
    assert [event.text for event in events_of(session, Reasoning)] == ["hm"]
    assert [event.text for event in events_of(session, AssistantMessage) if event.text] == ["On it."]
    assert [event.call_id for event in events_of(session, ToolCall)] == ["toolu_1"]


def test_growing_snapshots_of_a_response_give_each_block_once() -> None:
    """Some versions repeat the response so far on every line."""
    session = parse_one(
        user("u1", None, "go"),
        assistant("a1", "u1", "msg_1", text("One")),
        assistant("a2", "a1", "msg_1", text("One two"), call("toolu_1")),
        assistant("a3", "a2", "msg_1", text("One two"), call("toolu_1"), call("toolu_2")),
    )
    assert "".join(event.text for event in events_of(session, AssistantMessage)) == "One two"
    assert [event.call_id for event in events_of(session, ToolCall)] == ["toolu_1", "toolu_2"]
    assert sum_usage(session).output == 5


def test_a_prompt_with_an_older_parent_is_a_rewind() -> None:
    session = parse_one(
        user("u1", None, "first"),
        assistant("a1", "u1", "msg_1", text("answer one")),
        user("u2", "a1", "wrong way"),
        assistant("a2", "u2", "msg_2", text("answer two")),
        user("u3", "a1", "other way"),
        assistant("a3", "u3", "msg_3", text("answer three")),
    )
    assert [event.after for event in events_of(session, Rewind)] == [2]
    kept = [event.text for event in surviving_events(session) if isinstance(event, UserMessage | AssistantMessage)]
    assert kept == ["first", "answer one", "other way", "answer three"]
    assert len(events_of(session, UserMessage)) == 3  # and nothing is lost


def test_a_retried_response_is_a_rewind() -> None:
    session = parse_one(
        user("u1", None, "go"),
        assistant("a1", "u1", "msg_1", text("broken off")),
        assistant("a2", "u1", "msg_2", text("whole")),
    )
    assert [event.after for event in events_of(session, Rewind)] == [1]


def test_results_of_parallel_calls_are_no_rewind() -> None:
    """Their parents are the calls, not the newest record."""
    session = parse_one(
        user("u1", None, "go"),
        assistant("a1", "u1", "msg_1", call("toolu_1")),
        assistant("a2", "a1", "msg_1", call("toolu_2")),
        user("r1", "a1", result("toolu_1"), sourceToolAssistantUUID="a1"),
        user("r2", "a2", result("toolu_2"), sourceToolAssistantUUID="a2"),
        assistant("a3", "r1", "msg_2", text("both done")),
    )
    assert not events_of(session, Rewind)
    assert [event.call_id for event in events_of(session, ToolResult)] == ["toolu_1", "toolu_2"]


def test_records_copied_into_a_fork_are_not_counted_there() -> None:
    origin = {"sessionId": OTHER, "messageUuid": "x"}
    session = parse_one(
        user("u1", None, "first", forkedFrom=origin),
        assistant("a1", "u1", "msg_1", text("answer"), call("toolu_1"), forkedFrom=origin),
        user("u2", "a1", "and now"),
    )
    assert (session.parent, session.relation) == (OTHER, "fork")
    assert [event.text for event in events_of(session, UserMessage)] == ["and now"]
    assert not events_of(session, ToolCall)


def test_a_resumed_session_has_the_earlier_one_as_parent() -> None:
    """The file has the new id, its first records the earlier one."""
    session = parse_one(user("u1", None, "go", sessionId=OTHER), user("u2", "u1", "on"))
    assert (session.id, session.parent, session.relation) == (SESSION, OTHER, "continuation")


def test_sidechain_lines_in_the_main_file_are_sessions_of_their_own() -> None:
    """Old versions wrote subagents into the main file; a repeated message of the parent counts once."""
    main, child = parse(
        user("u1", None, "go"),
        assistant("a1", "u1", "msg_1", call("toolu_1", "Task", prompt="look")),
        user("s1", None, "look", isSidechain=True),
        assistant("s0", "s1", "msg_1", call("toolu_1", "Task"), isSidechain=True),
        assistant("s2", "s1", "msg_9", call("toolu_9", "Grep", pattern="x"), isSidechain=True),
        user("s3", "s2", result("toolu_9"), isSidechain=True),
        user("r1", "a1", result("toolu_1"), toolUseResult={"status": "completed", "agentId": "abc"}),
    )
    assert [event.call_id for event in events_of(main, ToolCall)] == ["toolu_1"]
    assert [event.call_id for event in events_of(child, ToolCall)] == ["toolu_9"]
    assert (child.parent, child.relation) == (SESSION, "subagent")
    assert [event.origin for event in events_of(child, UserMessage)] == ["injected"]


def test_a_subagent_file_is_a_child_of_its_session() -> None:
    path = f"/x/projects/p/{SESSION}/subagents/agent-abc.jsonl"
    child = parse_one(
        user("s1", None, "look", isSidechain=True, agentId="abc"),
        assistant("s2", "s1", "msg_9", text("found"), isSidechain=True, agentId="abc"),
        path=path,
    )
    assert (child.id, child.parent, child.relation) == (f"{SESSION}:agent-abc", SESSION, "subagent")


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("stop hook feedback", {"isMeta": True}),
        ("<command-name>/clear</command-name>", {}),
        ("<local-command-stdout></local-command-stdout>", {}),
        ("<task-notification>\n<task-id>1", {"origin": {"kind": "task-notification"}}),
        ("[Request interrupted by user]", {}),
        ("<system-reminder>\nbe brief", {"origin": {"kind": "human"}}),
    ],
)
def test_texts_of_the_program_are_injected_messages(content: str, fields: dict[str, Any]) -> None:
    session = parse_one(user("u1", None, content, **fields), user("u2", "u1", "real"))
    assert [event.origin for event in events_of(session, UserMessage)] == ["injected", "human"]


def test_text_of_preheat_has_the_origin_preheat() -> None:
    session = parse_one(user("u1", None, "<preheat-context>\nuse pytest -q", isMeta=True))
    assert [event.origin for event in events_of(session, UserMessage)] == ["preheat"]


def test_subagents_are_found_by_result_and_by_progress() -> None:
    session = parse_one(
        user("u1", None, "go"),
        assistant("a1", "u1", "msg_1", call("toolu_1", "Task"), call("toolu_2", "Agent")),
        record(
            "progress",
            "p1",
            "a1",
            parentToolUseID="toolu_2",
            data={"type": "agent_progress", "agentId": "bbb"},
        ),
        record(
            "progress",
            "p2",
            "a1",
            parentToolUseID="toolu_2",
            data={"type": "agent_progress", "agentId": "bbb"},
        ),
        user("r1", "a1", result("toolu_1"), toolUseResult={"agentId": "aaa", "status": "completed"}),
    )
    assert [(event.session, event.call_id) for event in events_of(session, Spawn)] == [
        (f"{SESSION}:agent-bbb", "toolu_2"),
        (f"{SESSION}:agent-aaa", "toolu_1"),
    ]
    assert len(events_of(session, ToolCall)) == 2  # what progress records repeat of the subagent is not counted


def test_the_path_of_a_spilled_output_is_kept() -> None:
    session = parse_one(
        assistant("a1", None, "msg_1", call("toolu_1")),
        user("r1", "a1", result("toolu_1", "Full output saved to: /x/tool-results/1.txt"),
             toolUseResult={"stdout": "", "persistedOutputPath": "/x/tool-results/1.txt"}),
    )  # fmt: skip
    assert events_of(session, ToolResult)[0].detail["persistedOutputPath"] == "/x/tool-results/1.txt"


def test_only_the_programs_flag_and_exit_line_say_that_a_call_failed() -> None:
    """A missing flag means success; words in the text mean nothing."""
    session = parse_one(
        assistant("a1", None, "msg_1", call("c1"), call("c2"), call("c3", "Read"), call("c4"), call("c5", "Edit")),
        user(
            "r1",
            "a1",
            result("c1", "Exit code 2\nls: no such file", is_error=True),
            toolUseResult="Error: Exit code 2\n",
        ),
        user("r2", "a1", result("c2", "error: 0 failed"), toolUseResult={"stdout": "", "interrupted": False}),
        user("r3", "a1", result("c3", [{"type": "text", "text": "Exit code 1\n"}])),
        user(
            "r4",
            "a1",
            result("c4", "The user doesn't want to proceed", is_error=True),
            toolDenialKind="user-rejected",
        ),
        user(
            "r5",
            "a1",
            result("c5", "<tool_use_error>String to replace not found</tool_use_error>", is_error=True),
        ),
    )
    found = {event.call_id: event for event in events_of(session, ToolResult)}
    assert [found[name].is_error for name in ("c1", "c2", "c3", "c4", "c5")] == [
        True,
        False,
        False,
        True,
        True,
    ]
    assert [found[name].exit_code for name in ("c1", "c2", "c3", "c4", "c5")] == [2, None, None, None, None]
    assert found["c4"].detail["denial"] == "user-rejected"


def test_a_compaction_is_one_event_and_its_summary_is_injected() -> None:
    session = parse_one(
        user("u1", None, "go"),
        record(
            "system",
            "s1",
            None,
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", "preTokens": 120000},
        ),
        user("u2", "s1", "This session is being continued…", isCompactSummary=True),
        user("u3", "u2", "on"),
    )
    assert [(event.trigger, event.tokens_before) for event in events_of(session, Compaction)] == [("auto", 120000)]
    assert [event.origin for event in events_of(session, UserMessage)] == ["human", "injected", "human"]


def queued(prompt: str, mode: str) -> dict[str, Any]:
    return {"type": "queued_command", "prompt": prompt, "commandMode": mode}


def test_a_prompt_queued_while_a_tool_runs_is_a_human_message() -> None:
    session = parse_one(
        user("u1", None, "go"),
        record("attachment", "t1", "u1", attachment=queued("stop after that", "prompt")),
        record("attachment", "t2", "t1", attachment=queued("<task-notification>x", "task-notification")),
    )
    assert [(event.text, event.origin) for event in events_of(session, UserMessage)] == [
        ("go", "human"), ("stop after that", "human"), ("<task-notification>x", "injected"),
    ]  # fmt: skip


def test_titles_are_read_and_unknown_records_kept() -> None:
    session = parse_one(
        {"type": "summary", "summary": "Fix the parser", "leafUuid": "x"},
        user("u1", None, "go"),
        record("attachment", "t1", "u1", attachment={"type": "hook_success", "stdout": "hello", "exitCode": 0}),
        record("system", "s1", "t1", subtype="turn_duration", durationMs=5),
        {"type": "file-history-snapshot", "messageId": "a", "snapshot": {"trackedFileBackups": {}}},
    )
    assert session.title == "Fix the parser"
    assert [event.name for event in events_of(session, Other)] == [
        "summary", "attachment/hook_success", "system/turn_duration", "file-history-snapshot",
    ]  # fmt: skip
    assert events_of(session, Other)[1].raw["attachment"]["stdout"] == "hello"


def test_the_starter_follows_entrypoint_and_folder() -> None:
    assert parse_one(user("u1", None, "go", entrypoint="cli")).starter == "human"
    assert parse_one(user("u1", None, "go", entrypoint="sdk-py")).starter == "headless"
    assert parse_one(user("u1", None, "go")).starter == "unknown"
    assert (
        parse_one(user("u1", None, "go", entrypoint="sdk-ts", cwd="/h/.memory-tool/observer")).starter == "background"
    )
    assert (
        parse_one(user("u1", None, "go", entrypoint="sdk-ts", cwd="/w/proj/.agent/worktrees/x")).starter == "headless"
    )
    assert parse_one(user("u1", None, "<preheat-run id=1>\ngo", entrypoint="cli")).starter == "preheat"


def test_an_api_error_has_no_model_and_no_usage() -> None:
    line = assistant("a1", None, "msg_1", text("API Error: 529"), isApiErrorMessage=True)
    line["message"]["model"] = "<synthetic>"
    session = parse_one(line)
    assert session.model == ""
    assert sum_usage(session) == Usage()


def test_damaged_lines_become_problems_and_the_rest_is_read() -> None:
    """Half lines, binary, wrong types, two records on one line, lone surrogates."""
    session = parse_one(
        user("u1", None, "go"),
        b'{"type":"user","uuid":"u2"',
        b"\x00\xff\xfe",
        {**user("u3", "u1", "x"), "timestamp": {"no": "time"}},
        msgspec.json.encode(user("u4", "u1", "four")) + msgspec.json.encode(user("u5", "u4", "five")),
        msgspec.json.encode(user("u6", "u5", "MARK")).replace(b"MARK", b"\\ud800 six"),
        msgspec.json.encode(user("u7", "u6", "MARK")).replace(b"MARK", b"\xff seven"),
    )
    assert [problem.line for problem in session.problems] == [2, 3, 4]
    assert all(problem.file.endswith(".jsonl") for problem in session.problems)
    assert [event.text for event in events_of(session, UserMessage)] == [
        "go",
        "four",
        "five",
        "\ufffd six",
        "\ufffd seven",
    ]
    assert [event.raw["uuid"] for event in events_of(session, Other)] == ["u3"]


def test_hostile_records_raise_nothing() -> None:
    """Cyclic parents, one id everywhere, a clock that runs backwards, an empty message."""
    session = parse_one(
        user("u1", "u2", "a"),
        user("u2", "u1", "b"),
        user("u2", "u2", "the same record again"),
        assistant("a1", "a1", "msg_1", call("same"), call("same")),
        user("r1", "a1", result("same")),
        user("r2", "a1", result("same", "again")),
        user("u4", "r2", [], timestamp="1999-01-01T00:00:00Z"),
    )
    assert session.started_at is not None
    assert session.ended_at is not None
    assert session.started_at < session.ended_at
    assert [event.text for event in events_of(session, UserMessage)] == ["a", "b"]
    assert len(events_of(session, ToolCall)) == 1


def test_places_follow_the_environment(tmp_path: Any) -> None:
    assert roots({"HOME": "/h"})[0] == os.path.join("/h", ".claude", "projects")
    assert roots({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/a, /b"}) == [
        os.path.join("/a", "projects"),
        os.path.join("/b", "projects"),
    ]
    folder = tmp_path / "projects" / "p" / SESSION / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a.jsonl").write_text("{}\n")
    (folder / "agent-a.meta.json").write_text("{}")
    (tmp_path / "projects" / "p" / f"{SESSION}.jsonl").write_text("{}\n")
    assert sorted(os.path.basename(found.path) for found in discover(str(tmp_path / "projects"))) == [
        f"{SESSION}.jsonl", "agent-a.jsonl",
    ]  # fmt: skip


@pytest.mark.corpus
@needs_corpus
@pytest.mark.parametrize(
    ("folder", "sessions", "calls"),
    [
        ("claude_code__M-Claude", 5, 175),
        ("claude_code__sniffly", 3, 96),
        ("entire__FSM1+cipher-box", 3, 104),
        ("entire__JanDeDobbeleer+oh-my-posh", 4, 155),
        ("entire__PackmindHub+context-evaluator", 14, 398),
        ("entire__entireio+auth-go", 1, 85),
        ("entire__f+awesome-chatgpt-prompts", 1, 19),
    ],
)
def test_real_transcripts_have_the_counts_of_the_corpus_table(folder: str, sessions: int, calls: int) -> None:
    """Without problems, and every result has its call."""
    files = glob.glob(os.path.join(SHARED, "corpus", folder, "**", "*.jsonl"), recursive=True)
    found = [session for path in files for session in read(path, READER)]
    assert len(found) == sessions
    assert sum(len(events_of(session, ToolCall)) for session in found) == calls
    assert not [problem for session in found for problem in session.problems]
    for session in found:
        names = {event.call_id for event in events_of(session, ToolCall)}
        assert all(event.call_id in names for event in events_of(session, ToolResult))
