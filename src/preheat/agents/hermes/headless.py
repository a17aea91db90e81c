"""How Hermes is started without a terminal: one question, quietly. Commands that it holds for dangerous are refused."""

from preheat.agents.headless import Asked, Headless, with_model


def arguments(asked: Asked) -> list[str]:
    """As the person would ask: with another source than its own it does not record in which folder it works."""
    return ["chat", "--quiet", *with_model(asked), *asked.options, f"--query={asked.prompt}"]


HEADLESS = Headless("hermes", arguments, tried="0.19.0")
