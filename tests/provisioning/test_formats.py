"""Every form of a context is accepted by the provider's own published types, and keeps the rules that types cannot say."""

import json
import os
from typing import Any

import anthropic.types
import mcp.types
import openai.types.chat
import pytest
import yaml
from hypothesis import given, settings
from pydantic import TypeAdapter, ValidationError

from preheat.agents import WITH_RENDERERS, renderers_of
from preheat.errors import UserError
from preheat.model.context import PREHEAT_CALL, Context
from preheat.model.lesson import Lesson
from preheat.model.session import PREHEAT_MARK
from preheat.provisioning import FORMATS, provision, render
from preheat.provisioning.formats import place_block
from tests.provisioning.builders import NOW, PROJECT, command_lesson, example, lesson, wild_lessons

OPENAI = TypeAdapter(list[openai.types.chat.ChatCompletionMessageParam])
ANTHROPIC = TypeAdapter(list[anthropic.types.MessageParam])
TASK = "fix the upload parser"
AGENTS_FORMS = [form for agent in WITH_RENDERERS for form in renderers_of(agent)]


def context(*lessons: Lesson, agent: str = "", task: str = TASK) -> Context:
    return provision(list(lessons), task=task, agent=agent, project=PROJECT, now=NOW)


def usual(**options: Any) -> Context:
    return context(
        command_lesson(),
        example("e1"),
        example("e2", command="mise run upload"),
        lesson("w", "working_set", use="a.py"),
        **options,
    )


def document(made: Context, form: str) -> Any:
    """As it arrives: through JSON."""
    return json.loads(render(made, form, (*FORMATS, *AGENTS_FORMS)).text)


def accept(adapter: "TypeAdapter[Any]", messages: list[dict[str, Any]]) -> None:
    """Have the provider's types look at all of it: what is declared as an iterable they only look at when asked."""
    _exhaust(adapter.validate_python(messages))


def _exhaust(value: Any) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _exhaust(each)
    elif hasattr(value, "__iter__") and not isinstance(value, str):
        for each in value:
            _exhaust(each)


def openai_rules(messages: list[dict[str, Any]]) -> None:
    """Roles and keys that the interface takes; every call is answered at once, by its id, and was made with arguments."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting
        for call in message.get("tool_calls", ()):
            assert json.loads(call["function"]["arguments"])
            assert call["id"].startswith(PREHEAT_CALL)
            assert call["id"] not in seen
            assert len(call["id"]) <= 40
            seen.add(call["id"])
            waiting.append(call["id"])
        assert message["role"] in ("system", "user", "assistant", "tool")
    assert not waiting


def anthropic_rules(messages: list[dict[str, Any]]) -> None:
    """Roles alternate and begin with the user; the message after a call answers it."""
    assert [each["role"] for each in messages] == [("user", "assistant")[number % 2] for number in range(len(messages))]
    for message, following in zip(messages, [*messages[1:], {"content": []}], strict=True):
        calls = [block["id"] for block in _blocks(message) if block["type"] == "tool_use"]
        answers = [block["tool_use_id"] for block in _blocks(following) if block["type"] == "tool_result"]
        assert calls == answers
        assert all(block["input"] for block in _blocks(message) if block["type"] == "tool_use")


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [] if isinstance(message["content"], str) else list(message["content"])


NAMELESS = {"type": "tool_use", "name": "x", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("adapter", "wrong"),
    [
        (OPENAI, {"role": "robot", "content": "x"}),
        (OPENAI, {"role": "tool", "content": "x"}),
        (OPENAI, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "x"}}]}),
        (ANTHROPIC, {"role": "tool", "content": "x"}),
        (ANTHROPIC, {"role": "assistant", "content": [NAMELESS]}),
    ],
)
def test_the_types_reject_what_providers_reject(adapter: "TypeAdapter[Any]", wrong: dict[str, Any]) -> None:
    """Otherwise passing them would prove nothing: unknown roles, missing ids."""
    with pytest.raises(ValidationError):
        accept(adapter, [wrong])


@settings(deadline=None)
@given(wild_lessons())
def test_openai_accepts_any_context(lessons: list[Lesson]) -> None:
    """Whatever is in the lessons; the task is the last message."""
    messages = document(context(*lessons), "openai")
    accept(OPENAI, messages)
    openai_rules(messages)
    assert messages[-1] == {"role": "user", "content": TASK}


@settings(deadline=None)
@given(wild_lessons())
def test_anthropic_accepts_any_context(lessons: list[Lesson]) -> None:
    """Whatever is in the lessons; the task is the last message."""
    made = document(context(*lessons), "anthropic")
    accept(ANTHROPIC, made["messages"])
    anthropic_rules(made["messages"])
    assert made["messages"][-1] == {"role": "user", "content": TASK}
    assert set(made) <= {"system", "messages"}
    assert made.get("system", "x")


@settings(deadline=None)
@given(wild_lessons())
def test_mcp_accepts_any_context(lessons: list[Lesson]) -> None:
    """Whatever is in the lessons."""
    made = mcp.types.GetPromptResult.model_validate(document(context(*lessons), "mcp-prompt"), strict=True)
    assert made.messages[-1].content == mcp.types.TextContent(type="text", text=TASK)


@settings(deadline=None)
@given(wild_lessons())
def test_hermes_gets_messages_without_a_second_system_prompt(lessons: list[Lesson]) -> None:
    """Users and assistants take turns, so that the program has nothing to join; other agents' tools are not in it."""
    made = context(*lessons)
    history, prefill = document(made, "hermes-history"), document(made, "hermes-prefill")
    assert history == {"user_message": TASK, "conversation_history": prefill}
    openai_rules([*prefill, {"role": "user", "content": TASK}])
    spoken = [each["role"] for each in prefill if each["role"] != "tool" and not each.get("tool_calls")]
    assert spoken == [("user", "assistant")[number % 2] for number in range(len(spoken))]
    assert not any(item.example.agent == "claude_code" for item in made.items if item.example) or all(
        item.text not in json.dumps(prefill, ensure_ascii=False) for item in made.items if item.example and item.text
    )


