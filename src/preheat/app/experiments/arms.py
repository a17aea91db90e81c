"""The texts of the arms `note` and `placebo`: the same facts as prose, or general facts of the same length. For experiments and
the lab. Knows nothing of who is in which arm. Light: every session's start waits for it."""

from typing import TYPE_CHECKING

from preheat.experiments.arms import write_note, write_placebo
from preheat.provisioning.frame import describe_origin, format_block
from preheat.provisioning.tokens import estimate_tokens

if TYPE_CHECKING:
    from preheat.model.context import Context


def note_text(context: "Context") -> str:
    """The items of a context as one paragraph."""
    caveat = describe_origin(context.sessions, context.is_from_this_project) if context.items else ""
    return write_note(" ".join((context.addendum, caveat)).strip(), [item.text for item in context.items])


def placebo_text(text: str, identity: str) -> str:
    """General facts that have as many tokens in their frame as a text has; the id counts, since its digits cost tokens."""
    return write_placebo(estimate_tokens(text), lambda facts: estimate_tokens(frame(identity, facts)))


def frame(identity: str, text: str) -> str:
    """A text in the frame by which Preheat recognises its own texts."""
    return format_block(identity, text, 0, False, ())
