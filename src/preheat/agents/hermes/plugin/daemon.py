"""How the plugin reaches Preheat: its daemon over a Unix socket, or Preheat itself as a program of its own.

Standard library only, like everything in this folder, which may lie in Hermes's own plugin folder, where Preheat cannot be
imported. Then `preheat.json` beside it (written by `preheat install`) names the interpreter and Preheat's folder; installed
as a package, it is the interpreter that runs us. One event, one answer, within a time limit, never an error; many threads may
ask at once. When nobody answers, the event goes to the hook client (`hook.py`) in a process of its own, which keeps it and
starts a daemon.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

# Preheat as a program of its own.
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
    """Run a command to its end, with a text on its standard input; never raises."""
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


# The daemon.
LIMIT = 0.3
"""Seconds that an event may take."""
START = 1.5
"""Seconds at the start of a session, because a daemon may have to start first."""
PATIENCE = 30.0
"""Seconds without waiting for answers, after `STRIKES` answers in a row were too late."""
STRIKES = 2
_MOST_BYTES = 7_000_000
_MOST_CLIENTS = 16
"""The most hook clients at a time; further events are dropped."""
_LONGEST_PATH = 100
"""The most bytes of a socket's path."""


class Daemon:
    """The daemon, as a client sees it."""

    def __init__(self, program: Program, folder: str | None = None) -> None:
        self._program = program
        self._folder = folder if folder is not None else _preheat_folder(program)
        self._lock = threading.Lock()
        self._late = 0
        self._quiet_until = 0.0
        self._clients: list[subprocess.Popen[bytes]] = []

    def ask(self, event: dict[str, Any], seconds: float = LIMIT, start: bool = False) -> dict[str, Any]:
        """The answer; empty if there is none in time. At the `start` of a session, waits for a daemon to start."""
        if not self._folder:
            return {}
        payload = json.dumps(event, default=str).encode("utf-8", "replace")
        if len(payload) > _MOST_BYTES:
            return {}
        before = time.monotonic()
        if before < self._quiet_until:
            self._pass_to_client(payload)
            return {}
        try:
            answer = self._send(payload, before + seconds)
        except TimeoutError:
            self._note_late_answer()
            self._pass_to_client(payload)
            return {}
        except OSError:  # no daemon runs
            return _parse_answer(
                self._pass_to_client(payload, max(0.0, before + seconds - time.monotonic()) if start else 0.0)
            )
        self._late = 0
        return _parse_answer(answer)

    def _note_late_answer(self) -> None:
        with self._lock:
            self._late += 1
            if self._late >= STRIKES:
                self._late = 0
                self._quiet_until = time.monotonic() + PATIENCE

    def _send(self, payload: bytes, end: float) -> bytes:
        answer = b""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_remaining(end))
            with _short_path(os.path.join(self._folder, "live")) as live:
                connection.connect(os.path.join(live, "socket"))
            connection.settimeout(_remaining(end))
            connection.sendall(b"%s %d\n" % (AGENT.encode(), len(payload)) + payload)
            while True:
                connection.settimeout(_remaining(end))
                more = connection.recv(1 << 16)
                if not more:
                    break
                answer += more
        head, _, body = answer.partition(b"\n")
        if head != b"preheat 1 %d" % len(body):
            raise ConnectionError("it ended without an answer")
        return body

    def _pass_to_client(self, payload: bytes, seconds: float = 0.0) -> bytes:
        """Give an event to the hook client; returns what it prints within `seconds`, without waiting if that is 0."""
        client = self._client_path()
        with self._lock:
            self._clients = [each for each in self._clients if each.poll() is None]
            if client is None or len(self._clients) >= _MOST_CLIENTS:
                return b""
        # Through a file: a client that does not read must not block us.
        with tempfile.TemporaryFile() as client_input:
            client_input.write(payload)
            client_input.seek(0)
            environment = self._program.environment(PREHEAT_HOME=self._folder)
            environment.pop(CALLER, None)
            process = subprocess.Popen(
                [self._program.interpreter, "-I", "-S", "-E", client, AGENT],
                stdin=client_input,
                stdout=subprocess.PIPE if seconds else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        if not seconds:
            with self._lock:
                self._clients.append(process)
            return b""
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return b""

    def _client_path(self) -> str | None:
        """The path of the hook client: where `preheat install` has put it, else in our own package. The folder that the
        environment names holds data; nothing in it is run."""
        package = os.path.abspath(__file__)
        for _ in range(4):  # preheat/agents/hermes/plugin/daemon.py
            package = os.path.dirname(package)
        installed = self._program.home or ("" if os.environ.get("PREHEAT_HOME") else self._folder)
        for path in (os.path.join(installed, "hook.py"), os.path.join(package, "plugins", "hook.py")):
            if os.path.isabs(path) and os.path.isfile(path):
                return path
        return None


def _remaining(end: float) -> float:
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


@contextmanager
def _short_path(folder: str) -> Iterator[str]:
    """A path of the folder that is short enough for a socket in it."""
    if len(os.fsencode(folder)) + len("/socket") < _LONGEST_PATH:
        yield folder
    elif os.path.isdir("/proc/self/fd"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.TemporaryDirectory(prefix="ph") as short:
            link = os.path.join(short, "l")
            os.symlink(folder, link)
            yield link


def _preheat_folder(program: Program) -> str:
    """Preheat's folder: by the environment, else by the installation, else by Preheat's own settings; empty, and nothing is sent
    or run, if it is not the user's alone."""
    if named := os.environ.get("PREHEAT_HOME"):
        folder = os.path.expanduser(named)
        return folder if _is_own(os.path.join(folder, "live"), os.path.expanduser("~")) else ""
    if program.home:
        return program.home if _is_own(os.path.join(program.home, "live")) else ""
    try:
        from preheat.settings import data_folder  # noqa: PLC0415 - importable only when installed as a package

        return data_folder()
    except Exception:  # noqa: BLE001 - not installed as a package, or the folder is not the user's alone
        return ""


def _is_own(path: str, home: str | None = None) -> bool:
    """Whether a path is the user's alone."""
    try:
        ownership = import_module(".ownership", __package__)  # copied here by `preheat install`
    except ImportError:
        try:
            ownership = import_module("....ownership", __package__)  # in the package it is Preheat's own
        except ImportError:
            return False
    return not ownership.explain_refusal(path, home)


def _parse_answer(answer: bytes) -> dict[str, Any]:
    if not answer:
        return {}
    try:
        found = json.loads(answer)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
