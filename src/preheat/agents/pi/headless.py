"""How Pi is started without a terminal. It has no permissions: whatever the model asks for is run."""

from preheat.agents.headless import Asked, Headless, with_model


def arguments(asked: Asked) -> list[str]:
    return ["-p", *with_model(asked), *asked.options, asked.prompt]


HEADLESS = Headless("pi", arguments)
