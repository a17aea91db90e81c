"""How Hermes is started without a terminal: one question, quietly. Commands that it holds for dangerous are refused."""

import json
from collections.abc import Mapping

from preheat.agents.headless import with_model
from preheat.model.headless import Asked, Endpoint, Headless, Settled

_CONFIGURATION = """\
model: {{provider: custom, default: {model}, base_url: {url}, api_key: {key}}}
memory: {{nudge_interval: 0}}
skills: {{creation_nudge_interval: 0}}
"""


def arguments(asked: Asked) -> list[str]:
    """As the person would ask: with another source than its own it does not record in which folder it works."""
    turns = ["--max-turns", str(asked.turns)] if asked.turns else []
    return ["chat", "--quiet", *with_model(asked), *turns, *asked.options, f"--query={asked.prompt}"]


def settle(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> Settled:
    """The key is a reference to the variable, which the program resolves. It does not look back at a session by itself: that
    would cost tokens that no task asked for."""
    key = f"${{{endpoint.key}}}" if endpoint.key else "none"
    text = _CONFIGURATION.format(model=json.dumps(endpoint.model), url=json.dumps(endpoint.url), key=json.dumps(key))
    return Settled({".hermes/config.yaml": text}, {"HERMES_HOME": f"{home}/.hermes"})


HEADLESS = Headless(
    "hermes", arguments, tried="0.19.0", settle=settle, file="AGENTS.md", out_of_turns="Reached maximum iterations"
)
