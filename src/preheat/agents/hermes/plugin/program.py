"""How Preheat itself is started from inside Hermes: which interpreter, and in which surroundings.

Standard library only, like everything in this folder: it may lie in Hermes's own plugin folder, where Preheat cannot be
imported. Then `preheat.json` beside it (written by `preheat install`) names the interpreter and Preheat's folder; installed as
a package, it is the interpreter that runs us.
"""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

BESIDE = "preheat.json"
CALLER = "PREHEAT_CALLER"
"""Tells Preheat which agent started it: `latest` is that agent's newest session, and its sessions are read first."""
AGENT = "hermes"
_HOSTS = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""What leads another interpreter to Hermes's packages instead of its own."""


class Program(NamedTuple):
    """What starts Preheat."""

    interpreter: str
    home: str = ""
    """Preheat's folder, where it is not the usual one."""

    def command(self, *arguments: str) -> list[str]:
        """A command of Preheat. `-P`: a file of the project that is called like a module is not run in its place."""
        return [self.interpreter, "-P", "-m", "preheat", *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """Ours, told who asks."""
        found = dict(os.environ)
        if not _same(self.interpreter, sys.executable):
            for name in _HOSTS:
                found.pop(name, None)
        if self.home and not found.get("PREHEAT_HOME"):
            found["PREHEAT_HOME"] = self.home
        return {**found, CALLER: AGENT, "PYTHONUTF8": "1", **more}


class Ended(NamedTuple):
    """What came of a command."""

    code: int | None
    """None: it could not be started, or took too long."""
    output: str
    errors: str
    why: str = ""
    """Why there is no code."""

    @property
    def answer(self) -> dict[str, Any] | None:
        """The JSON object that it printed; None where it printed none."""
        try:
            found = json.loads(self.output)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    @property
    def reason(self) -> str:
        """Why it gave no answer."""
        said = self.errors.strip().splitlines()
        return self.why or (said[-1][:300] if said else "Preheat gave no answer that can be read")


def find(folder: str = os.path.dirname(os.path.abspath(__file__))) -> Program:
    """The program to start, as the file beside us says; else this interpreter's."""
    try:
        with open(os.path.join(folder, BESIDE), encoding="utf-8") as stream:
            said = json.load(stream)
        interpreter, home = said.get("interpreter"), said.get("home")
    except (OSError, ValueError, AttributeError):
        return Program(sys.executable)
    named = isinstance(interpreter, str) and interpreter
    return Program(interpreter if named else sys.executable, home if isinstance(home, str) else "")


def working_folder() -> str:
    """Where the agent's commands run, as the program itself has it; a folder of this machine in any case."""
    resolve = getattr(sys.modules.get("agent.runtime_cwd"), "resolve_agent_cwd", None)
    try:
        told = str(resolve()) if resolve is not None else ""
    except Exception:  # noqa: BLE001 - the program's own, of whatever version
        told = ""
    for folder in (told, os.environ.get("TERMINAL_CWD", "")):
        if folder and os.path.isdir(folder):
            return os.path.abspath(folder)
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")


def run(program: Program, arguments: list[str], given: str = "", seconds: float = 60.0, **more: str) -> Ended:
    """Run a command to its end, `given` on its standard input; never raises."""
    try:
        done = subprocess.run(
            program.command(*arguments),
            input=given.encode("utf-8", "replace"),
            capture_output=True,
            cwd=working_folder(),
            env=program.environment(**more),
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(None, "", "", f"Preheat took longer than {seconds:g} s and was stopped")
    except (OSError, ValueError) as error:
        return Ended(None, "", "", f"Preheat could not be started by `{program.interpreter}` ({error})")
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other) and os.path.dirname(one) == os.path.dirname(other)
    except OSError:
        return False
