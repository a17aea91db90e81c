"""What the other arms read in the place of a context: the same facts as prose, or as many tokens of no use. For the field trial
and for the lab alike. Knows nothing of who is in which arm. On the way of every session's start: nothing heavy."""

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
    """General facts that cost, in the frame, what a text in its frame costs; an id costs more or less by its digits."""
    return placebo(estimate(text), lambda said: estimate(framed(identity, said)))


def framed(identity: str, said: str) -> str:
    """A text in the frame by which it is known again."""
    return block(identity, said, 0, False, ())
