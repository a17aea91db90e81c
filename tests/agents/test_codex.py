"""The Codex reader: every difficulty of its format, with one small rollout each.

`fed` reads each rollout twice, whole and line by line with the state saved in between, so every test
also proves that a growing file gives the same events as a finished one.
"""

import json

import pytest

from preheat.agents.codex.reader import READER
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
    UserMessage,
    pair_calls_with_results,
    surviving_events,
)
from tests.agents.codex_rollout import THREAD, Rollout
from tests.agents.parsing import events_of, read_whole_and_in_pieces

NAME = f"rollout-2026-03-01T10-00-00-{THREAD}.jsonl"


def read(rollout: Rollout) -> Session:
    return read_whole_and_in_pieces(READER, rollout.data(), NAME)


# The heading.
def test_the_heading_is_filled_from_the_first_record() -> None:
    git = {"branch": "main", "commit_hash": "0"}
    session = read(Rollout(git=git).turn().prompt("Hello.").event("thread_name_updated", thread_name="Greeting"))
    assert (session.agent, session.id, session.version) == ("codex", THREAD, "0.100.0")
    assert (session.project, session.branch, session.model) == ("/w/proj", "main", "gpt-5.5")
    assert (session.title, session.starter, session.parent) == ("Greeting", "human", None)
    assert session.started_at is not None
    assert session.ended_at is not None
    assert session.ended_at > session.started_at


@pytest.mark.parametrize(
    ("originator", "source", "starter"),
    [
        ("codex_exec", "exec", "headless"),
        ("codex_sdk_ts", "exec", "headless"),
        ("codex-tui", "cli", "human"),
        ("codex_vscode", "vscode", "human"),
        ("Codex Desktop", "vscode", "human"),
        ("codex_mcp", "mcp", "headless"),
        ("codex-tui", {"internal": "memory_consolidation"}, "background"),
        ("preheat_lab", "exec", "preheat"),
        ("", None, "unknown"),
    ],
)
def test_originator_and_source_decide_the_starter(originator: str, source: object, starter: str) -> None:
    assert read(Rollout(originator=originator, source=source)).starter == starter


def test_threads_the_program_starts_for_itself_are_background() -> None:
    assert read(Rollout(thread_source="memory_consolidation")).starter == "background"


# Messages that are stored twice.
def test_legacy_messages_count_once() -> None:
    """A prompt comes as item then event, an answer as event then item."""
    session = read(Rollout().turn().prompt("Do it.").reply("Doing.").reply("Done.").event("task_complete"))
    assert [event.text for event in events_of(session, UserMessage)] == ["Do it."]
    assert [event.text for event in events_of(session, AssistantMessage)] == ["Doing.", "Done."]


def test_paginated_messages_count_once() -> None:
    rollout = Rollout(history_mode="paginated").turn().message("user", "Do it.")
    rollout.done("UserMessage", content=[{"type": "text", "text": "Do it."}])
    rollout.done("Reasoning", summary_text=["I think."], raw_content=[])
    rollout.item("reasoning", summary=[{"type": "summary_text", "text": "I think."}])
    rollout.done("AgentMessage", content=[{"type": "Text", "text": "Done."}]).message("assistant", "Done.")
    session = read(rollout.event("task_complete"))
    assert [event.text for event in events_of(session, UserMessage)] == ["Do it."]
    assert [event.text for event in events_of(session, AssistantMessage)] == ["Done."]
    assert [event.text for event in events_of(session, Reasoning)] == ["I think."]


def test_an_item_and_its_event_count_once_even_if_their_texts_differ() -> None:
    """The event lacks citations and plans that the item has; the item is used."""
    rollout = Rollout().turn().prompt("Plan it.")
    rollout.event("agent_message", message="Here.").message("assistant", "Here. <proposed_plan>…</proposed_plan>")
    answers = events_of(read(rollout.event("task_complete")), AssistantMessage)
    assert [answer.text for answer in answers] == ["Here. <proposed_plan>…</proposed_plan>"]


def test_the_same_text_in_two_turns_is_two_messages() -> None:
    session = read(Rollout().turn().prompt("Go on.").reply("Yes.").turn().prompt("Go on.").reply("Yes."))
    assert len(events_of(session, UserMessage)) == 2
    assert len(events_of(session, AssistantMessage)) == 2


def test_shown_messages_without_an_item_become_events() -> None:
    rollout = Rollout().turn().event("user_message", message="Only shown.").event("agent_message", message="Too.")
    session = read(rollout.event("task_complete"))
    assert [event.text for event in events_of(session, UserMessage)] == ["Only shown."]
    assert [event.text for event in events_of(session, AssistantMessage)] == ["Too."]


# Who wrote a message.
@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/w/proj</cwd>\n</environment_context>",
        "<user_instructions>\nBe brief.\n</user_instructions>",
        "# AGENTS.md instructions for /w/proj\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<subagent_notification>\n{}\n</subagent_notification>",
        "<skill>\n<name>x</name>\n</skill>",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    ],
)
def test_texts_of_the_program_are_injected(text: str) -> None:
    session = read(Rollout().turn().message("user", text).prompt("Hello."))
    assert [event.origin for event in events_of(session, UserMessage)] == ["injected", "human"]


