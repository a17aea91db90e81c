"""How Hermes is started without a terminal: one question, quietly. It refuses commands that it considers dangerous."""

import json
from collections.abc import Mapping

from preheat.agents.headless import model_option
from preheat.model.headless import Endpoint, HeadlessProgram, HeadlessRequest, HeadlessSetup

_CONFIGURATION = """\
model: {{provider: custom, default: {model}, base_url: {url}, api_key: {key}}}
memory: {{nudge_interval: 0}}
skills: {{creation_nudge_interval: 0}}
"""


def arguments(request: HeadlessRequest) -> list[str]:
    """Asks as the person would: with another source Hermes does not record its working folder."""
    turns = ["--max-turns", str(request.turns)] if request.turns else []
    return ["chat", "--quiet", *model_option(request), *turns, *request.options, f"--query={request.prompt}"]


def set_up_endpoint(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> HeadlessSetup:
    """The configuration for the endpoint. The key is a reference to a variable, which Hermes resolves. Hermes's own reviews
    of sessions are off: they would cost tokens that no task asked for."""
    key = f"${{{endpoint.key}}}" if endpoint.key else "none"
    text = _CONFIGURATION.format(model=json.dumps(endpoint.model), url=json.dumps(endpoint.url), key=json.dumps(key))
    return HeadlessSetup({".hermes/config.yaml": text}, {"HERMES_HOME": f"{home}/.hermes"})


HEADLESS = HeadlessProgram(
    "hermes",
    arguments,
    tested_version="0.19.0",
    set_up=set_up_endpoint,
    instructions_file="AGENTS.md",
    answer_only=("--toolsets", "todo"),
    out_of_turns="Reached maximum iterations",
)
