"""Quotes an untrusted text whole or not at all. Heavier than `quotation`: it loads the command parser. Knows no tool."""

from preheat.safe_text.letters import strip_invisible
from preheat.safe_text.quotation import make_harmless
from preheat.safe_text.reasons import order_reason

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def quote_or_withhold(text: str) -> str:
    """An untrusted text, or a notice that it was withheld if it gives orders. Invisible characters are removed first."""
    cleaned = strip_invisible(text)
    return WITHHELD if order_reason(cleaned.replace("\n", " ").replace("\t", " ")) else make_harmless(cleaned)
