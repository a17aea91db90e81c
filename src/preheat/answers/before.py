"""Before a call: why it will fail here, by the working tree, the session and earlier sessions. Pure; precise before complete."""

from collections.abc import Callable

from preheat.answers import sentences
from preheat.answers.edit_text import check_edit
from preheat.answers.history import NO_HISTORY, History, comparable
from preheat.answers.paths import check_paths
from preheat.answers.scripts import check_script
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text
from preheat.safe_text.paths import make_paths_relative

Rule = Callable[[PlannedCall, ProjectFiles, History, SessionFacts], Answer | None]


def _paths(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_paths(call, files)


def _script(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_script(call, files)


def _edit_text(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    return check_edit(call, files, facts) if call.kind == "edit" else None


def _known_failure(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A command that failed in every earlier session that tried it, or whose program was never found."""
    if call.kind != "shell" or not (history.failing or history.missing_programs):
        return None
    text = command_text(call.arguments)
    command = comparable(make_paths_relative(text, files.root, call.folder))
    known = history.failing.get(command)
    if known is not None:
        said = sentences.KNOWN_FAILURE.write(command=command, sessions=known.sessions, error=known.error, use=known.use)
        return Answer("known failure", said, command, (known.use,) if known.use else ()) if said else None
    for each, _ in last_commands(text, call.folder):
        lost = history.missing_programs.get(each.words[0]) if not each.wrappers else None
        if lost is None:
            continue
        use = history.uses.get(each.program)
        said = sentences.KNOWN_FAILURE.write(
            command=each.program, sessions=lost.sessions, error=lost.error, use=use.command if use else ""
        )
        return Answer("known failure", said, each.program, (use.command,) if use else ()) if said else None
    return None


BEFORE: tuple[Rule, ...] = (_paths, _edit_text, _script, _known_failure)
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
