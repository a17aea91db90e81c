"""Finds the installed Hermes: its launcher, the interpreter that runs it, its version and its home, without starting it.

Knows nothing of sessions, plugins or settings. Hermes itself is not started: even `hermes --version` uses the network.
"""

import glob
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as metadata_version
from typing import NamedTuple

from preheat import programs
from preheat.agents.hermes import roots
from preheat.agents.interpreters import run_code
from preheat.files import open_file, read_text
from preheat.settings import home_folder as person_home

DISTRIBUTION = "hermes-agent"
_WINDOWS = sys.platform == "win32"
_PYTHON = re.compile(r"pythonw?(\d+(\.\d+)*)?(\.exe)?\Z", re.IGNORECASE)
_MOST_LAUNCHERS = 5
"""The most launchers that start one another; more would be a loop."""
_HEAD_BYTES = 16_384
_VERSION = (
    "import importlib.metadata as metadata\n"
    "try:\n    print('preheat:' + metadata.version('hermes-agent'))\n"
    "except metadata.PackageNotFoundError:\n    print('preheat:')\n"
)


class Program(NamedTuple):
    """An installed Hermes."""

    command: str
    """The launcher; empty if only the interpreter was found."""
    interpreter: str
    version: str
    home: str
    """The folder that Hermes would use if started now: a profile's, if one is active."""

    @property
    def release(self) -> tuple[int, ...]:
        """The version in numbers, to compare."""
        return parse_release(self.version)


