"""A text that anybody may have written, quoted whole or not at all. Knows no tool.

Apart from `quotation`, which a session's start waits for: telling orders from data loads the parser of commands.
"""

from preheat.safe_text.letters import visible
from preheat.safe_text.quotation import harmless
from preheat.safe_text.reasons import orders

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def quotation(text: str) -> str:
    """A text that anybody may have written; withheld if it gives orders. What does not show is taken away first: it is no
    reason to withhold the rest."""
    shown = visible(text)
    return WITHHELD if orders(shown.replace("\n", " ").replace("\t", " ")) else harmless(shown)
