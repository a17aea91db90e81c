"""The scripts, targets, recipes and tasks of a manifest with what they run, and the command that runs each. Pure."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import basename, dirname
from typing import Any, NamedTuple

import msgspec

from preheat.commands.words import name_set
from preheat.manifests.shell_scripts import LARGEST as LARGEST_SCRIPT
from preheat.manifests.shell_scripts import is_shell_script, needs_arguments, shell_of

LARGEST = 262_144
"""Characters of a manifest that is read; a larger one gives nothing."""
_MOST = 200
LONGEST_BODY = 2_000
"""Characters of a script that are kept; of one of the shell all are."""
_NAME = re.compile(r"[A-Za-z0-9_][\w:./@+-]{0,59}")
_TARGET = re.compile(
    r"^(?P<name>[A-Za-z0-9_][\w./-]*)[ \t]*:(?![=:])(?P<before>[^\n]*)\n(?P<body>(?:\t[^\n]*\n?|[ \t]*\n)*)",
    re.MULTILINE,
)
_RECIPE = re.compile(
    r"^@?(?P<name>[A-Za-z_][\w-]*)(?:[ \t]+[^:\n]*)?:(?!=)(?P<before>[^\n]*)\n(?P<body>(?:[ \t]+[^\n]*\n?|[ \t]*\n)*)",
    re.MULTILINE,
)
_TASK = re.compile(r"^  (?P<name>[\w:.-]+):[ \t]*(?P<rest>[^\n]*)\n(?P<body>(?:    [^\n]*\n?|[ \t]*\n)*)", re.MULTILINE)
_SESSION = re.compile(
    r"^@nox\.session\b[^\n]*\n(?:@[^\n]*\n)*def[ \t]+(?P<name>\w+)[^\n]*\n(?P<body>(?:[ \t]+[^\n]*\n?|[ \t]*\n)*)",
    re.MULTILINE,
)
_TASK_FOLDERS = ("mise-tasks/", ".mise-tasks/", "mise/tasks/", ".mise/tasks/", ".config/mise/tasks/")


SHELLS = frozenset(["bash", "sh", "zsh"])
"""Programs that run a script by its path."""


class Script(NamedTuple):
    """Something that a manifest names and a program runs."""

    name: str
    runner: str
    """The program: `make`; `node` for the scripts of a package, which one of several programs runs."""
    body: str
    """What it runs, its lines joined by `; `; empty where that is not known."""
    file: str
    """The manifest, relative to the project."""

    @property
    def folder(self) -> str:
        """The folder in which its command is typed."""
        if self.runner in SHELLS:
            return ""
        return dirname(self.file) if self.runner != "mise" else _mise_folder(self.file)


def read_scripts(path: str, text: str) -> tuple[Script, ...]:
    """The scripts of a manifest; none of a file that is no manifest, or not understood."""
    if len(text) > LARGEST:
        return ()
    if task := task_of_path(path):
        return (Script(task, "mise", _join(text), path),)
    if is_shell_script(path):
        shell = "" if needs_arguments(text) else shell_of(text)
        return (Script(basename(path).partition(".")[0], shell, _join(text, LARGEST_SCRIPT), path),) if shell else ()
    found = _READERS.get(basename(path))
    if found is None:
        return ()
    runner, read = found
    scripts = (Script(name, runner, body[:LONGEST_BODY], path) for name, body in read(text) if _NAME.fullmatch(name))
    return tuple(dict.fromkeys(scripts))[:_MOST]


def task_of_path(path: str) -> str:
    """The name of the task that a file in a folder of tasks is; empty for any other file."""
    for folder in _TASK_FOLDERS:
        before, found, name = f"/{path}".rpartition(f"/{folder}")
        if found and not before.strip("/"):
            name = name.removesuffix("/_default").replace("/", ":")
            return name if _NAME.fullmatch(name) else ""
    return ""


def is_manifest(path: str) -> bool:
    """Whether a file may hold scripts."""
    return basename(path) in _READERS or bool(task_of_path(path)) or is_shell_script(path)


def _mise_folder(path: str) -> str:
    return "" if task_of_path(path) else dirname(path).removesuffix(".config/mise").rstrip("/")


def _join(text: str, longest: int = LONGEST_BODY) -> str:
    lines = (line.strip().lstrip("@-").strip() for line in text.splitlines())
    return "; ".join(line for line in lines if line and not line.startswith("#"))[:longest]


_Pairs = Iterator[tuple[str, str]]


def _package_json(text: str) -> _Pairs:
    return _texts(table_in(read_json(text), "scripts"))


def _composer_json(text: str) -> _Pairs:
    return _texts(table_in(read_json(text), "scripts"))


def _deno_json(text: str) -> _Pairs:
    return _texts(table_in(read_json(text), "tasks"))


def _mise_toml(text: str) -> _Pairs:
    return _mise_tasks(table_in(read_toml(text), "tasks"))


def _tasks_toml(text: str) -> _Pairs:
    """The tasks of a file that `task_config` of `mise` includes: its tables are the tasks."""
    document = table_in(read_toml(text))
    is_of_tasks = all(isinstance(each, Mapping) and not _OF_TASK.isdisjoint(each) for each in document.values())
    return _mise_tasks(document if is_of_tasks else {})


_OF_TASK = frozenset(["run", "depends", "file"])
"""What one of them a task of `mise` has."""


def _mise_tasks(tasks: Mapping[str, Any]) -> _Pairs:
    """The tasks that are not hidden; what one depends on, it runs first."""
    for name, body in _texts(tasks):
        task = tasks.get(name)
        if isinstance(task, Mapping) and task.get("hide") is True:
            continue
        needed = task.get("depends", ()) if isinstance(task, Mapping) else ()
        listed = [needed] if isinstance(needed, str) else needed if isinstance(needed, list) else []
        first = [f"mise run {each}" for each in listed if isinstance(each, str) and _NAME.fullmatch(each)]
        placed = _in_place(body, task.get("dir") if isinstance(task, Mapping) else None)
        yield name, " && ".join([*first, placed] if placed else first)


_DIRECTORY = re.compile(r"(?:\{\{ ?config_root ?\}\}/)?(?:\./)?(?P<folder>[\w@-][\w.@-]*(?:/[\w.@-]+)*)/?")


def _in_place(body: str, directory: object) -> str:
    """A task as a shell text that goes first to the folder in which it runs."""
    found = _DIRECTORY.fullmatch(directory) if isinstance(directory, str) else None
    if found is None or not body:
        return body
    return f"cd {found['folder']}{';' if ';' in body else ' &&'} {body}"


def _pyproject(text: str) -> _Pairs:
    document = read_toml(text)
    for way, starter in (
        (("tool", "poe", "tasks"), "poe"),
        (("tool", "pdm", "scripts"), "pdm run"),
        (("tool", "hatch", "envs", "default", "scripts"), "hatch run"),
        (("tool", "taskipy", "tasks"), "task"),
    ):
        for name, body in _texts(table_in(document, *way)):
            yield name, f"{starter}\0{body}"


def _makefile(text: str) -> _Pairs:
    return _with_prerequisites("make", list(_TARGET.finditer(text)))


def _justfile(text: str) -> _Pairs:
    return _with_prerequisites("just", list(_RECIPE.finditer(text)))


def _with_prerequisites(runner: str, found: Sequence["re.Match[str]"]) -> _Pairs:
    """The targets of a file, each with what is made before it as calls of its own."""
    names = {each["name"] for each in found}
    for each in found:
        before = [word for word in each["before"].partition("#")[0].split() if word in names and word != each["name"]]
        calls = " && ".join(f"{runner} {word}" for word in dict.fromkeys(before))
        body = _join(each["body"])
        is_message = all(line.startswith(("echo ", "printf ")) for line in body.split("; "))
        own = "" if calls and is_message else body
        yield each["name"], " && ".join(filter(None, (calls, own)))[:LONGEST_BODY]


def _taskfile(text: str) -> _Pairs:
    _, found, tasks = text.partition("\ntasks:")
    if not found:
        return
    for each in _TASK.finditer(tasks):
        lines = re.findall(
            r"^\s*-[ \t]+(?:cmd:[ \t]*)?(?![\w-]+:\s)(.+)$|^\s*cmd:[ \t]*(.+)$|^\s*-[ \t]+(task:[ \t]*[\w:.-]+)[ \t]*$",
            each["body"],
            re.MULTILINE,
        )
        commands = [one or other or f"task {task.partition(':')[2].strip()}" for one, other, task in lines]
        is_chain = all(command.startswith("task ") for command in commands)
        placed = re.search(r"^    dir:[ \t]*[\"']?([^\s\"']+)[\"']?[ \t]*$", each["body"], re.MULTILINE)
        if placed and not is_chain:
            yield each["name"], _in_place(" && ".join(commands), placed[1])
        else:
            yield each["name"], (" && " if is_chain else "; ").join(commands)


def _noxfile(text: str) -> _Pairs:
    return ((found["name"], "") for found in _SESSION.finditer(text))


def _tox_ini(text: str) -> _Pairs:
    for found in re.finditer(r"^\[testenv:([\w.-]+)\]\n((?:(?!\[)[^\n]*\n?)*)", text, re.MULTILINE):
        commands = re.search(r"^commands[ \t]*=((?:[^\n]*\n?)(?:[ \t]+[^\n]*\n?)*)", found[2], re.MULTILINE)
        yield found[1], _join(commands[1]) if commands else ""


def _cargo_config(text: str) -> _Pairs:
    return _texts(table_in(read_toml(text), "alias"))


_READERS: dict[str, tuple[str, Callable[[str], _Pairs]]] = {
    "package.json": ("node", _package_json),
    "composer.json": ("composer", _composer_json),
    **dict.fromkeys(("deno.json", "deno.jsonc"), ("deno", _deno_json)),
    **dict.fromkeys(("mise.toml", ".mise.toml"), ("mise", _mise_toml)),
    "tasks.toml": ("mise", _tasks_toml),
    "pyproject.toml": ("python", _pyproject),
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), ("make", _makefile)),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), ("just", _justfile)),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"), ("task", _taskfile)),
    "noxfile.py": ("nox", _noxfile),
    "tox.ini": ("tox", _tox_ini),
}
"""By the name of the file: the program that runs what it names, and how it is read."""


def command_of(script: Script, node_runner: str = "npm") -> str:
    """What a person types in the manifest's folder to run a script; `node_runner` runs the scripts of packages. Empty where that
    is not known."""
    name = script.name
    if script.runner == "node":
        if not node_runner:
            return ""
        bare = node_runner in ("pnpm", "yarn") or (node_runner == "npm" and name in ("test", "start"))
        return f"{node_runner} {name}" if bare and name not in _OWN_COMMANDS else f"{node_runner} run {name}"
    if script.runner == "python":
        starter, _, _ = script.body.partition("\0")
        return f"{starter} {name}"
    if script.runner in SHELLS:
        return f"{script.runner} {script.file}"
    return _COMMANDS[script.runner].format(name)


_OWN_COMMANDS = name_set(
    "install add remove publish pack audit init link update deploy exec create list config why dedupe"
)
_COMMANDS = {
    "composer": "composer run {}",
    "deno": "deno task {}",
    "mise": "mise run {}",
    "make": "make {}",
    "just": "just {}",
    "task": "task {}",
    "nox": "nox -s {}",
    "tox": "tox -e {}",
}


def body_of(script: Script) -> str:
    """What a script runs, as a shell text."""
    return script.body.partition("\0")[2] if script.runner == "python" else script.body


def read_json(text: str) -> Any:
    """A document in JSON; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def read_toml(text: str) -> Any:
    """A document in TOML; None where it is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def table_in(document: Any, *way: str) -> Mapping[str, Any]:
    """The table of a document to which some names lead; an empty one where there is none."""
    for name in way:
        document = document.get(name) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else {}


def _texts(table: Mapping[str, Any]) -> _Pairs:
    """The names of a table with their commands: a text, a list of them, or a table with `run`, `cmd` or `shell`."""
    for name, value in list(table.items())[:_MOST]:
        if isinstance(value, Mapping):
            value = next((value[key] for key in ("run", "cmd", "shell", "command", "sequence") if key in value), "")
        if isinstance(value, list):
            value = "; ".join(each for each in value if isinstance(each, str))
        if isinstance(value, str) and "\n" in value.strip():
            value = _join(value.replace("\\\n", " "))
        yield str(name), " ".join(value.split()) if isinstance(value, str) else ""
