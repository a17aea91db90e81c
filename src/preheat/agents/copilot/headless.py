"""How Copilot CLI is started without a terminal: all tools are allowed, in the working folder only."""

from preheat.agents.headless import given, with_model
from preheat.model.headless import Asked, Headless


def arguments(request: Asked) -> list[str]:
    permission = [] if given(request, "--allow-tool", "--allow-all-tools") else ["--allow-all-tools"]
    return ["-p", request.prompt, *permission, "--no-color", *with_model(request), *request.options]


HEADLESS = Headless("copilot", arguments, environment={"COPILOT_AUTO_UPDATE": "false"})
