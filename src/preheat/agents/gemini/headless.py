"""How Gemini CLI is started without a terminal. Without a person to ask it has no shell unless everything is approved."""

from preheat.agents.headless import has_option, model_option
from preheat.model.headless import HeadlessProgram, HeadlessRequest


def arguments(request: HeadlessRequest) -> list[str]:
    approval = [] if has_option(request, "--yolo", "-y", "--approval-mode") else ["--approval-mode", "yolo"]
    return [*approval, "--skip-trust", *model_option(request), *request.options, f"--prompt={request.prompt}"]


HEADLESS = HeadlessProgram("gemini", arguments, tested_version="0.61.0", answer_only=("--approval-mode", "default"))
