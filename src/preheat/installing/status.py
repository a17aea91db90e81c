"""The state of the installation: which agents call us, from which files and ways, and whether their programs run those hooks.

Knows no agent. Reads files and asks a program's Python for its packages; changes nothing.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import msgspec

from preheat import __version__
from preheat.agents import WITH_HOOKS, places_of
from preheat.agents.hooks import (
    FolderStep,
    HookStatus,
    InstallTarget,
    InstallWay,
    InstallWays,
    ListEntry,
    PackageStep,
    Setup,
)
from preheat.agents.interpreters import inspect_interpreter
from preheat.daemon_client import CLIENT_FILES, LAST_SEEN_FILE, find_daemon, known_address, live_folder
from preheat.errors import UserError
from preheat.installing.chain import ChainLink, HookCall, Surroundings, hook_words, prove_chain
from preheat.installing.json_settings import hooked_events, parse_settings
from preheat.installing.ledger import load_ledger
from preheat.installing.packages import PACKAGE_NAME, held_versions
from preheat.installing.plans import (
    PYTHON_OPTIONS,
    WRITTEN_MARK,
    find_missing_file,
    make_client,
    read_bytes,
    require_hooks,
)
from preheat.installing.steps import is_current_folder, is_our_folder, make_context, ways_of
from preheat.installing.yaml_settings import find_forbidding_list, holds_our_item, items_at, load_yaml_settings

_WORD_LIST = re.compile(rf'\["[^\]\n]*{re.escape(CLIENT_FILES[0])}[^\]\n]*\]')
"""The words of a call in the text of a plugin."""


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
    chain: tuple[ChainLink, ...] = ()
    """Every link from here to an answer, as a test event found it; empty where none was sent."""


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


def install_statuses(
    folder: str, environment: Mapping[str, str], project: str, around: Surroundings | None = None
) -> list[AgentInstallStatus]:
    """The state of every agent that has hooks; `project` is a folder whose settings are read besides the person's. With `around`
    a test event is sent from each place."""
    seen = _last_seen(folder)
    found = [_status(agent, folder, environment, project, seen) for agent in WITH_HOOKS]
    return found if around is None else [_with_chains(each, around) for each in found]


def _with_chains(agent: AgentInstallStatus, around: Surroundings) -> AgentInstallStatus:
    places = []
    for place in agent.places:
        fault = place.reason if place.active == "no" and not place.missing else ""
        call = HookCall(agent.agent, fault, *_hook_call(place))
        places.append(msgspec.structs.replace(place, chain=prove_chain(call, around)))
    return msgspec.structs.replace(agent, places=tuple(places))


def _hook_call(place: InstallPlace) -> tuple[str, tuple[str, ...]]:
    """How a place calls Preheat: a shell's command and its words, or the words alone."""
    if place.how:
        return "", ()
    text = (read_bytes(place.path) or b"").decode("utf-8", "replace")
    for command in _client_commands(_settings(text, place.path)):
        if words := hook_words(command):
            return command, words
    for listed in _WORD_LIST.findall(text):  # a file of Preheat's own
        with suppress(msgspec.DecodeError):
            return "", tuple(msgspec.json.decode(listed, type=list[str]))
    return "", ()


def _client_commands(settings: dict[str, Any]) -> list[str]:
    values = _strings(settings.get("hooks"))
    return [value for value in values if CLIENT_FILES[0] in value and PYTHON_OPTIONS[0] in value]


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
        commands = _client_commands(settings)
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


# Agents that can be set up in several ways.
class FoundWay(NamedTuple):
    """One way in which Preheat is set up."""

    how: str
    path: str
    active: Literal["yes", "no", "unknown"]
    reason: str = ""
    events: tuple[str, ...] = ()
    current: bool = True
    missing: str = ""
    version: str = ""
    """Of the installed Preheat."""


class FoundWays(NamedTuple):
    """Every way that was found."""

    ways: tuple[FoundWay, ...] = ()
    target: InstallTarget | None = None
    notes: tuple[str, ...] = ()

    @property
    def doubles(self) -> list[str]:
        """The paths that call us in the same session, if there is more than one."""
        found = [each.path for each in self.ways if each.active != "no"]
        return found if len(found) > 1 else []


