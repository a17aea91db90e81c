"""The chain from an agent's settings to an answer, link by link, proved by a test event that goes through it.

The event is sent by the very command that the settings name and answered by the daemon in the agent's own form, without a trace.
Without a daemon the links up to it are tried, and nothing is started. Knows no agent and no archive.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat import __version__
from preheat.daemon_client import (
    CLIENT_FILES,
    TEST_EVENT,
    TEST_MARK,
    DaemonError,
    ask,
    client_source,
    find_daemon,
    status,
)
from preheat.files import read_file
from preheat.installing.plans import PYTHON_OPTIONS
from preheat.settings import environment_for

LinkName: TypeAlias = Literal["settings", "client", "python", "daemon", "archive", "answer"]
_SECONDS = 30.0
"""Seconds after which a command counts as hung; an agent would wait less, but this machine may be busy."""


class ChainLink(msgspec.Struct, frozen=True, kw_only=True):
    """One link between an agent's settings and Preheat's answer."""

    name: LinkName
    state: Literal["works", "broken", "untested"]
    detail: str = ""
    """What was found, and for a broken link what to do about it."""


class HookCall(NamedTuple):
    """How an installed hook calls Preheat, as its settings file says."""

    agent: str
    settings_fault: str = ""
    """Why the agent's program does not run the hook; empty if it does."""
    command: str = ""
    """For the shell; empty where `arguments` are called without one."""
    arguments: tuple[str, ...] = ()
    """The words of the call; empty where the program talks to the daemon by itself."""


class Surroundings(NamedTuple):
    """What all chains of a machine share."""

    folder: str
    archive_fault: str
    """Why the archive does not open; empty if it does, or if there is none yet."""
    daemon: ChainLink


def examine_surroundings(folder: str, archive_fault: str) -> Surroundings:
    """Find the daemon and ask it, once for all agents."""
    return Surroundings(folder, archive_fault, _try_daemon(folder))


def prove_chain(call: HookCall, around: Surroundings) -> tuple[ChainLink, ...]:
    """Every link in order. What comes after a broken one is untested."""
    checks: list[tuple[LinkName, Callable[[], ChainLink]]] = [
        ("settings", lambda: _make_link("settings", call.settings_fault)),
        ("client", lambda: _make_link("client", _find_client_fault(call, around.folder))),
        ("python", lambda: _make_link("python", _find_python_fault(call))),
        ("daemon", lambda: around.daemon),
        ("archive", lambda: _make_link("archive", around.archive_fault)),
        ("answer", lambda: _try_answer(call, around)),
    ]
    return tuple(_run_until_broken(checks))


def _run_until_broken(checks: Sequence[tuple[LinkName, Callable[[], ChainLink]]]) -> Iterator[ChainLink]:
    is_broken = False
    for name, check in checks:
        link = ChainLink(name=name, state="untested") if is_broken else check()
        is_broken = is_broken or link.state == "broken"
        yield link


def _make_link(name: LinkName, fault: str) -> ChainLink:
    return ChainLink(name=name, state="broken" if fault else "works", detail=fault)


def _find_client_fault(call: HookCall, folder: str) -> str:
    """Why the file that the hook runs is not Preheat's client of this version; empty if it is."""
    advice = f"`preheat install {call.agent}` puts it right"
    names = [word for word in call.arguments if os.path.basename(word) == CLIENT_FILES[0]]
    for path in names:
        if not os.path.exists(path):
            return f"`{path}` is gone; {advice}"
        for name in CLIENT_FILES:
            try:
                same = read_file(os.path.join(os.path.dirname(path), name)) == read_file(client_source(name))
            except OSError as error:
                return f"`{error.filename}` cannot be read; {advice}"
            if not same:
                return f"`{os.path.join(os.path.dirname(path), name)}` is of another version; {advice}"
    return ""


def _find_python_fault(call: HookCall) -> str:
    """Why the Python that the hook names does not run; empty if it does."""
    if not call.arguments:
        return ""
    program = call.arguments[0]
    advice = f"`preheat install {call.agent}` names the one that runs this"
    try:
        done = subprocess.run([program, *PYTHON_OPTIONS, "-c", "print(1)"], capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"`{program}` does not run ({_reason(error)}); {advice}"
    return "" if done.stdout.strip() == b"1" else f"`{program}` does not run Python; {advice}"


def _reason(error: OSError | subprocess.TimeoutExpired) -> str:
    return str(error.strerror or error) if isinstance(error, OSError) else "it hangs"


def _try_daemon(folder: str) -> ChainLink:
    running = find_daemon(folder)
    if running is None:
        return ChainLink(name="daemon", state="works", detail="none runs; the next session starts one")
    try:
        version = status(folder).get("version")
    except DaemonError as error:
        advice = f"`kill -9 {running.pid}` ends it, the next hook starts another, and nothing is lost"
        return _make_link("daemon", f"process {running.pid} does not answer ({error}); {advice}")
    if version != __version__:
        fault = f"it is of version {version}, this is {__version__}; `preheat admin serve` puts this one in its place"
        return _make_link("daemon", fault)
    return ChainLink(name="daemon", state="works", detail=f"process {running.pid} answers")


def _try_answer(call: HookCall, around: Surroundings) -> ChainLink:
    """Send the test event the whole way and see that the answer is the agent's own form of it."""
    if find_daemon(around.folder) is None:
        return ChainLink(name="answer", state="untested", detail="no daemon runs")
    try:
        answer = _send_test(call, around.folder)
    except (OSError, subprocess.TimeoutExpired, DaemonError) as error:
        return _make_link("answer", f"the test event was not answered: {error}")
    try:
        text = json.dumps(json.loads(answer), ensure_ascii=False) if answer else ""
    except ValueError:
        text = ""
    if TEST_MARK not in text:
        return _make_link("answer", "the test event came back without an answer; `preheat admin doctor` says more")
    fault = text.partition(f"{TEST_MARK}: ")[2].partition('"')[0]
    return _make_link("answer", "" if fault == "fine" else fault)


def _send_test(call: HookCall, folder: str) -> bytes:
    if not call.arguments:
        return ask(call.agent, TEST_EVENT, folder)
    environment = environment_for(folder)
    environment.pop("PREHEAT_RUN", None)
    command: str | Sequence[str] = call.command or call.arguments
    done = subprocess.run(
        command, shell=bool(call.command), input=TEST_EVENT, capture_output=True, timeout=_SECONDS, env=environment
    )
    return done.stdout


def hook_words(command: str) -> tuple[str, ...]:
    """The words with which a hook's command calls the client; empty if it calls something else."""
    try:
        words = shlex.split(command.replace(";", " ; "))
    except ValueError:
        return ()
    for place, word in enumerate(words):
        if os.path.basename(word) == CLIENT_FILES[0] and tuple(words[max(0, place - 3) : place]) == PYTHON_OPTIONS:
            return tuple(words[place - 4 : place + 2])
    return ()
