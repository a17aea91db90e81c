"""Edits of files that the session has not read, by tools that refuse these. Pure."""

from functools import partial
from posixpath import basename

from preheat.answers import sentences
from preheat.answers.edit_text import read_edits
from preheat.answers.facts import MOST_FILES
from preheat.answers.history import History
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts
from preheat.calls.files import find_touches
from preheat.model.session import ToolCall
from preheat.safe_text.paths import make_paths_relative


def check_unread(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A file that no call of this session read, changed or printed, and that no prompt named: it may have come with that. Nothing
    is said of a session whose beginning is not known."""
    if not (call.reads_first and facts.is_whole) or len(facts.files) >= MOST_FILES:
        return None
    typed = next((edit.path for edit in read_edits(call)), "")
    path = call.absolute(typed) if typed else ""
    if not path or files.kind(path) not in ("file", "unknown") or basename(path) in facts.prompted:
        return None
    as_call = ToolCall(line=1, call_id="", tool=call.tool, kind=call.kind, input=call.arguments)
    shorten = partial(make_paths_relative, root=files.root, folder=call.folder)
    if not facts.files or not find_touches(as_call, shorten):  # a path that the facts of a session do not keep
        return None
    if any(path.endswith(f"/{each}") for each in facts.files):  # they are relative to where the shell stood
        return None
    said = sentences.UNREAD.write(path=call.show(path))
    return Answer("unread file", said, f"unread {path}") if said else None
