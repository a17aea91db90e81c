"""Which rules there are, before a call and after a failure: the first that has an answer is used. Knows no rule's business."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from preheat.answers.added_paths import check_added_paths
from preheat.answers.edit_text import check_edit, explain_edit
from preheat.answers.flags import check_flags, find_field, find_flag
from preheat.answers.history import NO_HISTORY, History
from preheat.answers.known import check_known_failure
from preheat.answers.obstacles import find_port_holder, look_at_lock, read_commit_hook
from preheat.answers.paths import answer_missing_path, check_paths
from preheat.answers.programs import check_missing_program, locate_module, locate_program
from preheat.answers.quotes import check_path_variable, check_quotes, explain_path_variable
from preheat.answers.scripts import answer_missing_script, check_manifest, check_script
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts

Subject = TypeVar("Subject", PlannedCall, Failure)
Rule = Callable[[Subject, ProjectFiles, History, SessionFacts], Answer | None]


def _use_after(check: "Rule[PlannedCall]") -> "Rule[Failure]":
    """What is said before a call, after its failure: for agents that take no text before, and where something else was said."""

    def answer(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
        return check(failure.call, files, history, facts)

    return answer


BEFORE: "tuple[Rule[PlannedCall], ...]" = (
    check_paths, check_added_paths, check_edit, check_quotes, check_path_variable, check_script, check_manifest,
    check_flags, check_missing_program, check_known_failure,
)  # fmt: skip
"""The rules before a call, in this order."""
AFTER: "tuple[Rule[Failure], ...]" = (
    answer_missing_path, _use_after(explain_edit), answer_missing_script, explain_path_variable, locate_program, locate_module,
    _use_after(check_quotes), find_flag, find_field, _use_after(check_manifest), look_at_lock, find_port_holder,
    read_commit_hook, _use_after(check_known_failure),
)  # fmt: skip
"""The rules after a failure, in this order."""


def warn_before(
    call: PlannedCall, files: ProjectFiles, history: History = NO_HISTORY, facts: SessionFacts | None = None
) -> Answer | None:
    """Why a call will fail here, and what works instead; None where no rule is sure."""
    return _first_answer(BEFORE, call, files, history, facts or SessionFacts())


def answer_failure(
    failure: Failure, files: ProjectFiles, history: History = NO_HISTORY, facts: SessionFacts | None = None
) -> Answer | None:
    """The answer to a failure; None where no rule is sure."""
    return _first_answer(AFTER, failure, files, history, facts or SessionFacts())


def _first_answer(
    rules: "Sequence[Rule[Subject]]", subject: Subject, files: ProjectFiles, history: History, facts: SessionFacts
) -> Answer | None:
    for rule in rules:
        answer = rule(subject, files, history, facts)
        if answer is not None and answer.text:
            return answer
    return None
