"""Paths that `git add` is given from another folder than the one that they begin at. Pure."""

import re
from posixpath import join, normpath

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.values import Answer, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.commands import command_text

_ADDING = re.compile(r"(?:cd (?P<folder>[\w./-]+) && )?git add (?P<paths>[\w./@+ -]+?)\s*(?:&&|$)")

_NOT_FROM_HERE = ("/", "-", "./", "..")
"""How options begin, and paths that cannot be meant from the project's own folder."""


def check_added_paths(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A path that is not there from the folder in which the call runs, but is from the project's own. Of others nothing is said:
    what was removed can be added too."""
    found = _ADDING.match(command_text(call.arguments).replace("\\\n", " ").strip()) if call.kind == "shell" else None
    if found is None:
        return None
    folder = normpath(join(call.folder, found["folder"] or "."))
    typed = found["paths"].split()
    if folder == files.root or not is_below(folder, files.root):
        return None
    for place, path in enumerate(typed):
        meant = normpath(join(files.root, path))
        if path == "." or path.startswith(_NOT_FROM_HERE) or files.kind(join(folder, path)) != "none":
            continue
        if files.kind(meant) not in ("file", "folder"):
            continue
        which = sentences.name_path(place, len(typed))
        shown = PlannedCall(call.kind, call.tool, {}, folder).show(meant)
        said = sentences.MISSING_MEANT.write(which=which, meant=shown)
        return Answer("missing path", said, join(folder, path), (meant,)) if said else None
    return None
