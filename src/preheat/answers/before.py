"""Before a call: why it will fail here, by the working tree, the session and earlier sessions. Pure; precise before complete."""

from collections.abc import Callable

from preheat.answers.edit_text import check_edit
from preheat.answers.history import NO_HISTORY, History
from preheat.answers.known import check_known_failure
from preheat.answers.paths import check_paths
from preheat.answers.scripts import check_script
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts

Rule = Callable[[PlannedCall, ProjectFiles, History, SessionFacts], Answer | None]


def _paths(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_paths(call, files)


def _script(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_script(call, files)


def _edit_text(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_edit(call, files, facts) if call.kind == "edit" else None


BEFORE: tuple[Rule, ...] = (_paths, _edit_text, _script, check_known_failure)
"""The rules, in this order."""


def warn_before(
    call: PlannedCall, files: ProjectFiles, history: History = NO_HISTORY, facts: SessionFacts | None = None
) -> Answer | None:
    """Why a call will fail here, and what works instead; None where no rule is sure."""
    facts = facts or SessionFacts()
    for rule in BEFORE:
        answer = rule(call, files, history, facts)
        if answer is not None and answer.text:
            return answer
    return None
