"""Texts for a model: their tokens, and the frame that marks text from sessions as data.

For the surfaces that answer models; knows none of them.
"""

from preheat.provisioning.frame import block, sentence
from preheat.provisioning.tokens import estimate as estimate_tokens
from preheat.safe_text.letters import visible
from preheat.safe_text.quotation import harmless, harmless_line, in_value
from preheat.safe_text.withheld import WITHHELD, quotation

__all__ = [
    "WITHHELD", "describe_source", "estimate_tokens", "frame_text", "harmless", "harmless_line", "in_value", "quotation",
    "visible",
]  # fmt: skip


def describe_source(one_project: bool) -> str:
    """The sentence before text from sessions that says what it is: data, not instructions."""
    return sentence(0, one_project)


def frame_text(identity: str, text: str) -> str:
    """A text from one session of a project, in the block by which Preheat recognises its own texts."""
    return block(identity, "", 1, True, [harmless(text)])
