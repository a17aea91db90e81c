"""Programs and modules that were not there: where they are here, or what worked in earlier sessions. Pure."""

import re
from posixpath import dirname, join

from preheat.answers import sentences
from preheat.answers.history import History, missing_program
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.commands import command_text

_INSTALLED = (".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin", ".tox/py/bin")
_OWN = ("bin", "scripts")
"""Where a project keeps programs of its own, which may be others of the same name."""
_SEARCHED = ("/usr/bin/", "/usr/local/bin/")
"""Where nearly every shell looks: what earlier sessions did not find and is there now would be found."""
_PYTHONS = (".venv", "venv", "env")
_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_SETS_PATH = re.compile(r"(?:^|[\s;&(])PATH=")
_MOST_TEXT = 20_000


def check_missing_program(
    call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts
) -> Answer | None:
    """A program that the shell did not find before, in this session or an earlier one, and that never ran since: how it was
    started otherwise, else where it is installed on this machine."""
    if call.kind != "shell" or not (facts.missing_programs or history.missing_programs):
        return None
    if _SETS_PATH.search(command_text(call.arguments)):
        return None  # it says itself where programs are
    for command, _ in last_commands(command_text(call.arguments), call.folder):
        name = command.wrappers[0] if command.wrappers else command.words[0]
        known = history.missing_programs.get(name)
        if known is None and name not in facts.missing_programs:
            continue
        sessions = sentences.count_sessions(known.sessions if known is not None else 0)
        past = history.uses.get(name)
        use = facts.uses.get(name) or (past.command if past is not None else "")
        if use and use != name and not command.wrappers:
            worked = sentences.count_sessions(past.sessions if past is not None and name not in facts.uses else 0)
            said = sentences.MISSING_PROGRAM_USED.write(use=use, worked=worked, sessions=sessions)
            return Answer("program", said, name, (use,)) if said else None
        place = files.find_program(name)
        if place.startswith(_SEARCHED) and name not in facts.missing_programs:  # installed since
            continue
        if place and place not in command_text(call.arguments):
            said = sentences.MISSING_PROGRAM_INSTALLED.write(place=place, sessions=sessions)
            return Answer("program", said, name, (place,)) if said else None
        said = sentences.MISSING_PROGRAM.write(name=name, sessions=sessions)
        return Answer("program", said, name) if said else None
    return None


def locate_program(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """Where a program is that the shell did not find: as this session started it, as the project has installed it, as earlier
    sessions started it, as it is installed on this machine, or as one of the project's own."""
    name = missing_program(failure.text[:_MOST_TEXT])
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    if not name or name not in command:
        return None
    start = facts.uses.get(name, "")
    if start and start not in command:
        said = sentences.PROGRAM_STARTED.write(use=start)
        return Answer("program", said, name, (start,)) if said else None
    if answer := _find_program(name, _INSTALLED, failure, files):
        return answer
    use = history.uses.get(name)
    if use is None or use.command.split() == [name] or use.command in command:
        return _find_installed(name, command, files) or _find_program(name, _OWN, failure, files)
    said = sentences.PROGRAM_USED.write(use=use.command, sessions=sentences.count_sessions(use.sessions))
    return Answer("program", said, name, (use.command,)) if said else None


def _find_installed(name: str, command: str, files: ProjectFiles) -> Answer | None:
    """A program that is on this machine, in a folder of programs in which the agent's shell does not look."""
    place = files.find_program(name)
    said = sentences.PROGRAM_INSTALLED.write(place=place) if place and place not in command else ""
    return Answer("program", said, name, (place,)) if said else None


def _find_program(name: str, places: tuple[str, ...], failure: Failure, files: ProjectFiles) -> Answer | None:
    """A program in one of some folders, here or further up in the project."""
    folder = failure.call.folder
    while is_below(folder, files.root):
        for place in places:
            path = join(folder, place, name)
            if files.kind(path) == "file":
                said = sentences.PROGRAM_HERE.write(place=failure.call.show(path))
                return Answer("program", said, name, (path,)) if said else None
        folder = dirname(folder)
    return None


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
