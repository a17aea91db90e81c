"""How Codex is started without a terminal: `codex exec`, which asks for no approval and keeps commands inside its sandbox."""

import json
from collections.abc import Mapping

from preheat.agents.headless import has_option, model_option
from preheat.model.headless import Endpoint, HeadlessProgram, HeadlessRequest, HeadlessSetup

_CONFIGURATION = """\
model = {model}
model_provider = "endpoint"
approval_policy = "never"
check_for_update_on_startup = false
web_search = "disabled"

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"

[features]
apps = false
plugins = false
remote_plugin = false

[model_providers.endpoint]
name = "Endpoint"
base_url = {url}
wire_api = "responses"
"""


def arguments(request: HeadlessRequest) -> list[str]:
    """Write access to the working folder, unless the person chose another sandbox."""
    has_sandbox = has_option(
        request, "--sandbox", "-s", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me"
    )
    sandbox = [] if has_sandbox else ["--sandbox", "workspace-write"]
    return ["exec", "--skip-git-repo-check", *sandbox, *model_option(request), *request.options, "-"]


def set_up_endpoint(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> HeadlessSetup:
    """The configuration for the endpoint, which must offer OpenAI's responses interface: Codex has no other."""
    text = _CONFIGURATION.format(model=json.dumps(endpoint.model), url=json.dumps(endpoint.url))
    if endpoint.key:
        text += f"env_key = {json.dumps(endpoint.key)}\n"
    return HeadlessSetup({".codex/config.toml": text}, {"CODEX_HOME": f"{home}/.codex"})


HEADLESS = HeadlessProgram(
    "codex",
    arguments,
    reads_input=True,
    tested_version="0.166.0",
    set_up=set_up_endpoint,
    instructions_file="AGENTS.md",
    answer_only=("--sandbox", "read-only"),
)
