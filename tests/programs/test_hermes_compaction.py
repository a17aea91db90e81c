"""What of a warm start is still before the model when the real Hermes has compacted the conversation, once and twice, in place
and by going on in a new session: by the bytes of its requests. Every cell of the table in docs/guides/hermes.md is a test."""

import json
import os
from typing import Any, NamedTuple

import pytest

from preheat.agents.hermes.reader import READER
from preheat.agents.sources import read
from preheat.model.session import Compaction, Session, ToolCall, Usage, UserMessage
from preheat.testing.script import Call, Reply
from tests.programs import hermes, seeds

pytestmark = pytest.mark.program

FULL = Usage(input=62_000, output=20)
"""Enough reported tokens to overfill a window of 64,000."""
CALLS = 13
SCRIPT = tuple(
    Reply(
        calls=[Call("terminal", {"command": f"seq {number} {900 + number}"})],
        usage=FULL if number in (6, 11) else Usage(input=1000, output=20),
    )
    for number in range(CALLS)
)
SETTINGS = "compression: {{protect_last_n: 4, target_ratio: 0.1, in_place: {}}}\n"
TEXT = """TEXT = {!r}


def register(ctx):
    ctx.register_hook("pre_llm_call", lambda **given: {{"context": TEXT}} if given.get("is_first_turn") else None)
"""
MIDDLEWARE = """import json

MESSAGES = json.loads({!r})


def add(request=None, **given):
    sent = request.get("messages")
    return {{"request": {{**request, "messages": [*sent[:1], *MESSAGES, *sent[1:]]}}}} if sent else None


def register(ctx):
    ctx.register_middleware("llm_request", add)
"""
"""A plugin for each of the two channels that Preheat's own plugin uses."""


class Remaining(NamedTuple):
    """The facts and example calls in a request."""

    facts: bool
    calls: bool


ALL, NONE = Remaining(True, True), Remaining(False, False)
SURVIVES = {
    "text": (ALL, ALL, ALL),
    "prefill": (ALL, ALL, ALL),
    "messages": (ALL, ALL, ALL),
    "import": (ALL, Remaining(True, False), NONE),
}
"""Before the first compaction, after it, and after the second."""


def start_arguments(way: str, home: str) -> tuple[list[str], str]:
    """The arguments and settings with which a session starts warm."""
    plain = ["chat", "-q", "Count a lot", "-Q"]
    if way == "import":
        return ["chat", "--resume", seeds.import_session(home).session, "-q", "Count a lot", "-Q"], ""
    if way == "prefill":
        path = os.path.join(home, "prefill.json")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(seeds.render_context("hermes-prefill").text)
        return plain, f"prefill_messages_file: {json.dumps(path)}"
    if way == "text":
        return plain, seeds.place_plugin(home, TEXT.format(seeds.render_context("text").text))
    return plain, seeds.place_plugin(home, MIDDLEWARE.format(seeds.render_context("hermes-prefill").text))


def split_at_compactions(requests: list[list[dict[str, Any]]]) -> list[list[list[dict[str, Any]]]]:
    """The requests between two compactions: there the history grows no further."""
    found: list[list[list[dict[str, Any]]]] = [[]]
    for messages in requests:
        before = found[-1][-1] if found[-1] else []
        # A request has everything of the one before it, and more.
        if before and json.dumps(messages[: len(before)]) != json.dumps(before):
            found.append([])
        found[-1].append(messages)
    return found


@pytest.mark.parametrize("in_place", [True, False], ids=["in_place", "rotation"])
@pytest.mark.parametrize("way", SURVIVES)
def test_the_context_survives_a_compaction(tmp_path: object, way: str, in_place: bool) -> None:
    """In the session that is read, every call of the agent counts once, no example call, and one prompt."""
    home = str(tmp_path)
    arguments, settings = start_arguments(way, home)
    finished = hermes.run(
        hermes.Job(
            program=seeds.program(), home=home, arguments=arguments, script=SCRIPT, window=64_000,
            settings=SETTINGS.format(str(in_place).lower()) + settings,
        )
    )  # fmt: skip
    requests = seeds.request_messages(finished)
    assert len(requests) == CALLS + 1
    found = split_at_compactions(requests)
    assert len(found) == 3
    remaining = [
        {Remaining(seeds.holds(each, seeds.FACT), seeds.holds(each, seeds.COMMAND)) for each in era} for era in found
    ]
    assert remaining == [{each} for each in SURVIVES[way]]
    # What is kept outside of the history the program never hands to whoever writes the summary.
    summarised = [json.dumps(each.body) for each in finished.requests if each.auxiliary]
    assert any(seeds.FACT in each for each in summarised) == (way == "import")

    sessions = read(hermes.database(home), READER)
    assert len(sessions) == (1 if in_place else 3)
    assert count_calls_and_prompts(sessions) == (CALLS, ["Count a lot"], 2)
    assert not [each for session in sessions for each in session.problems]


@pytest.mark.parametrize("in_place", [True, False], ids=["in_place", "rotation"])
def test_text_of_an_older_prompt_is_gone_after_the_second_compaction(tmp_path: object, in_place: bool) -> None:
    """Hermes keeps the first messages through one compaction and the newest prompt through all: text that came with an older
    prompt is gone after the second. A resumed session's own work counts once, though its calls are numbered anew."""
    home = str(tmp_path)
    arguments, settings = start_arguments("text", home)
    settings = SETTINGS.format(str(in_place).lower()) + settings
    few = (*SCRIPT[:3], Reply("Counted."))
    job = hermes.Job(
        program=seeds.program(), home=home, arguments=arguments, script=few, window=64_000, settings=settings
    )
    first = hermes.run(job)
    job.arguments, job.script = ["chat", "--resume", first.session, "-q", "Go on counting", "-Q"], SCRIPT
    found = split_at_compactions(seeds.request_messages(hermes.run(job)))
    remaining = [
        {Remaining(seeds.holds(each, seeds.FACT), seeds.holds(each, seeds.COMMAND)) for each in era} for era in found
    ]
    assert remaining == [{ALL}, {ALL}, {NONE}]
    sessions = read(hermes.database(home), READER)
    assert count_calls_and_prompts(sessions) == (CALLS + 3, ["Count a lot", "Go on counting"], 2)


def count_calls_and_prompts(sessions: list[Session]) -> tuple[int, list[str], int]:
    events = [event for session in sessions for event in session.events]
    return (
        sum(isinstance(event, ToolCall) for event in events),
        [event.text for event in events if isinstance(event, UserMessage) and event.origin == "human"],
        sum(isinstance(event, Compaction) for event in events),
    )
