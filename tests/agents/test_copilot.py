"""The Copilot CLI reader: every trap of its format, by the recorded sessions and by small ones made here.

`fed` reads each session twice, whole and event by event with the state put away in between.
"""

import glob
import json
import os
from typing import Any

import pytest

from preheat.agents.copilot import PLACES
from preheat.agents.copilot.reader import READER
from preheat.agents.sources import detect, read
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
    pair_calls_with_results,
    sum_usage,
    surviving_events,
)
from tests.agents.copilot_events import CONTEXT, SESSION, Events
from tests.agents.parsing import events_of, read_whole_and_in_pieces
from tests.shared import FIXTURES, SHARED, needs_corpus


def read_one(events: Events) -> Session:
    return read_whole_and_in_pieces(READER, events.data(), f"{SESSION}/events.jsonl")


def read_all(events: Events) -> list[Session]:
    parser = READER.parser(f"{SESSION}/events.jsonl")
    parser.feed(events.data(), 1)
    return parser.take()


def read_fixture(name: str) -> list[Session]:
    return read(os.path.join(FIXTURES, "copilot", name, "events.jsonl"), READER)


def results(session: Session) -> dict[str, ToolResult]:
    return {event.call_id: event for event in events_of(session, ToolResult)}


def only_result(events: Events) -> ToolResult:
    (result,) = events_of(read_one(events), ToolResult)
    return result


# The heading.
def test_the_heading_is_filled_from_the_start_event() -> None:
    session = read_one(Events().add("session.title_changed", title="Greeting"))
    assert (session.id, session.version, session.model) == (SESSION, "1.0.50", "m")
    assert (session.project, session.branch, session.title) == ("/w/proj", "main", "Greeting")


@pytest.mark.parametrize(
    ("text", "starter"),
    [
        ("You are running in non-interactive mode and have no user.", "headless"),
        ("You are an interactive CLI tool.", "human"),
        ("You are something else.", "unknown"),
    ],
)
def test_the_starter_is_known_by_the_system_prompt(text: str, starter: str) -> None:
    assert read_one(Events().add("system.message", role="system", content=text)).starter == starter


def test_the_heading_has_the_model_after_a_change() -> None:
    assert read_one(Events().add("session.model_change", newModel="n")).model == "n"


def test_a_run_detached_from_another_session_is_background() -> None:
    session = read_one(Events(detachedFromSpawningParentSessionId="parent"))
    assert (session.parent, session.relation, session.starter) == ("parent", "continuation", "background")


def test_events_without_a_start_belong_to_the_session_named_by_the_folder() -> None:
    events = Events().ask("c1").done("c1", "x")
    del events.lines[0]
    session = read_one(events)
    assert session.id == SESSION
    assert len(list(pair_calls_with_results(session))) == 1


# The truth of a call.
def test_success_and_exit_code_are_kept_apart() -> None:
    """The recorded program: a failing command is a success of the shell tool."""
    main = read_fixture("ordinary")[0]
    by_id = results(main)
    assert (by_id["call_1"].is_error, by_id["call_1"].exit_code) == (False, 2)
    assert by_id["call_1"].text == "ls: cannot access 'missing-folder': No such file or directory"
    assert (by_id["call_2"].is_error, by_id["call_2"].exit_code) == (True, None)
    assert (by_id["call_2"].text, by_id["call_2"].detail) == ("Path does not exist", {"code": "failure"})
    assert (by_id["call_3"].is_error, by_id["call_3"].exit_code, by_id["call_3"].text) == (False, 0, "good")
    assert by_id["call_4"].text == "Tool 'no_such_tool' does not exist."


def test_a_block_of_content_holds_the_exit_code_in_older_versions() -> None:
    events = Events().ask("c1")
    block = {"type": "shell_exit", "exitCode": 3}
    events.add("tool.execution_complete", toolCallId="c1", success=True, result={"content": "out", "contents": [block]})
    assert (only_result(events).exit_code, only_result(events).text) == (3, "out")


