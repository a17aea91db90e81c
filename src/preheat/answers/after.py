"""After a failure: the first rule that has an answer. Pure; knows no single rule's business."""

from collections.abc import Callable

from preheat.answers.edit_text import check_edit
from preheat.answers.history import NO_HISTORY, History
from preheat.answers.known import check_known_failure
from preheat.answers.obstacles import find_port_holder, look_at_lock, read_commit_hook
from preheat.answers.paths import answer_missing_path
from preheat.answers.programs import find_flag, locate_module, locate_program
from preheat.answers.scripts import check_script
from preheat.answers.values import Answer, Failure, ProjectFiles, SessionFacts

Rule = Callable[[Failure, ProjectFiles, History, SessionFacts], Answer | None]


def _edit_text(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_edit(failure.call, files, facts) if failure.call.kind == "edit" else None


def _script(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_script(failure.call, files, failed=True)


def _known_failure(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """For agents that take no text before a call; where it was said then, it is not said again."""
    return check_known_failure(failure.call, files, history, facts)


AFTER: tuple[Rule, ...] = (
    answer_missing_path,
    _edit_text,
    _script,
    locate_program,
    locate_module,
    find_flag,
    look_at_lock,
    find_port_holder,
    read_commit_hook,
    _known_failure,
)
"""The rules, in this order."""


def answer_failure(
    failure: Failure, files: ProjectFiles, history: History = NO_HISTORY, facts: SessionFacts | None = None
) -> Answer | None:
    """The answer to a failure; None where no rule is sure."""
    facts = facts or SessionFacts()
    for rule in AFTER:
        answer = rule(failure, files, history, facts)
        if answer is not None and answer.text:
            return answer
    return None