def find_ways(agent: str, folder: str, environment: Mapping[str, str]) -> FoundWays:
    """Find the ways in which the agent is set up."""
    install_ways = ways_of(agent)
    if install_ways is None:
        return FoundWays()
    target, notes = _find_target(install_ways, environment)
    try:
        settings, broken = load_yaml_settings(install_ways.settings(environment)), ""
    except UserError as problem:
        settings, broken = {}, str(problem)
    ways = install_ways.ways(make_context(agent, folder, environment, target.interpreter if target else ""))
    found = [seen for way in ways if (seen := _find_way(way, settings, environment)) is not None]
    judged = _judge(install_ways, ways, found, settings, environment, broken, agent)
    unread = (broken,) if broken and not found else ()
    return FoundWays(judged, target, (*unread, *(install_ways.notes if found else ()), *notes))


def _find_target(
    install_ways: InstallWays, environment: Mapping[str, str]
) -> tuple[InstallTarget | None, tuple[str, ...]]:
    try:
        target = install_ways.target(environment)
    except UserError as problem:
        return None, (str(problem),)
    return target, target.notes


def _find_way(way: InstallWay, settings: dict[str, Any], environment: Mapping[str, str]) -> FoundWay | None:
    first = way.steps[0]
    if isinstance(first, PackageStep):
        python = inspect_interpreter(first.interpreter, environment, first.group)
        if python is None or PACKAGE_NAME not in python.points:
            return None
        version = held_versions(python).get(PACKAGE_NAME, "")
        return FoundWay(way.name, first.interpreter, "yes", version=version, current=version == __version__)
    if isinstance(first, FolderStep):
        return _find_folder(way, first) if is_our_folder(first) else None
    if len(way.steps) > 1 or not holds_our_item(first, settings):
        return None
    there = [each for each in items_at(settings, first.keys) if first.is_ours(each)]
    gone = next((lost for each in there if (lost := find_missing_file(str(each.get("command", ""))))), "")
    return FoundWay(way.name, first.path, "yes", events=(first.keys[-1],), current=there == [first.value], missing=gone)


def _find_folder(way: InstallWay, folder: FolderStep) -> FoundWay:
    try:
        mark = json.loads(read_bytes(os.path.join(folder.path, folder.marker_file)) or b"{}")
        version, starts = str(mark.get("version") or ""), str(mark.get("interpreter") or "")
    except (ValueError, AttributeError):
        version, starts = "", ""
    gone = starts if starts and not os.path.exists(starts) else ""
    return FoundWay(way.name, folder.path, "yes", version=version, current=is_current_folder(folder), missing=gone)


def _judge(
    install_ways: InstallWays,
    ways: tuple[InstallWay, ...],
    found: list[FoundWay],
    settings: dict[str, Any],
    environment: Mapping[str, str],
    broken: str,
    agent: str,
) -> tuple[FoundWay, ...]:
    """Say of each way whether the program loads it."""
    by_how = {way.name: way for way in ways}
    judged, loaded = [], ""
    for seen in found:
        wanted = [step for step in by_how[seen.how].steps if isinstance(step, ListEntry)]
        reason = (
            broken
            or _why_not_loaded(seen, wanted, settings, agent)
            or install_ways.obstacle(environment, seen.how, settings)
        )
        if not reason and not seen.events and loaded:
            reason = f"{loaded} is loaded in its place: both go by the same name"
        if not reason and not seen.events:
            loaded = f"`{seen.path}`"
        judged.append(seen._replace(active="no" if reason else "yes", reason=reason))
    return tuple(judged)


def _why_not_loaded(seen: FoundWay, wanted: list[ListEntry], settings: dict[str, Any], agent: str) -> str:
    if seen.missing:
        return f"`{seen.missing}` is gone; `preheat install {agent}` puts it right"
    for item in wanted:
        name = ".".join(item.keys)
        if forbids := find_forbidding_list(item, settings):
            return f"it is in `{forbids}` of `{item.path}`; `preheat install {agent}` takes it out"
        if not holds_our_item(item, settings):
            return f"it is not in `{name}` of `{item.path}`; `preheat install {agent}` puts it there"
    return ""


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
    """Run the client as an agent would, but for no agent: no daemon is asked or started. The whole way is tried by `chain`."""
    words = make_client(WITH_HOOKS[0], folder).arguments
    if not os.path.exists(words[-2]):
        return SelfTest(client="missing", why=f"`{words[-2]}` is not there; `preheat install AGENT` puts it there")
    running = find_daemon(folder) is not None
    begun = time.perf_counter()
    try:
        # Without the agent's name it ends before it looks for a daemon.
        done = subprocess.run(words[:-1], input=b"{}", capture_output=True, timeout=10, check=False)
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
