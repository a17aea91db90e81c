"""How Pi is started without a terminal. It has no permissions: whatever the model asks for is run."""

from preheat.agents.headless import with_model
from preheat.model.headless import Asked, Headless


def arguments(request: Asked) -> list[str]:
    return ["-p", *with_model(request), *request.options, request.prompt]


HEADLESS = Headless("pi", arguments)
