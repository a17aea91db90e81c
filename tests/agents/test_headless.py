"""The options with which agents are started without a terminal; `tests/programs` runs the real programs."""

import pytest

from preheat.agents import AGENTS
from preheat.agents.headless import headless_agents, headless_of
from preheat.model.headless import HeadlessRequest


@pytest.mark.parametrize("agent", headless_agents())
def test_prompt_model_and_options_are_passed_on(agent: str) -> None:
    headless = headless_of(agent)
    assert headless is not None
    words = headless.arguments(HeadlessRequest("<do> it", "some-model", ("--own", "x")))
    assert "some-model" in words
    assert words[words.index("--own") + 1] == "x"
    assert headless.reads_input == (not any("<do> it" in word for word in words))


@pytest.mark.parametrize("agent", headless_agents())
def test_no_model_option_without_a_model(agent: str) -> None:
    headless = headless_of(agent)
    assert headless is not None
    assert "--model" not in headless.arguments(HeadlessRequest("do it"))


def test_permission_options_of_the_person_replace_the_default() -> None:
    for agent, option in (("codex", "--sandbox=read-only"), ("gemini", "--approval-mode=default")):
        headless = headless_of(agent)
        assert headless is not None
        words = headless.arguments(HeadlessRequest("do it", "", (option,)))
        assert [word for word in words if word.startswith(option.partition("=")[0])] == [option]


def test_an_agent_without_headless_mode_has_none() -> None:
    assert headless_of("openai_chat") is None
    assert set(headless_agents()) < set(AGENTS)
