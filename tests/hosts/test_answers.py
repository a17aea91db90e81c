"""Answers are exactly one JSON object that the program takes, or nothing."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import HOOKED
from preheat.model.live import HookAnswer, HookEvent
from tests.hosts.schemas import SCHEMAS
from tests.hosts.test_reading import events, hooks

RECORDED = [(agent, event) for agent in HOOKED for event in events(agent)]
TEXTS = st.text(max_size=40) | st.text(alphabet="ab \n", min_size=2, max_size=8).map(lambda text: text * 3_000)
ANSWERS = st.builds(HookAnswer, context=TEXTS, output=st.none() | TEXTS, block=TEXTS, person=TEXTS)


@settings(max_examples=400, deadline=None)
@given(recorded=st.sampled_from(RECORDED), answer=ANSWERS)
def test_every_answer_fits_the_programs_schema(recorded: tuple[str, HookEvent], answer: HookAnswer) -> None:
    """Whatever is to be said, to whatever event: no key that the program does not know, no text that is too long."""
    agent, event = recorded
    told = hooks(agent).write(event, answer)
    if told is not None:
        schema = SCHEMAS[agent].get(event.told_as)
        assert schema is not None, event.told_as
        jsonschema.validate(json.loads(told), schema)


@pytest.mark.parametrize(("agent", "event"), RECORDED)
def test_nothing_to_say_is_no_byte(agent: str, event: HookEvent) -> None:
    assert hooks(agent).write(event, HookAnswer()) is None


def test_a_long_text_is_cut_at_the_end_of_a_line_and_says_so() -> None:
    """Hosts cut, drop or move away what is too long for them; half a sentence could say the opposite."""
    start = events("codex")[0]
    told = json.loads(hooks("codex").write(start, HookAnswer(context="a whole line\n" * 2_000)) or b"")
    said = told["hookSpecificOutput"]["additionalContext"]
    assert len(said) < 10_000
    assert said.endswith("a whole line\n[cut]")


def test_half_a_surrogate_in_an_answer_does_not_cost_it() -> None:
    start = events("codex")[0]
    assert b"said" in (hooks("codex").write(start, HookAnswer(context="\ud83d said")) or b"")


@pytest.mark.parametrize("agent", HOOKED)
def test_context_is_given_at_the_start_and_after_calls(agent: str) -> None:
    """Every program has a place for both."""
    said = {event.name: hooks(agent).write(event, HookAnswer(context="Said.")) for event in events(agent)}
    for name in ("session_start", "after_tool"):
        assert b"Said." in (said[name] or b"")


@pytest.mark.parametrize("agent", HOOKED)
def test_a_stop_is_never_held_up_by_a_context(agent: str) -> None:
    """More context would make the agent go on: only a block does that, and only where the program was not held up before."""
    (stop,) = (event for event in events(agent) if event.name == "stop" and not event.subagent)
    told = json.loads(hooks(agent).write(stop, HookAnswer(context="Said.")) or b"{}")
    assert set(told) <= {"systemMessage"}
    again = HookEvent(agent=agent, session="s", name="stop", told_as=stop.told_as, stop_again=True)
    assert hooks(agent).write(again, HookAnswer(block="Wait.")) is None


@pytest.mark.parametrize("agent", HOOKED)
def test_no_answer_ever_allows_anything(agent: str) -> None:
    """Preheat never widens a permission: the word is not in any answer."""
    whole = HookAnswer(context="c", output="o", block="b", person="p")
    for event in events(agent):
        assert b'"allow' not in (hooks(agent).write(event, whole) or b"")
        assert b'"approve' not in (hooks(agent).write(event, whole) or b"")