def test_developer_messages_are_injected() -> None:
    (message,) = events_of(read(Rollout().message("developer", "<hook text>")), UserMessage)
    assert message.origin == "injected"


def test_texts_of_preheat_have_the_origin_preheat() -> None:
    """Texts of hooks are developer messages; Preheat must not learn from its own."""
    metadata = {"content_item_kinds": ["hooks.additional_context"]}
    rollout = Rollout().item(
        "message",
        role="developer",
        content=[{"type": "input_text", "text": "<preheat-context>\nUse make.\n</preheat-context>"}],
        internal_chat_message_metadata_passthrough=metadata,
    )
    (message,) = events_of(read(rollout), UserMessage)
    assert message.origin == "preheat"


def test_the_recorded_kind_of_content_outranks_its_text() -> None:
    """Newer versions record the kind of each piece: a person may type a tag."""
    rollout = Rollout().turn()
    for kind in ("user.text", "hooks.additional_context"):
        metadata = {"content_item_kinds": [kind]}
        rollout.message("user", "<skill> what is this?", internal_chat_message_metadata_passthrough=metadata)
    assert [event.origin for event in events_of(read(rollout), UserMessage)] == ["human", "injected"]


def test_one_message_may_hold_text_of_the_program_and_of_the_person() -> None:
    rollout = Rollout().turn().message("user", "<environment_context>x</environment_context>", "Fix it.")
    program, human = events_of(read(rollout), UserMessage)
    assert (program.origin, human.origin, human.text) == ("injected", "human", "Fix it.")


def test_an_editors_context_is_split_from_the_request() -> None:
    text = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nFix it.\n"
    program, human = events_of(read(Rollout().turn().prompt(text)), UserMessage)
    assert (program.origin, human.text) == ("injected", "Fix it.")


def test_images_are_counted_and_their_tags_left_out() -> None:
    content = [
        {"type": "input_text", "text": '<image name="[Image #1]">'},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is it?"},
    ]
    (message,) = events_of(read(Rollout().turn().item("message", role="user", content=content)), UserMessage)
    assert (message.text, message.images) == ("What is it?", 1)


def test_encrypted_reasoning_is_an_empty_reasoning_event() -> None:
    rollout = Rollout().item("reasoning", summary=[], content=None, encrypted_content="gAAAA")
    (thought,) = events_of(read(rollout), Reasoning)
    assert thought.text == ""


# Calls.
def test_calls_of_every_form_get_their_result() -> None:
    rollout = Rollout().turn()
    rollout.call("c1", cmd="ls").output("c1", "one")
    rollout.item("custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch", status="completed")
    rollout.item("custom_tool_call_output", call_id="c2", output="two")
    rollout.item("local_shell_call", call_id="c3", status="completed", action={"type": "exec", "command": ["ls"]})
    rollout.output("c3", "three")
    rollout.item("function_call", call_id="c4", name="read", namespace="mcp__files", arguments="{}")
    rollout.output("c4", "four")
    pairs = list(pair_calls_with_results(read(rollout)))
    assert [(call.tool, call.kind) for call, _ in pairs] == [
        ("exec_command", "shell"),
        ("apply_patch", "edit"),
        ("local_shell", "shell"),
        ("mcp__files__read", "other"),
    ]
    assert [answer.text for _, answer in pairs if answer] == ["one", "two", "three", "four"]
    assert [call.input for call, _ in pairs][:3] == [
        {"cmd": "ls"},
        {"text": "*** Begin Patch"},
        {"type": "exec", "command": ["ls"]},
    ]


def test_a_web_search_is_a_call_with_its_result() -> None:
    """It runs at the provider and has no output record; the event only repeats it."""
    action = {"type": "search", "query": "weather"}
    rollout = Rollout().turn().event("web_search_end", call_id="ws_1", query="weather", action=action)
    rollout.item("web_search_call", id="ws_1", status="completed", action=action)
    rollout.item("web_search_call", status="failed", action=action)
    pairs = list(pair_calls_with_results(read(rollout)))
    assert [(call.tool, call.kind, call.input) for call, _ in pairs] == [("web_search", "web", action)] * 2
    assert [answer.is_error for _, answer in pairs if answer] == [False, True]
    assert pairs[0][0].call_id != pairs[1][0].call_id


def test_results_join_by_id_not_by_order() -> None:
    rollout = Rollout().turn().call("a", cmd="one").call("b", cmd="two").output("b", "2").output("a", "1")
    assert [(call.call_id, answer and answer.text) for call, answer in pair_calls_with_results(read(rollout))] == [
        ("a", "1"),
        ("b", "2"),
    ]


def test_a_repeated_call_id_counts_once_and_is_a_problem() -> None:
    rollout = Rollout().turn().call("a", cmd="one").output("a", "1").call("a", cmd="one").output("a", "1")
    session = read(rollout)
    assert len(events_of(session, ToolCall)) == len(events_of(session, ToolResult)) == 1
    assert len(session.problems) == 1


