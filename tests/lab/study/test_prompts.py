"""Prompts are what the models' template writes, and what an endpoint is sent passes its rules."""

import json

import pytest

from preheat.lab.study.prompts import (
    PREFILL,
    SYSTEM,
    Message,
    endpoint_messages,
    escape_command,
    render_messages,
    render_prefix,
    render_suffix,
)

CALLED = (Message("assistant", "", "ls"), Message("tool", "a.py"))


def test_a_prompt_is_prefix_and_suffix_and_ends_where_the_command_begins() -> None:
    """The two meet between messages, so that a context can be kept for many tasks."""
    whole = render_prefix(CALLED, "A note.") + render_suffix([Message("user", "Go.")])
    assert whole.startswith(f"<|im_start|>system\n{SYSTEM}\n\nA note.\n\n# Tools\n")
    assert render_prefix(CALLED, "A note.").endswith("<|im_end|>\n")
    assert (
        render_suffix([Message("user", "Go.")]) == f"<|im_start|>user\nGo.<|im_end|>\n<|im_start|>assistant\n{PREFILL}"
    )
    assert whole.count("<|im_start|>system") == 1


def test_calls_and_results_stand_as_the_template_has_them() -> None:
    """A result is a user's message in tags; a call is JSON in tags."""
    shown = render_messages([Message("system", "S"), *CALLED])
    assert '<|im_start|>assistant\n<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>' in shown
    assert "<|im_start|>user\n<tool_response>\na.py\n</tool_response><|im_end|>\n" in shown
    two = render_messages([Message("system", "S"), *CALLED, Message("tool", "b.py")])
    assert "a.py\n</tool_response>\n<tool_response>\nb.py" in two


def test_only_one_system_message() -> None:
    with pytest.raises(ValueError, match="system"):
        render_messages([Message("system", "a"), Message("system", "b")])


def test_a_command_is_escaped_as_in_json() -> None:
    assert escape_command('echo "é"') == 'echo \\"é\\"'
    assert json.loads('"' + escape_command("a\\b") + '"') == "a\\b"


def test_an_endpoint_gets_calls_with_ids_that_their_results_name() -> None:
    sent = endpoint_messages(CALLED, "A note.", [Message("user", "Go.")])
    assert [message["role"] for message in sent] == ["system", "assistant", "tool", "user"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"]
    assert json.loads(sent[1]["tool_calls"][0]["function"]["arguments"]) == {"command": "ls"}
