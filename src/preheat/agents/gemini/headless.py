"""How Gemini CLI is started without a terminal. Without a person to ask it has no shell unless everything is approved."""

from preheat.agents.headless import given, with_model
from preheat.model.headless import Asked, Headless


def arguments(request: Asked) -> list[str]:
    approval = [] if given(request, "--yolo", "-y", "--approval-mode") else ["--approval-mode", "yolo"]
    return [*approval, "--skip-trust", *with_model(request), *request.options, f"--prompt={request.prompt}"]


HEADLESS = Headless("gemini", arguments, tried="0.61.0")
