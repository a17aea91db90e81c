"""Answers on the spot: what a failed call, or one about to be made, should know of the working tree and of earlier sessions.

`answer_failure` and `warn_before` are pure: a call, what may be looked at (`ProjectFiles`) and what is known (`History`,
`SessionFacts`) in, at most one text of our grammar out. Knows no agent and no disk.
"""

from preheat.answers.history import NO_HISTORY, History, summarise_history
from preheat.answers.rules import AFTER, BEFORE, answer_failure, warn_before
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts

__all__ = [
    "AFTER",
    "BEFORE",
    "NO_HISTORY",
    "Answer",
    "Failure",
    "History",
    "PlannedCall",
    "ProjectFiles",
    "SessionFacts",
    "answer_failure",
    "summarise_history",
    "warn_before",
]  # fmt: skip