@pytest.mark.parametrize("line", ["<shellId: 7 completed with exit code 5>", "<exited with exit code 5>"])
def test_the_exit_code_of_the_oldest_versions_is_read_from_the_last_line(line: str) -> None:
    result = only_result(Events().ask("c1").done("c1", f"out\n{line}"))
    assert (result.exit_code, result.text, result.is_error) == (5, "out", False)


def test_an_exit_line_before_the_end_is_the_commands_output() -> None:
    result = only_result(Events().ask("c1").done("c1", "<shellId: 7 completed with exit code 5>\nmore"))
    assert (result.exit_code, result.text) == (None, "<shellId: 7 completed with exit code 5>\nmore")


@pytest.mark.parametrize("code", [True, "2", 1.5, 1e300, None, [2]])
def test_an_exit_code_that_is_not_a_number_is_ignored(code: Any) -> None:
    assert only_result(Events().ask("c1").done("c1", "x", shellExecution={"exitCode": code})).exit_code is None


@pytest.mark.parametrize(
    "text",
    [
        "<command started in background with shellId: 1>",
        "half\n<command with shellId: 1 is still running after 30 seconds. Use read_bash to go on, or stop_bash.>",
    ],
)
def test_a_command_that_still_runs_has_no_exit_code(text: str) -> None:
    result = only_result(Events().ask("c1").done("c1", text))
    assert (result.exit_code, result.detail) == (None, {"running": "1"})


def test_the_end_of_a_background_command_is_an_event() -> None:
    """Recorded: the notice is the program's, and so is the call that returns the output."""
    (session,) = read_fixture("hooked")
    (late,) = (event for event in events_of(session, Other) if event.name == "late_ending")
    assert (late.raw["shellId"], late.raw["exitCode"]) == ("1", 4)
    (handed,) = (result for result in events_of(session, ToolResult) if result.detail.get("by_program"))
    assert handed.exit_code == 4


def test_a_denial_is_distinguished_from_a_failure() -> None:
    (session,) = read_fixture("denied")
    (result,) = events_of(session, ToolResult)
    assert (result.is_error, result.detail["code"]) == (True, "denied")
    assert result.detail["permission"].startswith("denied-no-approval-rule")


def test_the_wait_for_a_persons_leave_is_kept_and_that_of_a_rule_is_not() -> None:
    """Each event is a second after the one before it."""
    request = {"kind": "shell", "toolCallId": "c1", "fullCommandText": "git push"}
    asked = Events().ask("c1", command="git push").add("permission.requested", requestId="r", permissionRequest=request)
    for _ in range(4):
        asked.add("session.usage_info")
    answered = {"requestId": "r", "toolCallId": "c1"}
    allowed = asked.add("permission.completed", **answered, result={"kind": "approved"}).done("c1", "pushed")
    assert only_result(allowed).detail == {"waited": 5.0}
    at_once = Events().ask("c1").add("permission.completed", **answered, result={"kind": "approved"}).done("c1")
    assert "waited" not in only_result(at_once).detail


def test_the_duration_is_from_start_to_completion() -> None:
    assert only_result(Events().ask("c1").done("c1")).seconds == 1.0


def test_a_repeated_call_id_is_two_calls() -> None:
    """Some models count their calls from zero in every response."""
    pairs = list(
        pair_calls_with_results(
            read_one(Events().ask("c1", command="a").done("c1", "A").ask("c1", command="b").done("c1", "B"))
        )
    )
    assert [(call.input["command"], result and result.text) for call, result in pairs] == [("a", "A"), ("b", "B")]


def test_a_call_the_person_made_is_not_a_call_of_the_model() -> None:
    events = Events().add("tool.user_requested", toolCallId="u1", toolName="bash", arguments={"command": "ls"})
    events.add("tool.execution_start", toolCallId="u1", toolName="bash", arguments={"command": "ls"}).done("u1", "x")
    session = read_one(events)
    assert not events_of(session, ToolCall)
    assert [event.name for event in events_of(session, Other)] == ["tool.user_requested", "person's_call"]


