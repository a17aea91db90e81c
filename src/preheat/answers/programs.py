"""Programs and modules that were not there: where they are here, or what worked in earlier sessions. Pure."""

import re
from posixpath import dirname, join

from preheat.answers import sentences
from preheat.answers.history import History, missing_program
from preheat.answers.values import Answer, Failure, ProjectFiles, SessionFacts, is_below
from preheat.commands import command_text

_PLACES = (".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin", "bin", "scripts", ".tox/py/bin")
_PYTHONS = (".venv", "venv", "env")
_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_MOST_TEXT = 20_000


def locate_program(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """Where a program is that the shell did not find."""
    name = missing_program(failure.text[:_MOST_TEXT])
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    if not name or name not in command:
        return None
    folder = failure.call.folder
    while is_below(folder, files.root):
        for place in _PLACES:
            path = join(folder, place, name)
            if files.kind(path) == "file":
                said = sentences.PROGRAM_HERE.write(place=failure.call.show(path))
                return Answer("program", said, name, (path,)) if said else None
        folder = dirname(folder)
    use = history.uses.get(name)
    if use is None or use.command.split() == [name]:
        return None
    said = sentences.PROGRAM_USED.write(use=use.command, sessions=sentences.count_sessions(use.sessions))
    return Answer("program", said, name, (use.command,)) if said else None


def locate_module(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """The project's own Python, if it has a module that another one did not find."""
    found = _MODULE.search(failure.text[:_MOST_TEXT])
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    if found is None or not command:
        return None
    module = found[1].split(".")[0]
    for environment in _PYTHONS:
        python = join(files.root, environment, "bin/python")
        if join(environment, "bin") in command or files.kind(python) != "file":
            continue
        library = join(files.root, environment, "lib")
        for version in files.names_in(library) or ():
            place = join(library, version, "site-packages", module)
            if files.kind(place) == "folder" or files.kind(f"{place}.py") == "file":
                shown = failure.call.show
                said = sentences.MODULE_HERE.write(place=shown(join(files.root, environment)), python=shown(python))
                return Answer("module", said, module, (python,)) if said else None
    return None
