"""Commands that earlier sessions of the project tried and that never worked, before such a call and after it. Pure."""

from preheat.answers import sentences
from preheat.answers.history import History, comparable
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
