"""Which of several ways an agent is set up by: each way that is found, whether the program loads it, and duplicates.

Knows no agent. Reads files and asks the program's Python for its packages; changes nothing.
"""

import json
import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from preheat import __version__
from preheat.agents.pythons import inspect_interpreter
from preheat.agents.ways import FolderStep, InstallTarget, InstallWay, InstallWays, ListEntry, PackageStep
from preheat.errors import UserError
from preheat.installing.commands import find_missing_file
from preheat.installing.folders import is_current_folder, is_our_folder
from preheat.installing.items import find_forbidding_list, holds_our_item, load_yaml_settings
from preheat.installing.packages import PACKAGE_NAME, held_versions
from preheat.installing.plans import read_bytes
from preheat.installing.several import make_surroundings, ways_of
from preheat.installing.yamltext import items_at as items_in


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
    several = ways_of(agent)
    if several is None:
        return FoundWays()
    target, notes = _target(several, environment)
    try:
        settings, broken = load_yaml_settings(several.settings(environment)), ""
    except UserError as problem:
        settings, broken = {}, str(problem)
    ways = several.ways(make_surroundings(agent, folder, environment, target.interpreter if target else ""))
    found = [seen for way in ways if (seen := _find_way(way, settings, environment)) is not None]
    judged = _judge(several, ways, found, settings, environment, broken, agent)
    unread = (broken,) if broken and not found else ()
    return FoundWays(judged, target, (*unread, *(several.notes if found else ()), *notes))


def _target(several: InstallWays, environment: Mapping[str, str]) -> tuple[InstallTarget | None, tuple[str, ...]]:
    try:
        target = several.target(environment)
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
    there = [each for each in items_in(settings, first.keys) if first.is_ours(each)]
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
    several: InstallWays,
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
            or several.obstacle(environment, seen.how, settings)
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
