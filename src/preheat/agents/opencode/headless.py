"""How OpenCode is started without a terminal: `opencode run`, with the permissions of the person's own settings."""

import json
from collections.abc import Mapping

from preheat.agents.headless import model_option
from preheat.model.headless import Endpoint, HeadlessProgram, HeadlessRequest, HeadlessSetup

QUIET = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_SHARE",
)
"""Variables that turn off what OpenCode would fetch or send by itself."""
_PROVIDER = "endpoint"


def arguments(request: HeadlessRequest) -> list[str]:
    return ["run", *model_option(request), *request.options]


def set_up_endpoint(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> HeadlessSetup:
    """The configuration for the endpoint, with OpenCode's built-in client for OpenAI-compatible servers. All calls are
    allowed, because nobody is there to ask. The setting `steps` is not used: it only asks the model to stop."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": endpoint.url, "apiKey": f"{{env:{endpoint.key}}}" if endpoint.key else "none"},
        "models": {endpoint.model: {}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"{_PROVIDER}/{endpoint.model}",
        "small_model": f"{_PROVIDER}/{endpoint.model}",
        "provider": {_PROVIDER: provider},
        "permission": {"*": "allow"},
    }
    return HeadlessSetup(
        {".config/opencode/opencode.json": json.dumps(settings)},
        {"XDG_STATE_HOME": f"{home}/.local/state", **dict.fromkeys(QUIET, "1")},
    )


HEADLESS = HeadlessProgram(
    "opencode",
    arguments,
    reads_input=True,
    tested_version="1.18.33",
    set_up=set_up_endpoint,
    instructions_file="AGENTS.md",
    answer_only=("--agent", "plan"),
)