def parse_release(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: `0.19.0rc1` is (0, 19, 0)."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def find_hermes(environment: Mapping[str, str]) -> Program | None:
    """The Hermes that `hermes` starts, else one in a usual place; None if there is none."""
    for command in _find_commands(environment):
        for interpreter in _find_interpreters(command, environment):
            version = version_in(interpreter, environment)
            if version:
                return Program(command, interpreter, version, home_of(environment))
    for interpreter in _usual_interpreters(environment):
        version = version_in(interpreter, environment) if os.path.exists(interpreter) else ""
        if version:
            return Program("", interpreter, version, home_of(environment))
    return None


def search_places(environment: Mapping[str, str]) -> list[str]:
    """The places that `find_hermes` looks in, in order, for the person to read."""
    commands = [path for path in _usual_commands(environment) if path not in _commands_on_path(environment)]
    return ["`hermes` on the PATH", *commands, *_usual_interpreters(environment)]


# The home.
def home_of(environment: Mapping[str, str]) -> str:
    """The home that Hermes would use now, as it finds it: `HERMES_HOME`, else the platform's; a profile's where one is active."""
    base = roots(environment)[0]
    if environment.get("HERMES_HOME") and _is_profile(base):
        return base
    name = _active_profile(_root(environment, base))
    profile = os.path.join(_root(environment, base), "profiles", name)
    return profile if name and os.path.isdir(profile) else base


def profiles_of(environment: Mapping[str, str]) -> list[str]:
    """Every home of this Hermes: its own and its profiles'."""
    root = _root(environment, roots(environment)[0])
    folder = os.path.join(root, "profiles")
    try:
        names = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
    except OSError:
        names = []
    return [root, *(os.path.join(folder, name) for name in names)]


def _is_profile(folder: str) -> bool:
    return os.path.basename(os.path.dirname(folder.rstrip(os.sep))) == "profiles"


def _root(environment: Mapping[str, str], base: str) -> str:
    native = roots({name: value for name, value in environment.items() if name != "HERMES_HOME"})[0]
    real, real_native = os.path.realpath(base), os.path.realpath(native)
    if real == real_native or real.startswith(real_native + os.sep):
        return native
    return os.path.dirname(os.path.dirname(base.rstrip(os.sep))) if _is_profile(base) else base


def _active_profile(root: str) -> str:
    try:
        name = read_text(os.path.join(root, "active_profile")).strip()
    except (OSError, UnicodeError):
        return ""
    return name if name != "default" and re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", name) else ""


# The launcher.
def _find_commands(environment: Mapping[str, str]) -> Iterator[str]:
    yield from _commands_on_path(environment)
    for path in _usual_commands(environment):
        if os.path.isfile(path):
            yield path


def _commands_on_path(environment: Mapping[str, str]) -> list[str]:
    """Every `hermes` on the PATH, not only the first: other programs have that name too."""
    folders = programs.program_folders(environment, _project(environment))
    paths = (shutil.which("hermes", path=folder) for folder in folders)
    return list(dict.fromkeys(path for path in paths if path))


def _project(environment: Mapping[str, str]) -> str:
    """The project that we are in, whose programs are not run just to be asked for their version."""
    return programs.current_repository(person_home(environment))


def _usual_commands(environment: Mapping[str, str]) -> list[str]:
    person, name = person_home(environment), "hermes.exe" if _WINDOWS else "hermes"
    own = roots(environment)[0]
    folders = [
        *(os.path.join(own, "hermes-agent", venv, "Scripts" if _WINDOWS else "bin") for venv in ("venv", ".venv")),
        os.path.join(person, ".local", "bin"),
    ]
    return [os.path.join(folder, name) for folder in folders]


def _usual_interpreters(environment: Mapping[str, str]) -> list[str]:
    """Interpreters where `uv` and `pipx` put theirs, and the one that runs Preheat."""
    person = person_home(environment)
    data = environment.get("XDG_DATA_HOME") or os.path.join(person, ".local", "share")
    tools = environment.get("UV_TOOL_DIR") or os.path.join(data, "uv", "tools")
    pipx = environment.get("PIPX_HOME") or os.path.join(data, "pipx")
    venvs = [os.path.join(tools, DISTRIBUTION), os.path.join(pipx, "venvs", DISTRIBUTION)]
    return [*(_python_of(venv) for venv in venvs), sys.executable]


def _python_of(venv: str) -> str:
    return os.path.join(venv, "Scripts", "python.exe") if _WINDOWS else os.path.join(venv, "bin", "python")


def _find_interpreters(command: str, environment: Mapping[str, str], depth: int = 0) -> Iterator[str]:
    """The interpreters that a launcher may use, the likeliest first."""
    if depth > _MOST_LAUNCHERS:
        return
    real = os.path.realpath(command)
    yield from _interpreters_in_script(_read_head(real), environment, depth)
    # In the same folder, as in every virtual environment; on Windows the launcher is a program with the script inside.
    for folder in dict.fromkeys((os.path.dirname(real), os.path.dirname(command))):
        for name in ("python.exe",) if _WINDOWS else ("python", "python3"):
            neighbour = os.path.join(folder, name)
            if os.access(neighbour, os.X_OK):
                yield neighbour


def _interpreters_in_script(head: str, environment: Mapping[str, str], depth: int) -> Iterator[str]:
    if not head.startswith("#!"):
        return
    words = _split_words(head[2:].splitlines()[0])
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if words and _PYTHON.match(os.path.basename(words[0])):
        yield from _existing_program(words[0], environment)
        return
    # A shell script: whatever it starts. Assignments of variables are not paths.
    for line in head.splitlines()[1:]:
        for word in _split_words(line):
            path = _expand(word, environment)
            if not os.path.isabs(path) or not os.path.isfile(path):
                continue
            if _PYTHON.match(os.path.basename(path)):
                yield path
            elif os.path.basename(path).startswith("hermes"):
                yield from _find_interpreters(path, environment, depth + 1)


def _read_head(path: str) -> str:
    try:
        with open_file(path) as stream:
            return stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        # The launcher of an environment with a long path opens a quotation that ends on a later line.
        return line.replace("'", " ").replace('"', " ").split()


def _expand(word: str, environment: Mapping[str, str]) -> str:
    known = {"HOME": person_home(environment), "HERMES_HOME": roots(environment)[0]}
    word = re.sub(r"\$\{?(\w+)\}?", lambda name: known.get(name[1], name[0]), word)
    return os.path.join(known["HOME"], word[2:]) if word.startswith("~/") else word


def _existing_program(name: str, environment: Mapping[str, str]) -> Iterator[str]:
    path = name if os.path.isabs(name) else programs.find_program(name, environment, _project(environment))
    if path and os.path.exists(path):
        yield path


# The version.
def version_in(interpreter: str, environment: Mapping[str, str]) -> str:
    """The version of the Hermes that an interpreter would import; empty if it has none or does not run."""
    if interpreter == sys.executable:
        return _own_version()
    prefix = os.path.dirname(os.path.dirname(interpreter))
    own = "Lib/site-packages" if _WINDOWS else "lib/python*/site-packages"
    distributions = glob.glob(os.path.join(glob.escape(prefix), own, "hermes_agent-*.dist-info"))
    if len(distributions) == 1 and os.path.exists(os.path.join(prefix, "pyvenv.cfg")):
        return os.path.basename(distributions[0])[len("hermes_agent-") : -len(".dist-info")]
    printed = run_code(interpreter, _VERSION, environment)
    return printed.partition("preheat:")[2].split("\n")[0].strip()


def _own_version() -> str:
    try:
        return metadata_version(DISTRIBUTION)
    except PackageNotFoundError:
        return ""
