"""Texts for a model to read: how many tokens they have, and how what came out of sessions is put before it as data.

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
    """The sentence that stands before what came out of sessions: what it is and is not."""
    return sentence(0, one_project)


def frame_text(identity: str, text: str) -> str:
    """What one session of a project left behind, in the block by which it is known again."""
    return block(identity, "", 1, True, [harmless(text)])
