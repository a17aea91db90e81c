"""Commands that earlier sessions of the project tried and that never worked, before such a call and after it. Pure."""

from preheat.answers import sentences
from preheat.answers.history import History, KnownFailure, comparable
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text
from preheat.safe_text.paths import make_paths_relative


def check_known_failure(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A command that failed in every earlier session that tried it, or whose program was never found."""
    if call.kind != "shell" or not (history.failing or history.missing_programs):
        return None
    text = command_text(call.arguments)
    command = comparable(make_paths_relative(text, files.root, call.folder))
    known = history.failing.get(command)
    if known is not None:
        return _describe(command, known, known.use, known.worked)
    for each, _ in last_commands(text, call.folder):
        lost = history.missing_programs.get(each.words[0]) if not each.wrappers else None
        if lost is None:
            continue
        use = history.uses.get(each.program)
        return _describe(each.program, lost, use.command if use else "", use.sessions if use else 0)
    return None


def _describe(about: str, known: KnownFailure, use: str, worked: int) -> Answer | None:
    said = sentences.KNOWN_REPAIR.write(use=use, worked=sentences.count_sessions(worked), sessions=known.sessions)
    if use and said:
        return Answer("known failure", said, about, (use,))
    said = sentences.KNOWN_FAILURE.write(sessions=known.sessions, error=known.error)
    return Answer("known failure", said, about) if said else None
