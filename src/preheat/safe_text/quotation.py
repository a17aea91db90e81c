"""A text that anybody may have written, put before a model as data; or withheld. Knows no tool."""

from preheat.safe_text.harmless import harmless
from preheat.safe_text.letters import visible
from preheat.safe_text.reasons import orders

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def quotation(text: str) -> str:
    """The text, harmless; withheld if it gives orders. What does not show is taken away first: it is no reason to withhold the
    rest."""
    shown = visible(text)
    return WITHHELD if orders(shown.replace("\n", " ").replace("\t", " ")) else harmless(shown)
