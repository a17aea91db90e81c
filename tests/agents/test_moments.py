"""What agents declare of their moments, what was recorded with their real programs, and the table for people are the same."""

import pytest

from preheat.agents import WITH_HOOKS
from scripts import make_moments
from tests.programs.moments import ObservedMoments


@pytest.mark.parametrize("agent", make_moments.load_recording())
def test_an_agent_declares_what_was_recorded_with_its_program(agent: str) -> None:
    recorded = {name: said for name, said in make_moments.load_recording()[agent].items() if isinstance(said, str)}
    hooks = make_moments.find_hooks(agent)
    declared = {name: getattr(hooks.moments, name) for name in ObservedMoments._fields}
    assert recorded == {"version": hooks.setup.tested_version, **declared}


def test_every_program_that_is_named_as_tried_is_recorded() -> None:
    tried = [agent for agent in WITH_HOOKS if make_moments.find_hooks(agent).setup.tested_version]
    assert sorted(make_moments.load_recording()) == sorted(tried)


def test_the_tables_in_the_guide_say_what_the_agents_declare_and_what_their_models_received() -> None:
    with open(make_moments.PAGE, encoding="utf-8") as stream:
        page = stream.read()
    assert page == make_moments.with_tables(page), "run `python scripts/make_moments.py`"
