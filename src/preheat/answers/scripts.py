"""A script, target, recipe or task that its manifest does not have: those that it has, the nearest, or where it is. Pure."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from posixpath import dirname, join, normpath
from typing import NamedTuple

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.commands import command_text
from preheat.commands.values import Command
from preheat.manifests.names import MANIFESTS, Manifest

_RUN = frozenset(["run", "run-script", "task"])
_WITH_RUN = frozenset(["npm", "pnpm", "bun", "mise", "composer", "deno"])
_BARE = frozenset(["make", "just", "task", "poe"])
_BARE_TOO = frozenset(["pnpm", "yarn"])
"""Programs that run a script by its bare name if they have no command of that name."""
_FOLDER_OPTIONS = ("--prefix", "-C", "--cwd", "--dir", "--directory")
_WORKSPACE_OPTIONS = ("--filter", "-F", "-w", "--workspace")
_ELSEWHERE = ("--workspaces", "-r", "--recursive", "--if-present", "-f", "--file", "--makefile", "--justfile", "-d",
              "--working-dir", "--config")  # fmt: skip
"""Options after which another manifest counts, or a missing script is no failure."""
_TASK_FOLDERS = ("mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks")
_NPM_ALIASES = frozenset(["test", "start", "stop", "restart"])
_NEEDED = {
    **{("cargo", word): "Cargo.toml" for word in ("build", "test", "check", "clippy", "run", "fmt", "bench", "doc", "nextest")},
    **{("go", word): "go.mod" for word in ("build", "test", "vet", "mod", "generate")},
    **{(runner, word): "package.json" for runner in ("npm", "pnpm") for word in ("ci", "test")},
}  # fmt: skip
"""Commands that do nothing without a file of this name in their folder or above."""
_ELSEWHERE_OPTIONS = frozenset(
    [
        "--manifest-path",
        "-C",
        "--prefix",
        "--dir",
        "--filter",
        "-F",
        "-w",
        "--workspace",
        "-r",
        "--recursive",
        "-modfile",
        "init",
    ]
)
_MOST_LISTED = 12
_MOST_MEANT = 3
"""Of more names none is meant: they are only listed."""
_CLOSE = 0.75
_SEPARATOR = re.compile(r"[:_./-]")
_SAYS_MISSING = re.compile(
    r"(?i)missing script|no rule to make target|not found|no task|does not contain|unknown (?:task|script|recipe|target|command)|"
    r"no such (?:task|script|recipe|target|command)|could(?:n't| not) find|NO_SCRIPT|not defined|(?:doesn't|does not) exist"
)
"""What runners say of a script that they do not have."""
_MOST_MANIFESTS = 30
_MOST_TEXT = 20_000


class Request(NamedTuple):
    """A command that runs what a manifest names."""

    runner: str
    name: str
    folder: str
    typed: str


def find_request(call: PlannedCall, files: ProjectFiles, failed: bool = False) -> Request | None:
    """What of a manifest the last command of a call runs; None if it runs nothing of one. `failed`: the call has failed, so
    that a bare name can only have been meant as a script."""
    if call.kind != "shell":
        return None
    for command, folder in reversed(last_commands(command_text(call.arguments), call.folder)):
        words, place = _take_folder(command, folder, files) if failed else (command.words[1:], folder)
        name = _read_name(command, words, failed)
        if name and place:
            return Request(command.program, name, place, " ".join(command.words))
    return None


def find_manifest(call: PlannedCall, files: ProjectFiles) -> str:
    """The manifest that the script of a call should be in; empty if it runs none."""
    request = find_request(call, files, failed=True)
    return _nearest(MANIFESTS[request.runner], request.folder, files) if request is not None else ""


def _take_folder(command: Command, folder: str, files: ProjectFiles) -> tuple[tuple[str, ...], str]:
    """Of a command that failed: the words behind the program without the option that names another folder or workspace, and that
    folder; an empty one where it cannot be told."""
    words = command.words[1:]
    for number, word in enumerate(words):
        option, has_value, value = word.partition("=")
        if option not in _FOLDER_OPTIONS and option not in _WORKSPACE_OPTIONS:
            continue
        used = 1 if has_value else 2
        value = value if has_value else next(iter(words[number + 1 :]), "")
        rest = (*words[:number], *words[number + used :])
        if option in _FOLDER_OPTIONS:
            place = normpath(join(folder, value)) if value else ""
            return rest, place if files.kind(place) == "folder" else ""
        return rest, _find_workspace(value, files)
    return words, folder


def _find_workspace(name: str, files: ProjectFiles) -> str:
    """The folder of the one package of a monorepo that has a name, or stands in a folder of this name; empty if it is not one."""
    packages = [path for path in files.find("package.json") if "/node_modules/" not in path][:_MOST_MANIFESTS]
    named = [path for path in packages if f'"name": "{name}"' in (files.read_text(path) or "")]
    found = named or [path for path in packages if path.endswith(f"/{name.removeprefix('./')}/package.json")]
    return dirname(found[0]) if name and len(found) == 1 else ""


def _read_name(command: Command, words: tuple[str, ...], failed: bool) -> str:
    program = command.program
    elsewhere = (*_ELSEWHERE, *_FOLDER_OPTIONS, *_WORKSPACE_OPTIONS)
    if program not in MANIFESTS or command.wrappers or any(word.split("=")[0] in elsewhere for word in words):
        return ""
    operands = [word for word in words if not word.startswith("-") and "=" not in word]
    if words[:1] != tuple(operands[:1]):
        return ""  # options before the name may have values
    if (
        program in _WITH_RUN
        and operands[:1]
        and operands[0] in _RUN
        and len(operands) > 1
        and words[1:2] == (operands[1],)
    ):
        return operands[1] if _is_name(operands[1]) else ""
    if program == "npm" and operands[:1] and operands[0] in _NPM_ALIASES:
        return operands[0] if operands[0] == "test" else ""
    if (
        program in _BARE or (failed and program in _BARE_TOO and operands[:1] and operands[0] not in _RUN)
    ) and operands:
        return operands[0] if _is_name(operands[0]) else ""
    return ""


def _is_name(word: str) -> bool:
    return all(letter.isalnum() or letter in ":-_." for letter in word) and not word.endswith(
        (".js", ".ts", ".mjs", ".sh", ".py", ".tsx")
    )


def check_script(
    call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts, failed: bool = False
) -> Answer | None:
    """What to run instead of a script that its manifest does not have; None if it has it, or that is not sure. `failed`: the
    call has failed, so nothing else has that name."""
    request = find_request(call, files, failed)
    if request is None:
        return None
    manifest = MANIFESTS[request.runner]
    place = _nearest(manifest, request.folder, files)
    if not place:
        return _no_manifest(call, request, manifest, files)
    names = _read(manifest, place, files)
    if names is not None and request.runner == "mise":
        names = (*names, *_tasks_in_folders(dirname(place), files))
    if names is None or request.name in names:
        return None
    if not failed and _is_otherwise_there(request, dirname(place), files):
        return None
    elsewhere = [
        other
        for other in _others(manifest, files)
        if other != place and request.name in (_read(manifest, other, files) or ())
    ]
    near = _find_near(request.name, names)
    about = f"{place} {request.name}"
    if len(elsewhere) == 1 and not near:
        folder = dirname(elsewhere[0])
        said = sentences.SCRIPT_ELSEWHERE.write(other=call.show(elsewhere[0]), folder=call.show(folder))
        return Answer("script", said, about, (folder,))
    listed = sorted(names, key=lambda name: (name != near, name))[:_MOST_LISTED]
    said = sentences.NO_SCRIPT.write(manifest=call.show(place), near=near, kind=manifest.kind, names=listed)
    remedies = (near,) if near else tuple(listed) if len(names) <= _MOST_MEANT else ()
    return Answer("script", said, about, remedies) if said else None


def _find_near(wanted: str, names: Sequence[str]) -> str:
    """The name that is spelled nearly as another, or the only one that has it among its words (`lint:all`)."""
    if close := get_close_matches(wanted, names, 1, _CLOSE):
        return close[0]
    if swapped := [name for name in names if sorted(name) == sorted(wanted)]:
        return swapped[0]
    found = [name for name in names if wanted in _SEPARATOR.split(name)]
    return found[0] if len(found) == 1 else ""


def answer_missing_script(
    failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts
) -> Answer | None:
    """The same after a failure that says so: a call that failed for another reason may have meant no script."""
    request = find_request(failure.call, files, failed=True)
    text = failure.text[:_MOST_TEXT]
    if request is None or request.name not in text or not _SAYS_MISSING.search(text):
        return None
    return check_script(failure.call, files, history, facts, failed=True)


def check_manifest(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """Where a command works that needs a manifest which neither its folder nor any above it has."""
    if call.kind != "shell":
        return None
    for command, folder in last_commands(command_text(call.arguments), call.folder):
        name = _NEEDED.get((command.program, command.words[1] if len(command.words) > 1 else ""), "")
        if (
            not name
            or not folder
            or not _ELSEWHERE_OPTIONS.isdisjoint(each.partition("=")[0] for each in command.words)
        ):
            continue
        if not is_below(folder, files.root) or not _is_missing_above(name, folder, files):
            continue
        places = [path for path in files.find(name) if "/node_modules/" not in path and "/target/" not in path]
        top = [path for path in places if not any(is_below(path, dirname(other)) for other in places if other != path)]
        if len(top) != 1:
            continue
        said = sentences.NO_MANIFEST.write(manifest=name, folder=call.show(dirname(top[0])))
        return Answer("folder", said, f"{folder} {command.program} {name}", (dirname(top[0]),)) if said else None
    return None


def _is_missing_above(name: str, folder: str, files: ProjectFiles) -> bool:
    """Whether a file surely is neither in a folder nor in any above it within the project."""
    while is_below(folder, files.root):
        if files.kind(join(folder, name)) != "none":
            return False
        folder = dirname(folder)
    return True


def _no_manifest(call: PlannedCall, request: Request, manifest: Manifest, files: ProjectFiles) -> Answer | None:
    """Where a command works that needs a manifest which neither its folder nor any above it has."""
    if not is_below(request.folder, files.root) or files.kind(request.folder) != "folder":
        return None
    having = [other for other in _others(manifest, files) if request.name in (_read(manifest, other, files) or ())]
    if len(having) != 1:
        return None
    folder = dirname(having[0])
    said = sentences.NO_MANIFEST.write(manifest=manifest.files[0], folder=call.show(folder))
    return Answer("folder", said, f"{request.folder} {request.typed}", (folder,)) if said else None


def _nearest(manifest: Manifest, folder: str, files: ProjectFiles) -> str:
    """The manifest in a folder or the nearest above it within the project; empty if there is none or that is not known."""
    while is_below(folder, files.root):
        for name in manifest.files:
            if files.kind(join(folder, name)) == "file":
                return join(folder, name)
        folder = dirname(folder)
    return ""


def _others(manifest: Manifest, files: ProjectFiles) -> Iterator[str]:
    found: Sequence[str] = [path for name in manifest.files if "/" not in name for path in files.find(name)]
    return iter([path for path in found if "/node_modules/" not in path][:_MOST_MANIFESTS])


def _read(manifest: Manifest, path: str, files: ProjectFiles) -> tuple[str, ...] | None:
    text = files.read_text(path)
    return manifest.read(text) if text is not None else None


def _tasks_in_folders(folder: str, files: ProjectFiles) -> Iterator[str]:
    """Tasks that are files in a folder of tasks, in folders of these too: `lint/all` is `lint:all`."""
    for tasks in _TASK_FOLDERS:
        for name in files.names_in(join(folder, tasks)) or ():
            below = files.names_in(join(folder, tasks, name))
            yield from [name] if below is None else [f"{name}:{each}" for each in below]


def _is_otherwise_there(request: Request, folder: str, files: ProjectFiles) -> bool:
    """Whether the name is run although the manifest does not have it: a file, an installed program, a task in a folder."""
    places = [join(request.folder, request.name), join(folder, "node_modules/.bin", request.name)]
    if request.runner == "mise":
        name = request.name.replace(":", "/")
        places += [join(folder, tasks, name) for tasks in _TASK_FOLDERS]
    if any(files.kind(place) in ("file", "folder") for place in places):
        return True
    return request.runner == "mise"  # tasks may also come from the person's own configuration, or from included files
