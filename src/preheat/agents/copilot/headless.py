"""How Copilot CLI is started without a terminal: every tool may run, but only in the working folder."""

from preheat.agents.headless import given, with_model
from preheat.model.headless import Asked, Headless


def arguments(asked: Asked) -> list[str]:
    allowed = [] if given(asked, "--allow-tool", "--allow-all-tools") else ["--allow-all-tools"]
    return ["-p", asked.prompt, *allowed, "--no-color", *with_model(asked), *asked.options]


HEADLESS = Headless("copilot", arguments, environment={"COPILOT_AUTO_UPDATE": "false"})
