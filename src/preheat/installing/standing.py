"""The state of the installation: which agents call us, from which files, whether their programs run those hooks, or twice.

Knows no agent. Reads files and changes nothing.
"""

import os
import subprocess
import time
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from preheat.agents import WITH_HOOKS, places_of
from preheat.agents.hooking import HookStatus, Setup
from preheat.errors import UserError
from preheat.installing.commands import PYTHON_OPTIONS, find_missing_file, make_client
from preheat.installing.ledger import load_ledger
from preheat.installing.looking import find_ways
from preheat.installing.merging import hooked_events, parse_settings
from preheat.installing.plans import WRITTEN_MARK, read_bytes, require_hooks
from preheat.running.place import CLIENT_FILES, LAST_SEEN_FILE, find_daemon, known_address, live_folder


class InstallPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One file that calls us."""

    path: str
    scope: Literal["person", "project"]
    project: str = ""
    events: tuple[str, ...] = ()
    posts: bool = False
    current: bool = True
    """It equals what would be installed now."""
    missing: str = ""
    """A file that its command needs and that does not exist."""
    active: Literal["yes", "no", "unknown"] = "unknown"
    reason: str = ""
    how: str = ""
    """By which of several ways, where an agent has several."""
    version: str = ""
    """Of the installed Preheat, where that is a copy of its own."""


class AgentInstallStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is installed for one agent."""

    agent: str
    title: str
    present: bool
    """The program has left files on this machine."""
    places: tuple[InstallPlace, ...] = ()
    doubles: tuple[str, ...] = ()
    """Files that call us in the same session; empty where there are fewer than two."""
    advice: str = ""
    last_event: str = ""
    last_at: float | None = None
    program: str = ""
    """The program that was found, with its version, where that is looked for."""
    notes: tuple[str, ...] = ()


class SelfTest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the client runs and a daemon is up."""

    client: Literal["works", "missing", "fails"]
    milliseconds: float | None = None
    daemon: Literal["running", "away"] = "away"
    why: str = ""


def install_statuses(folder: str, environment: Mapping[str, str], project: str) -> list[AgentInstallStatus]:
    """The state of every agent that has hooks; `project` is a folder whose settings are read besides the person's."""
    seen = _last_seen(folder)
    return [_status(agent, folder, environment, project, seen) for agent in WITH_HOOKS]


def _status(
    agent: str, folder: str, environment: Mapping[str, str], project: str, seen: Mapping[str, Any]
) -> AgentInstallStatus:
    setup = require_hooks(agent).setup
    last = seen.get(agent)
    event: dict[str, Any] = last if isinstance(last, dict) else {}
    at = event.get("at")
    if setup.ways is not None:
        return _status_of_ways(agent, folder, environment, event)
    places = _places(agent, setup, folder, environment, project)
    doubles = find_double_hooks(agent, environment, project)
    return AgentInstallStatus(
        agent=agent,
        title=places_of(agent).title,
        present=any(os.path.exists(root) for root in places_of(agent).roots(environment)),
        places=tuple(places),
        doubles=tuple(doubles),
        advice=_advice(setup, doubles, environment, project, agent),
        last_event=str(event.get("event") or ""),
        last_at=float(at) if isinstance(at, int | float) else None,
    )


def _status_of_ways(
    agent: str, folder: str, environment: Mapping[str, str], event: Mapping[str, Any]
) -> AgentInstallStatus:
    """The state of an agent that can be set up in several ways."""
    found, at = find_ways(agent, folder, environment), event.get("at")
    places = [
        InstallPlace(
            path=each.path,
            scope="person",
            events=each.events,
            current=each.current,
            missing=each.missing,
            active=each.active,
            reason=each.reason,
            how=each.how,
            version=each.version,
        )
        for each in found.ways
    ]
    roots = places_of(agent).roots(environment)
    return AgentInstallStatus(
        agent=agent,
        title=places_of(agent).title,
        present=found.target is not None or any(os.path.exists(root) for root in roots),
        places=tuple(places),
        doubles=tuple(found.doubles),
        advice=f"`preheat install {agent} --how {found.ways[0].how}` leaves one of them." if found.doubles else "",
        last_event=str(event.get("event") or ""),
        last_at=float(at) if isinstance(at, int | float) else None,
        program=f"{found.target.title}, run by {found.target.interpreter}" if found.target else "",
        notes=found.notes,
    )


def _places(agent: str, setup: Setup, folder: str, environment: Mapping[str, str], project: str) -> list[InstallPlace]:
    wanted = {os.path.realpath(setup.user_file(environment)): ""}
    if project:
        wanted[os.path.realpath(setup.project_file(project))] = project
    for each in load_ledger(folder).files:
        if each.agent == agent:
            wanted.setdefault(each.path, each.project)
    found = (_place(agent, setup, path, folder, environment, where) for path, where in wanted.items())
    return [place for place in found if place is not None]


