"""How Preheat itself is started from inside Hermes: with which interpreter, environment and folder.

Standard library only, like everything in this folder: it may lie in Hermes's own plugin folder, where Preheat cannot be
imported. Then `preheat.json` beside it (written by `preheat install`) names the interpreter and Preheat's folder; installed as
a package, it is the interpreter that runs us.
"""

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

SETTINGS_FILE = "preheat.json"
CALLER = "PREHEAT_CALLER"
"""The variable that names the agent which started Preheat: `latest` is its newest session, and its sessions are read first."""
AGENT = "hermes"
_HOST_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that would lead another interpreter to Hermes's packages instead of its own."""


class Program(NamedTuple):
    """How Preheat is started."""

    interpreter: str
    home: str = ""
    """Preheat's folder; empty for the usual one."""

    def command(self, *arguments: str) -> list[str]:
        """The words of a Preheat command. `-P`: a project's file named like a module is not run in its place."""
        return [self.interpreter, "-P", "-m", "preheat", *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """The environment for Preheat, which names Hermes as the caller."""
        found = dict(os.environ)
        if not _is_same_program(self.interpreter, sys.executable):
            for name in _HOST_VARIABLES:
                found.pop(name, None)
        if self.home and not found.get("PREHEAT_HOME"):
            found["PREHEAT_HOME"] = self.home
        return {**found, CALLER: AGENT, "PYTHONUTF8": "1", **more}


class CommandResult(NamedTuple):
    """How a command ended."""

    code: int | None
    """None if it could not be started, or took too long."""
    output: str
    errors: str
    failure: str = ""
    """Why there is no code."""

    @property
    def answer(self) -> dict[str, Any] | None:
        """The JSON object that it printed; None if it printed none."""
        try:
            found = json.loads(self.output)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    @property
    def reason(self) -> str:
        """Why there is no answer."""
        lines = self.errors.strip().splitlines()
        return self.failure or (lines[-1][:300] if lines else "Preheat gave no answer that can be read")


def find_program(folder: str = os.path.dirname(os.path.abspath(__file__))) -> Program:
    """How to start Preheat: by the file in this folder, else with this interpreter."""
    try:
        with open(os.path.join(folder, SETTINGS_FILE), encoding="utf-8") as stream:
            values = json.load(stream)
        interpreter, home = values.get("interpreter"), values.get("home")
    except (OSError, ValueError, AttributeError):
        return Program(sys.executable)
    is_named = isinstance(interpreter, str) and interpreter
    return Program(interpreter if is_named else sys.executable, home if isinstance(home, str) else "")


def working_folder() -> str:
    """The folder in which the agent's commands run, by Hermes's own setting; always a folder of this machine."""
    resolve = getattr(sys.modules.get("agent.runtime_cwd"), "resolve_agent_cwd", None)
    try:
        resolved = str(resolve()) if resolve is not None else ""
    except Exception:  # noqa: BLE001 - Hermes's own code, of any version
        resolved = ""
    for folder in (resolved, os.environ.get("TERMINAL_CWD", "")):
        if folder and os.path.isdir(folder):
            return os.path.abspath(folder)
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")


def run(
    program: Program, arguments: list[str], input_text: str = "", seconds: float = 60.0, **more: str
) -> CommandResult:
    """Run a command to its end, `given` on its standard input; never raises."""
    try:
        finished = subprocess.run(
            program.command(*arguments),
            input=input_text.encode("utf-8", "replace"),
            capture_output=True,
            cwd=working_folder(),
            env=program.environment(**more),
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CommandResult(None, "", "", f"Preheat took longer than {seconds:g} s and was stopped")
    except (OSError, ValueError) as error:
        return CommandResult(None, "", "", f"Preheat could not be started by `{program.interpreter}` ({error})")
    return CommandResult(
        finished.returncode, finished.stdout.decode("utf-8", "replace"), finished.stderr.decode("utf-8", "replace")
    )


def _is_same_program(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other) and os.path.dirname(one) == os.path.dirname(other)
    except OSError:
        return False
