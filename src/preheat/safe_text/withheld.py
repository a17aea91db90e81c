"""Quotes an untrusted text whole or not at all. Heavier than `quotation`: it loads the command parser. Knows no tool."""

from preheat.safe_text.letters import visible
from preheat.safe_text.quotation import harmless
from preheat.safe_text.reasons import orders

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def quotation(text: str) -> str:
    """An untrusted text, or a notice that it was withheld if it gives orders. Invisible characters are removed first."""
    cleaned = visible(text)
    return WITHHELD if orders(cleaned.replace("\n", " ").replace("\t", " ")) else harmless(cleaned)
