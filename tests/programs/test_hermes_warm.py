"""The real Hermes program takes a context as a prefill file and passes it to the model unchanged."""

import json
import os

import pytest

from preheat.agents import renderers_of
from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.model.lesson import Example
from preheat.model.session import ToolCall, UserMessage
from preheat.provisioning import provision, render
from preheat.testing.script import Reply
from tests.programs import hermes
from tests.provisioning.builders import NOW, PROJECT, command_lesson, lesson
from tests.shared import real_program

pytestmark = pytest.mark.program


def test_a_prefill_file_reaches_the_model_and_is_not_stored(tmp_path: object) -> None:
    """Facts, calls and results come before the task, in order; the stored session has only the task."""
    program = real_program(hermes.find_hermes(), "hermes")
    call = Example(
        "terminal", {"command": "mise run lint"}, '{"output": "0 issues.", "exit_code": 0}', "shell", "hermes"
    )
    made = provision(
        [command_lesson(), lesson("e1", "example", text="A call.", example=call)],
        task="Do some work", agent="hermes", project=PROJECT, now=NOW,
    )  # fmt: skip
    prefill = next(form for form in renderers_of("hermes") if form.name == "hermes-prefill")
    rendered = render(made, prefill)
    path = os.path.join(str(tmp_path), "prefill.json")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(rendered.text)
    home = os.path.join(str(tmp_path), "home")
    finished = hermes.run(
        hermes.Job(
            program=program, home=home, arguments=["chat", "-q", "Do some work", "-Q"], script=(Reply("Done."),),
            settings=f"prefill_messages_file: {json.dumps(path)}",
        )
    )  # fmt: skip
    asked = next(each for each in finished.requests if not each.auxiliary and isinstance(each.body, dict))
    system, *sent = asked.body["messages"]
    assert system["role"] == "system"
    assert [each["role"] for each in sent] == ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    assert sent[0]["content"] == rendered.document[0]["content"]
    assert json.loads(sent[3]["tool_calls"][0]["function"]["arguments"]) == {"command": "mise run lint"}
    assert sent[4]["tool_call_id"] == sent[3]["tool_calls"][0]["id"]
    assert sent[-1]["content"].endswith("Do some work")
    (session,) = read(hermes.database(home), READER)
    assert [event.text for event in session.events if isinstance(event, UserMessage)] == ["Do some work"]
    assert not [event for event in session.events if isinstance(event, ToolCall)]
