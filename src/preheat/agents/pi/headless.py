"""How Pi is started without a terminal. It has no permissions: whatever the model asks for is run."""

from preheat.agents.headless import model_option
from preheat.model.headless import HeadlessProgram, HeadlessRequest


def arguments(request: HeadlessRequest) -> list[str]:
    return ["-p", *model_option(request), *request.options, request.prompt]


HEADLESS = HeadlessProgram("pi", arguments)
