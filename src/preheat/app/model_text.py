"""Texts for a model to read: how many tokens they have, and how what came out of sessions is put before it as data.

For the surfaces that answer models; knows none of them.
"""

from collections.abc import Callable
from typing import Any

from preheat.calls.clean import orders
from preheat.provisioning.frame import block, sentence
from preheat.provisioning.safe import harmless, visible
from preheat.provisioning.safe import line as harmless_line
from preheat.provisioning.tokens import estimate as estimate_tokens

__all__ = [
    "WITHHELD", "describe_source", "estimate_tokens", "frame_text", "harmless", "harmless_line", "in_value", "quotation",
    "visible",
]  # fmt: skip

WITHHELD = "(withheld: it reads like an instruction; `preheat` shows it to a person)"


def describe_source(one_project: bool) -> str:
    """The sentence that stands before what came out of sessions: what it is and is not."""
    return sentence(0, one_project)


def frame_text(identity: str, text: str) -> str:
    """What one session of a project left behind, in the block by which it is known again."""
    return block(identity, "", 1, True, [harmless(text)])


def quotation(text: str) -> str:
    """A text that anybody may have written; withheld if it gives orders. What does not show is taken away first: it is no
    reason to withhold the rest."""
    shown = visible(text)
    return WITHHELD if orders(shown.replace("\n", " ").replace("\t", " ")) else harmless(shown)


def in_value(change: Callable[[str], str], value: Any) -> Any:
    """A JSON value with every text in it changed, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(name)): in_value(change, each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [in_value(change, each) for each in value]
    return value
