"""The texts of the arms `note` and `placebo`: the same facts as prose, or general facts of the same length. For experiments and
the lab. Knows nothing of who is in which arm. Light: every session's start waits for it."""

from typing import TYPE_CHECKING

from preheat.experiments.arms import note, placebo
from preheat.provisioning.frame import block, sentence
from preheat.provisioning.tokens import estimate

if TYPE_CHECKING:
    from preheat.model.context import Context


def as_note(context: "Context") -> str:
    """The items of a context as one paragraph."""
    caveat = sentence(context.sessions, context.of_this_project) if context.items else ""
    return note(" ".join((context.addendum, caveat)).strip(), [item.text for item in context.items])


def as_placebo(text: str, identity: str) -> str:
    """General facts that have as many tokens in their frame as a text has; the id counts, since its digits cost tokens."""
    return placebo(estimate(text), lambda facts: estimate(framed(identity, facts)))


def framed(identity: str, text: str) -> str:
    """A text in the frame by which Preheat recognises its own texts."""
    return block(identity, text, 0, False, ())
