"""Programs, modules and flags that were not there: where they are here, or what worked in earlier sessions. Pure."""

import re
from difflib import get_close_matches
from posixpath import dirname, join

from preheat.answers import sentences
from preheat.answers.history import History, missing_program, program_and_subcommand
from preheat.answers.values import Answer, Failure, ProjectFiles, SessionFacts, is_below
from preheat.commands import command_text, understand

_PLACES = (".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin", "bin", "scripts", ".tox/py/bin")
_PYTHONS = (".venv", "venv", "env")
_MODULE = re.compile(r"No module named '?([A-Za-z_][\w.]*)'?")
_FLAG = re.compile(
    r"(?i)(?:unknown|unrecogni[sz]ed|unexpected|invalid|no such|illegal|unsupported|bad)\s+(?:shorthand\s+)?"
    r"(?:option|flag|argument|arguments|switch)s?[\s:'\"`]*(?:--\s+)?['\"`]?(-{0,2}[A-Za-z][\w-]*)"
)
_UNDEFINED_FLAG = re.compile(r"flag provided but not defined: (-{1,2}[\w-]+)")
_USAGE_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
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


def find_flag(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """The flag that was meant, by the usage text that came back or by what worked in earlier sessions."""
    text = failure.text[:_MOST_TEXT]
    found = _FLAG.search(text) or _UNDEFINED_FLAG.search(text)
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    main = understand(command).main if command else None
    if found is None or main is None:
        return None
    flag = found[1] if found[1].startswith("-") else f"-{found[1]}" if len(found[1]) == 1 else f"--{found[1]}"
    typed = [word for word in main.words if word.startswith("-")]
    if not any(
        word.partition("=")[0] == flag or (len(flag) == 2 and word[:2] != "--" and flag[1] in word) for word in typed
    ):
        return None
    form = program_and_subcommand(main)
    about = f"{form} {flag}"
    known = {
        each: sessions
        for each, sessions in history.flags.get(form, {}).items()
        if each.startswith("--") and each != flag
    }
    if near := get_close_matches(flag, known, 1, 0.7):
        sessions = sentences.count_sessions(known[near[0]])
        return _flag_answer(sentences.FLAG_KNOWN.write(program=form, near=near[0], sessions=sessions), about, near[0])
    usage = [each for each in dict.fromkeys(_USAGE_FLAG.findall(text)) if each != flag]
    if near := get_close_matches(flag, usage, 1, 0.6):
        return _flag_answer(sentences.FLAG_USAGE.write(program=form, near=near[0]), about, near[0])
    return None


def _flag_answer(said: str, about: str, remedy: str) -> Answer | None:
    return Answer("flag", said, about, (remedy,)) if said else None
