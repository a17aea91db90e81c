"""Commands that earlier sessions of the project tried and that never worked, before such a call and after it. Pure."""

from preheat.answers import sentences
from preheat.answers.history import History, KnownFailure, first_step, without_filters
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text
from preheat.safe_text.paths import make_paths_relative


def check_known_failure(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A command that failed in every earlier session that tried it."""
    if call.kind != "shell" or not (history.failing or history.failing_first):
        return None
    text = make_paths_relative(command_text(call.arguments), files.root, call.folder)
    command = without_filters(text)
    if (known := history.failing.get(command)) is not None:
        return _describe(command, known)
    step = first_step(text)
    first = history.failing_first.get(step) if step else None
    if first is None:
        return None
    said = sentences.KNOWN_FIRST_STEP.write(sessions=first.sessions, error=first.error)
    return Answer("known failure", said, step) if said else None


def _describe(about: str, known: KnownFailure) -> Answer | None:
    said = sentences.KNOWN_REPAIR.write(
        use=known.use, worked=sentences.count_sessions(known.worked), sessions=known.sessions
    )
    if known.use and said:
        return Answer("known failure", said, about, (known.use,))
    said = sentences.KNOWN_FAILURE.write(sessions=known.sessions, error=known.error)
    return Answer("known failure", said, about) if said else None
