"""Makes texts that came out of sessions fit to be put before a model: harmless, and without those that give orders.

What a tool printed, a page said or a file was called may be written by anybody. Knows no tool.
"""

from typing import Any

from preheat.calls.clean import orders
from preheat.provisioning.safe import harmless, visible

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def quoted(value: Any) -> Any:
    """JSON values whose texts are data and nothing more."""
    if isinstance(value, str):
        return quotation(value)
    if isinstance(value, dict):
        return {quotation(str(name)): quoted(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [quoted(each) for each in value]
    return value


def quotation(text: str) -> str:
    """One text. What does not show is taken away first: it is no reason to withhold the rest."""
    shown = visible(text)
    return WITHHELD if orders(shown.replace("\n", " ").replace("\t", " ")) else harmless(shown)