def _place(
    agent: str, setup: Setup, path: str, folder: str, environment: Mapping[str, str], project: str
) -> InstallPlace | None:
    data = read_bytes(path)
    text = (data or b"").decode("utf-8", "replace")
    if setup.file_text is not None:
        if WRITTEN_MARK not in text:
            return None
        client = make_client(agent, folder)
        gone = next((word for word in client.arguments if os.sep in word and not os.path.exists(word)), "")
        settings: dict[str, Any] = {}
        events: tuple[str, ...] = ()
        current, posts = text == setup.file_text(client), False
    else:
        settings = _settings(text, path)
        events = hooked_events(settings, agent)
        if not events:
            return None
        commands = [
            value
            for value in _strings(settings.get("hooks"))
            if CLIENT_FILES[0] in value and PYTHON_OPTIONS[0] in value
        ]
        gone = next((found for command in commands if (found := find_missing_file(command))), "")
        posts = any(value.startswith("http://127.0.0.1:") for value in _strings(settings.get("hooks")))
        entries = (
            setup.entries(make_client(agent, folder, known_address(folder) if posts else None))
            if setup.entries is not None
            else {}
        )
        current = all(_has(settings, event, group) for event, groups in entries.items() for group in groups)
    state = setup.status(environment, project, path, settings)
    if gone:
        state = HookStatus("no", f"`{gone}` is gone; `preheat install {agent}` puts it right")
    return InstallPlace(
        path=path,
        scope="project" if project else "person",
        project=project,
        events=events,
        posts=posts,
        current=current,
        missing=gone,
        active=state.active,
        reason=state.reason,
    )


def _settings(text: str, path: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = parse_settings(text, path).value if text.strip() else {}
    except UserError:
        return {}
    return found


def _has(settings: dict[str, Any], event: str, group: dict[str, Any]) -> bool:
    hooks = settings.get("hooks")
    listed = hooks.get(event) if isinstance(hooks, dict) else None
    return isinstance(listed, list) and group in listed


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for each in inner for found in _strings(each)]


def find_faults(folder: str, environment: Mapping[str, str], project: str) -> list[str]:
    """What is installed and cannot work, or runs twice; one sentence each."""
    found = []
    for each in install_statuses(folder, environment, project):
        broken = [place for place in each.places if place.active == "no" and (place.missing or place.how)]
        found += [f"{each.title} does not call Preheat from `{place.path}`: {place.reason}" for place in broken]
        if each.doubles:
            found.append(f"{each.title} calls Preheat {len(each.doubles)} times in one session: {each.advice}")
    return found


# Hooks that run twice.
def find_double_hooks(agent: str, environment: Mapping[str, str], project: str) -> list[str]:
    """The files whose hooks of ours would run in one session of the agent, if there is more than one."""
    setup = require_hooks(agent).setup
    if setup.ways is not None:
        return []
    paths = dict.fromkeys(os.path.realpath(path) for path in setup.settings_files(environment, project))
    found = [path for path in paths if _calls_us(path)]
    return found if len(found) > 1 else []


def _calls_us(path: str) -> bool:
    data = read_bytes(path) or b""
    text = data.decode("utf-8", "replace")
    if WRITTEN_MARK in text:
        return True
    settings = _settings(text, path)
    return any(hooked_events(settings, agent) for agent in WITH_HOOKS)


def _advice(setup: Setup, doubles: list[str], environment: Mapping[str, str], project: str, agent: str) -> str:
    if not doubles:
        return ""
    own = {
        os.path.realpath(setup.user_file(environment)),
        os.path.realpath(setup.project_file(project)) if project else "",
    }
    if own >= set(doubles) or not setup.duplicate_advice:
        return (
            f"It is installed for all projects and for this one: `preheat uninstall {agent} --project` leaves one of them. "
            "Until then the second call of each event is left unanswered."
        )
    return setup.duplicate_advice


# The daemon and its client.
def _last_seen(folder: str) -> dict[str, Any]:
    data = read_bytes(os.path.join(live_folder(folder), LAST_SEEN_FILE))
    try:
        found = msgspec.json.decode(data or b"{}")
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def check_client(folder: str) -> SelfTest:
    """Run the client as an agent would, with an empty event; no daemon is started for it."""
    words = make_client(WITH_HOOKS[0], folder).arguments
    if not os.path.exists(words[-2]):
        return SelfTest(client="missing", why=f"`{words[-2]}` is not there; `preheat install AGENT` puts it there")
    running = find_daemon(folder) is not None
    begun = time.perf_counter()
    try:
        # Without the agent's name it ends before it looks for a daemon.
        done = subprocess.run(
            words if running else words[:-1], input=b"{}", capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return SelfTest(client="fails", why=str(error))
    took = (time.perf_counter() - begun) * 1000
    fine = done.returncode == 0 and not done.stdout and not done.stderr
    return SelfTest(
        client="works" if fine else "fails",
        milliseconds=round(took, 1),
        daemon="running" if running else "away",
        why="" if fine else (done.stderr or done.stdout).decode("utf-8", "replace")[:300],
    )