def test_the_kind_of_the_older_editor_depends_on_its_command() -> None:
    events = Events()
    for name in ("view", "create", "str_replace"):
        events.ask(name, "str_replace_editor", command=name).done(name)
    assert [call.kind for call in events_of(read_one(events), ToolCall)] == ["read", "write", "edit"]


# Whose words.
def test_a_prompt_is_the_text_the_person_typed() -> None:
    """`transformedContent` is the program's version of it."""
    events = Events().add("user.message", content="Hello.", transformedContent="<current_datetime>…\n\nHello.")
    (message,) = events_of(read_one(events), UserMessage)
    assert (message.text, message.origin) == ("Hello.", "human")


@pytest.mark.parametrize("more", [{"source": "skill-pdf"}, {"source": "agent-1"}, {"isAutopilotContinuation": True}])
def test_a_message_of_another_source_is_injected(more: dict[str, Any]) -> None:
    (message,) = events_of(read_one(Events().add("user.message", content="Go on.", **more)), UserMessage)
    assert message.origin == "injected"


def test_texts_of_hooks_are_injected_and_not_part_of_a_result() -> None:
    """Recorded: the program puts a hook's text below the result."""
    (session,) = read_fixture("hooked")
    texts = [event.text for event in events_of(session, UserMessage) if event.origin == "injected"]
    notes = [
        f"A note at {name}." for name in ("sessionStart", "userPromptSubmitted", "postToolUse", "postToolUseFailure")
    ]
    assert texts[:4] == notes
    assert results(session)["call_1"].text == "ls: cannot access 'missing-folder': No such file or directory"
    assert not [result for result in events_of(session, ToolResult) if "guidance" in result.text]


def test_texts_of_preheat_have_the_origin_preheat() -> None:
    events = Events().add(
        "hook.end", hookType="sessionStart", success=True, output={"additionalContext": "<preheat-x>"}
    )
    (message,) = events_of(read_one(events), UserMessage)
    assert message.origin == "preheat"


def test_a_guidance_line_printed_by_a_command_is_kept() -> None:
    text = 'a\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\nb'
    assert only_result(Events().ask("c1").done("c1", text)).text == text


def test_a_failed_hook_is_kept_as_an_event() -> None:
    events = Events().add("hook.end", hookType="preToolUse", success=False, error={"message": "no"})
    (other,) = events_of(read_one(events), Other)
    assert other.raw["data"]["error"] == {"message": "no"}


def test_reasoning_that_is_also_an_event_counts_once() -> None:
    events = Events().add("assistant.reasoning", reasoningId="t", content="Hm.")
    events.add("assistant.message", content="Yes.", apiCallId="r1", reasoningText="Hm.", model="m")
    events.add("assistant.message", content="No.", apiCallId="r2", reasoningOpaque="xyz", model="m")
    assert [event.text for event in events_of(read_one(events), Reasoning)] == ["Hm.", ""]


def test_ephemeral_events_are_ignored() -> None:
    """A captured stream (`--output-format json`) has them."""
    piece = {"type": "assistant.message_delta", "data": {"deltaContent": "Y"}, "id": "d", "ephemeral": True}
    assert read_one(Events().raw(piece)).events == ()


# Subagents.
def test_a_subagent_is_a_child_with_its_own_calls_and_tokens() -> None:
    main, child = read_fixture("ordinary")
    (spawn,) = events_of(main, Spawn)
    assert (spawn.session, spawn.call_id) == (child.id, "call_7")
    assert (child.parent, child.relation, child.title, child.project) == (main.id, "subagent", "count", "/w/proj")
    assert [call.call_id for call in events_of(child, ToolCall)] == ["call_8"]
    assert "call_8" not in {call.call_id for call in events_of(main, ToolCall)}
    assert [event.origin for event in events_of(child, UserMessage)] == ["injected"]
    assert (sum_usage(child), child.reported) == (Usage(input=200, output=20),) * 2