def test_arguments_that_are_not_json_are_kept_as_text() -> None:
    rollout = Rollout().item("function_call", call_id="a", name="exec_command", arguments='{"cmd": "ls')
    (call,) = events_of(read(rollout), ToolCall)
    assert call.input == {"text": '{"cmd": "ls'}


def test_tool_search_is_a_call() -> None:
    rollout = Rollout().item("tool_search_call", call_id="t", execution="client", arguments={"query": "x"})
    rollout.item("tool_search_output", call_id="t", status="completed", execution="client", tools=[])
    ((call, answer),) = pair_calls_with_results(read(rollout))
    assert (call.tool, call.input, answer is not None) == ("tool_search", {"query": "x"}, True)


# Turns.
def test_a_compaction_is_one_event_and_its_copied_history_is_ignored() -> None:
    again = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}]}]
    rollout = Rollout().turn().prompt("Do it.").reply("Done.")
    rollout.tokens({"input_tokens": 900, "output_tokens": 100, "total_tokens": 1000})
    rollout.add("compacted", {"message": "Summary.", "replacement_history": again}).event("context_compacted")
    rollout.done("ContextCompaction", id="x")
    session = read(rollout)
    (compaction,) = events_of(session, Compaction)
    assert (compaction.summary, compaction.tokens_before) == ("Summary.", 1000)
    assert len(events_of(session, UserMessage)) == 1


def test_a_roll_back_removes_the_last_turns() -> None:
    rollout = Rollout()
    for text in ("One.", "Two.", "Three."):
        rollout.turn().prompt(text).reply(f"{text} Done.")
    rollout.event("thread_rolled_back", num_turns=2).turn().prompt("Four.")
    session = read(rollout)
    assert len(events_of(session, Rewind)) == 1
    remaining = [event.text for event in surviving_events(session) if isinstance(event, UserMessage | AssistantMessage)]
    assert remaining == ["One.", "One. Done.", "Four."]


def test_a_second_roll_back_counts_from_the_remaining_turns() -> None:
    rollout = Rollout()
    for text in ("One.", "Two."):
        rollout.turn().prompt(text)
    rollout.event("thread_rolled_back", num_turns=1).event("thread_rolled_back", num_turns=5)
    assert [event for event in surviving_events(read(rollout)) if isinstance(event, UserMessage)] == []


def test_aborted_turns_are_kept() -> None:
    rollout = Rollout().turn().prompt("Wait.").call("a", cmd="sleep 9")
    rollout.output("a", "Wall time: 1.5 seconds\naborted by user").event("turn_aborted", reason="interrupted")
    session = read(rollout)
    (aborted,) = events_of(session, Other)
    assert aborted.name == "turn_aborted"
    assert aborted.raw["payload"]["reason"] == "interrupted"
    (answer,) = events_of(session, ToolResult)
    assert (answer.text, answer.seconds, answer.exit_code) == ("aborted by user", 1.5, None)


def test_a_session_that_still_runs_has_calls_without_results() -> None:
    ((call, answer),) = pair_calls_with_results(read(Rollout().turn().prompt("Go.").call("a", cmd="make")))
    assert (call.call_id, answer) == ("a", None)


@pytest.mark.parametrize("form", ["event", "item", "activity", "output"])
def test_a_spawned_agent_is_one_event(form: str) -> None:
    rollout = Rollout().turn().call("s", "spawn_agent", message="Look.")
    if form == "event":
        rollout.event("collab_agent_spawn_end", call_id="s", new_thread_id="child")
    elif form == "item":
        rollout.done(
            "CollabAgentToolCall",
            id="s",
            tool="SpawnAgent",
            receiver_thread_ids=["child"],
            status="completed",
        )
    elif form == "activity":
        rollout.done("SubAgentActivity", id="s", kind="started", agent_thread_id="child")
        rollout.done("SubAgentActivity", id="x", kind="completed", agent_thread_id="child")
    rollout.output("s", json.dumps({"agent_id": "child", "nickname": "Ada"}))
    (spawn,) = events_of(read(rollout), Spawn)
    assert (spawn.session, spawn.call_id) == ("child", "s")


def test_messages_between_agents_are_injected() -> None:
    content = [{"type": "input_text", "text": "Found it."}]
    rollout = Rollout().item("agent_message", author="/root/one", recipient="/root", content=content)
    (message,) = events_of(read(rollout), UserMessage)
    assert (message.text, message.origin) == ("Found it.", "injected")


def test_unknown_records_are_kept_whole() -> None:
    rollout = Rollout().add("new_thing", {"a": 1}).event("new_event", b=2).item("new_item", c=3)
    kept = events_of(read(rollout.done("NewItem", d=4)), Other)
    assert [event.name for event in kept] == ["new_thing", "new_event", "new_item", "NewItem"]
    assert kept[0].raw["payload"] == {"a": 1}


def test_commands_the_person_ran_are_not_calls_of_the_model() -> None:
    rollout = Rollout().turn().done("CommandExecution", id="user_1", source="user_shell", exit_code=0)
    session = read(rollout)
    assert not events_of(session, ToolCall)
    assert not events_of(session, ToolResult)
    assert [event.name for event in events_of(session, Other)] == ["CommandExecution"]
