"""How agents are started without a terminal: what is asked gets through. Whether the programs take it, `tests/programs` shows."""

import pytest

from preheat.agents import AGENTS
from preheat.agents.headless import headless_agents, headless_of
from preheat.model.headless import Asked


@pytest.mark.parametrize("agent", headless_agents())
def test_what_is_asked_gets_through(agent: str) -> None:
    """Prompt, model and the person's own options."""
    headless = headless_of(agent)
    assert headless is not None
    words = headless.arguments(Asked("<do> it", "some-model", ("--own", "x")))
    assert "some-model" in words
    assert words[words.index("--own") + 1] == "x"
    assert headless.reads_input == (not any("<do> it" in word for word in words))


@pytest.mark.parametrize("agent", headless_agents())
def test_nothing_is_said_of_a_model_that_nobody_asked_for(agent: str) -> None:
    headless = headless_of(agent)
    assert headless is not None
    assert "--model" not in headless.arguments(Asked("do it"))


def test_the_persons_own_permissions_stand() -> None:
    """Whoever names a sandbox or an approval gets no second one."""
    for agent, option in (("codex", "--sandbox=read-only"), ("gemini", "--approval-mode=default")):
        headless = headless_of(agent)
        assert headless is not None
        words = headless.arguments(Asked("do it", "", (option,)))
        assert [word for word in words if word.startswith(option.partition("=")[0])] == [option]


def test_an_agent_that_cannot_be_started_so() -> None:
    assert headless_of("openai_chat") is None
    assert set(headless_agents()) < set(AGENTS)