def test_a_subagent_of_an_early_version_is_known_by_its_call() -> None:
    events = Events().ask("c1", "task", prompt="Count.")
    events.add("subagent.started", toolCallId="c1", agentName="explore")
    events.add("assistant.message", content="None.", messageId="m1", parentToolCallId="c1")
    events.add("subagent.completed", toolCallId="c1", agentName="explore").done("c1", "None.")
    main, child = read_all(events)
    assert [event.text for event in events_of(child, AssistantMessage)] == ["None."]
    assert (child.parent, events_of(main, Spawn)[0].session) == (main.id, child.id)
    assert results(main)["c1"].text == "None."


def test_the_parent_of_a_subagents_subagent_is_the_subagent() -> None:
    events = Events().ask("c1", "task").add("subagent.started", "a", toolCallId="c1", agentName="one")
    events.ask("c2", "task", "a").add("subagent.started", "b", toolCallId="c2", agentName="two")
    events.add("assistant.message", "b", content="Deep.", messageId="m")
    _, first, second = read_all(events)
    assert second.parent == first.id
    assert events_of(first, Spawn)[0].session == second.id


def test_a_subagent_that_failed_is_kept() -> None:
    events = Events().ask("c1", "task").add("subagent.started", "a", toolCallId="c1", agentName="one")
    child = read_all(events.add("subagent.failed", "a", toolCallId="c1", error="no"))[1]
    assert events_of(child, Other)[0].raw["data"]["error"] == "no"


# Tokens.
def test_totals_include_what_was_used_before_a_resume() -> None:
    """Recorded: the second totals are those of the whole session."""
    (session,) = read_fixture("hooked")
    assert session.reported == sum_usage(session) == Usage(input=110_690, output=89)


def totals(input_tokens: int, output_tokens: int, read: int = 0) -> dict[str, Any]:
    used = {"inputTokens": input_tokens, "outputTokens": output_tokens, "cacheReadTokens": read}
    return {"m": {"requests": {"count": 1}, "usage": used}}


def test_the_input_of_older_versions_is_read_from_the_totals() -> None:
    events = Events().add("assistant.message", content="A", apiCallId="r1", model="m", outputTokens=10)
    events.add("session.shutdown", shutdownType="routine", modelMetrics=totals(900, 10, 400))
    session = read_one(events)
    assert session.reported == sum_usage(session) == Usage(input=500, output=10, cache_read=400)


def test_totals_of_older_versions_count_from_zero_after_a_resume() -> None:
    events = Events().add("assistant.message", content="A", apiCallId="r1", model="m", outputTokens=10)
    events.add("session.shutdown", modelMetrics=totals(900, 10)).add("session.resume", context=CONTEXT)
    events.add("assistant.message", content="B", apiCallId="r2", model="m", outputTokens=7)
    assert read_one(events).reported is None  # what was reported is no longer all of it
    session = read_one(events.add("session.shutdown", modelMetrics=totals(300, 7)))
    assert session.reported == sum_usage(session) == Usage(input=1200, output=17)


def test_a_repeated_response_counts_once() -> None:
    stated: dict[str, Any] = {"inputTokens": 100, "outputTokens": 10, "cacheReadTokens": 30, "apiCallId": "r1"}
    events = Events().add("assistant.usage", model="m", **stated).add("assistant.usage", model="m", **stated)
    assert sum_usage(read_one(events)) == Usage(input=70, output=10, cache_read=30)


def test_totals_smaller_than_the_responses_are_not_reported() -> None:
    events = Events().add("session.usage_record", usage={"inputTokens": 50, "outputTokens": 5, "apiCallId": "r1"})
    session = read_one(events.add("session.shutdown", modelMetrics=totals(10, 9)))
    assert (session.reported, sum_usage(session)) == (None, Usage(input=50, output=5))