@settings(deadline=None)
@given(wild_lessons())
def test_every_format_begins_with_the_mark(lessons: list[Lesson]) -> None:
    made = context(*lessons)
    for form in (*FORMATS, *AGENTS_FORMS):
        read = [each.text for each in render(made, form).messages if each.text != TASK]
        if read:
            assert read[0].startswith(PREHEAT_MARK)
            assert made.id in read[0]
            assert read[0].count("<preheat-") == 1


def test_the_messages_of_a_context_are_complete() -> None:
    made = usual()
    messages = document(made, "openai")
    assert [each["role"] for each in messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip
    assert "mise run test" in messages[0]["content"]
    assert "mise run lint" not in messages[0]["content"]
    assert messages[1]["content"].startswith("<preheat-example id=")
    assert "Synthetic request" in messages[1]["content"]
    assert messages[2]["tool_calls"][0]["function"]["name"] == "Bash"
    assert messages[3]["content"] == "(1 line of output)"


def test_examples_of_other_agents_are_left_out_of_an_agents_format() -> None:
    for form in (*FORMATS, *AGENTS_FORMS):
        assert "mise run lint" not in render(usual(agent="hermes"), form).text
    assert "mise run lint" in render(usual(agent="claude_code"), "openai").text
    assert "mise run lint" not in render(usual(), AGENTS_FORMS[0]).text


def test_an_empty_context_is_empty_in_every_format() -> None:
    empty = context()
    assert render(empty, "text").text == render(empty, "agents-md").text == render(empty, "skill").text == ""
    assert document(empty, "hook") == {}
    assert document(empty, "openai") == [{"role": "user", "content": TASK}]
    assert document(empty, "anthropic") == {"messages": [{"role": "user", "content": TASK}]}
    assert document(empty, "hermes-prefill") == []
    assert document(context(task=" "), "openai") == []


def test_the_hook_format_is_an_answer_to_session_start() -> None:
    output = document(usual(), "hook")["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "additionalContext"}
    assert output["hookEventName"] == "SessionStart"
    assert output["additionalContext"] == render(usual(), "text").text


def test_a_skill_has_valid_front_matter() -> None:
    made = provision([command_lesson()], task=TASK, project=PROJECT, now=NOW)
    ((path, text),) = render(made, "skill").files.items()
    _, heading, body = text.split("---\n", 2)
    fields = yaml.safe_load(heading)
    assert fields["name"] == os.path.dirname(path) == "preheat-shop"
    assert 0 < len(fields["description"]) <= 1024
    assert body.strip() == render(made, "text").text


def test_a_skill_has_a_valid_name_for_any_project() -> None:
    odd = 'C:\\work\\My "App"\n---\nx: y'
    made = provision([lesson("x", scope=command_lesson().scope)], task=TASK, project=PROJECT, now=NOW)
    ((path, text),) = render(Context(**{**_fields(made), "project": odd}), "skill").files.items()
    assert path == "preheat-context/SKILL.md"
    assert set(yaml.safe_load(text.split("---\n")[1])) == {"name", "description"}


def _fields(made: Context) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__struct_fields__}


@pytest.mark.parametrize("before", ["", "# Rules\n\nBe kind.\n", "no end of line", "\r\nwindows\r\n"])
def test_placing_a_block_twice_keeps_one_block(before: str) -> None:
    first, second = render(context(command_lesson()), "agents-md").text, render(usual(), "agents-md").text
    once = place_block(before, first)
    assert place_block(once, first) == once
    assert place_block(once, second) == place_block(before, second)
    assert place_block(once, second).startswith(before.rstrip("\n"))
    assert place_block(once, "").strip() == before.strip()
    assert place_block(before, "") == before


def test_placing_a_block_keeps_the_other_contents() -> None:
    block = render(usual(), "agents-md").text
    middle = f"# Above\n\n{block}\n# Below\n"
    assert place_block(middle, block) == middle
    assert place_block(f"{middle}\n{block}", block).count("preheat:begin") == 1
    assert place_block(middle, "") == "# Above\n\n# Below\n"


def test_an_unknown_format_is_an_error_with_the_known_names() -> None:
    with pytest.raises(UserError, match="no form `pdf`; there are text, openai, anthropic"):
        render(usual(), "pdf")
