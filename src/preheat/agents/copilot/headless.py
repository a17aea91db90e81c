"""How Copilot CLI is started without a terminal: all tools are allowed, in the working folder only."""

from preheat.agents.headless import has_option, model_option
from preheat.model.headless import HeadlessProgram, HeadlessRequest


def arguments(request: HeadlessRequest) -> list[str]:
    permission = [] if has_option(request, "--allow-tool", "--allow-all-tools") else ["--allow-all-tools"]
    return ["-p", request.prompt, *permission, "--no-color", *model_option(request), *request.options]


HEADLESS = HeadlessProgram("copilot", arguments, environment={"COPILOT_AUTO_UPDATE": "false"})