# What was taken away.
def test_a_compaction_has_its_summary() -> None:
    (session,) = read_fixture("hooked")
    (compaction,) = events_of(session, Compaction)
    assert (compaction.trigger, compaction.summary, compaction.tokens_before) == ("threshold", "Second done.", 11_005)


def test_a_cancelled_compaction_is_not_a_compaction() -> None:
    session = read_one(Events().add("session.compaction_complete", success=False, error="cancelled"))
    assert not events_of(session, Compaction)
    assert [event.name for event in events_of(session, Other)] == ["session.compaction_complete"]


def test_a_truncation_is_a_compaction_without_a_summary() -> None:
    (compaction,) = events_of(read_one(Events().add("session.truncation", preTruncationTokensInMessages=9)), Compaction)
    assert (compaction.trigger, compaction.summary, compaction.tokens_before) == ("truncation", "", 9)


@pytest.mark.parametrize("first", ["e2", "not there"])
def test_rewound_events_are_removed(first: str) -> None:
    events = Events().add("user.message", content="Stay.").add("user.message", content="Go.").ask("c1").done("c1")
    session = read_one(events.add("session.snapshot_rewind", upToEventId=first, eventsRemoved=4))
    assert [event.after for event in events_of(session, Rewind)] == [2]
    assert [event.text for event in surviving_events(session) if isinstance(event, UserMessage)] == ["Stay."]


@pytest.mark.parametrize("kind", ["abort", "session.error", "skill.invoked", "session.from_the_future"])
def test_other_events_are_kept_whole(kind: str) -> None:
    (other,) = events_of(read_one(Events().add(kind, reason="why")), Other)
    assert (other.name, other.raw["data"]) == (kind, {"reason": "why"})


# Where and what.
def test_sessions_are_found_below_the_home(tmp_path: Any) -> None:
    folder = tmp_path / "session-state" / SESSION
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(Events().data())
    (folder / "other.jsonl").write_text("{}")
    (tmp_path / "session-state" / "early.jsonl").write_bytes(Events().data())
    (root,) = PLACES.roots({"COPILOT_HOME": str(tmp_path)})
    assert sorted(os.path.basename(found.path) for found in PLACES.discover(root)) == ["early.jsonl", "events.jsonl"]
    assert PLACES.roots({"HOME": "/home/person", "USERPROFILE": "/home/person"}) == [
        os.path.join("/home/person", ".copilot", "session-state")
    ]


def test_other_formats_are_not_detected() -> None:
    assert not READER.detect(b'{"type":"session_meta","payload":{}}\n', "x.jsonl")
    assert not READER.detect(b'{"type":"session","data":{},"id":"1"}\n', "x.jsonl")
    assert not READER.detect(b'{"type":"user","message":{"role":"user"}}\n', "x.jsonl")


@pytest.mark.corpus
@needs_corpus
def test_the_real_session_of_the_corpus_is_read() -> None:
    """SOURCES.md gives no counts for it; these are the file's own events, counted line by line."""
    (path,) = glob.glob(os.path.join(SHARED, "corpus", "entire__EntityProcess+agentv", "copilot-cli", "*.jsonl"))
    assert detect(path) is READER
    (session,) = read(path)
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    completed = [event["data"] for event in events if event["type"] == "tool.execution_complete"]
    found = results(session)
    assert len(completed) == len(found) == len(events_of(session, ToolCall)) == 68
    assert {data["toolCallId"]: not data["success"] for data in completed} == {
        name: result.is_error for name, result in found.items()
    }
    assert sum(result.exit_code is not None for result in found.values()) == 57
    assert sum("running" in result.detail for result in found.values()) == 4
    assert session.problems == ()
    assert (session.starter, session.branch, session.version) == ("human", "main", "1.0.64")
