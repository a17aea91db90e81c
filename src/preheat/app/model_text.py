"""Texts for a model: their tokens, and the frame that marks text from sessions as data.

For the surfaces that answer models; knows none of them.
"""

from preheat.provisioning.messages import describe_origin, format_block
from preheat.provisioning.tokens import estimate_tokens as estimate_tokens
from preheat.safe_text.cleanup import make_harmless, make_harmless_line, map_texts, strip_invisible
from preheat.safe_text.reasons import WITHHELD, quote_or_withhold

__all__ = [
    "WITHHELD",
    "describe_source",
    "estimate_tokens",
    "frame_text",
    "make_harmless",
    "make_harmless_line",
    "map_texts",
    "quote_or_withhold",
    "strip_invisible",
]


def describe_source(one_project: bool) -> str:
    """The sentence before text from sessions that says what it is: data, not instructions."""
    return describe_origin(0, one_project)


def frame_text(identity: str, text: str) -> str:
    """A text from one session of a project, in the block by which Preheat recognises its own texts."""
    return format_block(identity, "", 1, True, [make_harmless(text)])
