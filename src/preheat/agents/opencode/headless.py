"""How OpenCode is started without a terminal: `opencode run`, with the permissions of the person's own settings."""

from preheat.agents.headless import Asked, Headless, with_model


def arguments(asked: Asked) -> list[str]:
    return ["run", *with_model(asked), *asked.options]


HEADLESS = Headless("opencode", arguments, reads_input=True, tried="1.18.33")
