"""Agents that are set up in one of several ways, each of several steps: which is taken and why, doing it, and undoing it exactly.

Knows no agent. A plan changes nothing. The step that tells the program to load us comes last when installing and first when
taking back: in between the program finds nothing, never half of something.
"""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from preheat.agents import places_of
from preheat.agents.pythons import look
from preheat.agents.ways import Around, Folder, Item, Package, Several, Target, Way
from preheat.errors import UserError
from preheat.installing import folders, items, packages
from preheat.installing.commands import client_of
from preheat.installing.folders import FolderPlan
from preheat.installing.ledger import Installed, entries_of, entry, note
from preheat.installing.packages import Cannot, PackagePlan
from preheat.installing.plans import Plan, carry_out, hooks_for
from preheat.running.place import write_client

Planned: TypeAlias = PackagePlan | FolderPlan | Plan


class Work(NamedTuple):
    """What installing or taking back is going to do."""

    agent: str
    steps: tuple[Planned, ...]
    way: Way | None = None
    target: Target | None = None
    why: str = ""
    """Why it is this way and not the first of them; empty where it is the first, or was asked for."""
    notes: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return all(step.action == "nothing" for step in self.steps)


class Done(NamedTuple):
    """What came of it."""

    backup: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def several_of(agent: str) -> Several | None:
    """How the agent is set up in several ways; None where one file is all."""
    return hooks_for(agent).setup.several


def around(agent: str, folder: str, environment: Mapping[str, str], interpreter: str = "") -> Around:
    return Around(environment, interpreter, client_of(agent, folder).arguments, folder)


# Installing.
def install_work(agent: str, folder: str, environment: Mapping[str, str], how: str = "", without: str = "") -> Work:
    """What installing would do. `how`: the way that was asked for, else the one it is installed by, else the first that can be
    done; `without` says why the first was tried and failed. Raises UserError, and then nothing has changed."""
    several = several_of(agent)
    if several is None:
        raise UserError(f"{places_of(agent).title} is installed in one way only; leave `--how` out")
    if how and how not in several.hows:
        raise UserError(f"there is no way `{how}` for {places_of(agent).title}; there are {', '.join(several.hows)}")
    target = several.target(environment)
    # Before anything else: settings that cannot be read are left alone, and so is all the rest.
    items.settings_of(target.settings)
    ways = several.ways(around(agent, folder, environment, target.interpreter))
    there = [way for way in ways if _present(way, environment)]
    as_before = there[0].how if len(there) == 1 and not without else ""
    # And settings that cannot be changed for certain, before anybody waits for packages.
    _settings(agent, folder, next((way for way in ways if way.how == (how or as_before)), ways[0]), ways)
    chosen, package, why = _chosen(ways, how or as_before, environment, without)
    steps = (*((package,) if package else ()), *_steps(agent, folder, environment, chosen, ways))
    return Work(agent, steps, chosen, target, why, (*_second(steps, chosen, there), *target.notes))


def _present(way: Way, environment: Mapping[str, str]) -> bool:
    """Whether what the way puts into the program is there, whether or not the program is told to load it."""
    first = way.steps[0]
    if isinstance(first, Package):
        found = look(first.interpreter, environment, first.group)
        return found is not None and packages.NAME in found.points
    if isinstance(first, Folder):
        return folders.ours(first)
    return len(way.steps) == 1 and items.holds(first, items.settings_of(first.path))


def _chosen(
    ways: Sequence[Way], how: str, environment: Mapping[str, str], why: str
) -> tuple[Way, PackagePlan | None, str]:
    """The way, what it does to the program's Python, and why it is not the first."""
    for way in ways:
        if how and way.how != how:
            continue
        package = next((step for step in way.steps if isinstance(step, Package)), None)
        if package is None:
            return way, None, why
        if why:
            continue
        try:
            return way, packages.addition(package, environment), ""
        except Cannot as problem:
            why = str(problem)
    raise UserError(f"`--how {how}` cannot be done: {why}. `--how {ways[1].how}` needs none of it; nothing was changed")


def _steps(
    agent: str, folder: str, environment: Mapping[str, str], chosen: Way, ways: Sequence[Way]
) -> tuple[Planned, ...]:
    """All but the packages of the way itself."""
    steps: list[Planned] = [folders.placing(agent, step, folder) for step in chosen.steps if isinstance(step, Folder)]
    steps.append(_settings(agent, folder, chosen, ways))
    # Whatever another way has put there would be a second one of the same.
    for way in ways:
        if way is not chosen:
            steps += _removals(agent, folder, environment, way)
    return tuple(steps)


def _settings(agent: str, folder: str, chosen: Way, ways: Sequence[Way]) -> Plan:
    """What becomes of the program's settings: the items of one way are in them, those of the others are not."""
    wanted = [step for step in chosen.steps if isinstance(step, Item)]
    others = [step for step in _items(ways) if step.keys not in [each.keys for each in wanted]]
    return items.placing(agent, (wanted or others)[0].path, wanted, others, folder)


def _items(ways: Sequence[Way]) -> list[Item]:
    found = {step.keys: step for way in ways for step in way.steps if isinstance(step, Item)}
    return list(found.values())


def _removals(agent: str, folder: str, environment: Mapping[str, str], way: Way) -> list[Planned]:
    """What is there of a way apart from the settings."""
    found: list[Planned | None] = [
        folders.removal(agent, step, folder) for step in way.steps if isinstance(step, Folder)
    ]
    if any(isinstance(step, Package) for step in way.steps):
        settings = [step.path for step in way.steps if isinstance(step, Item)]
        found += _package_removals(agent, folder, environment, settings)
    return [step for step in found if step is not None]


def _package_removals(
    agent: str, folder: str, environment: Mapping[str, str], settings: Sequence[str]
) -> list[PackagePlan | None]:
    """Of packages, exactly what we have put there, and only when no other home of the program is told to load them."""
    if any(each.path not in settings and os.path.exists(each.path) for each in entries_of(folder, agent, "file")):
        return []
    known = entries_of(folder, agent, "packages")
    return [packages.removal(each.path, each.packages, environment) for each in known]


def _second(steps: Sequence[Planned], chosen: Way, there: Sequence[Way]) -> tuple[str, ...]:
    """Said where a package that we have not put there would be loaded all the same."""
    for way in there:
        package = next((step for step in way.steps if isinstance(step, Package)), None)
        if package is not None and way is not chosen and not any(isinstance(step, PackagePlan) for step in steps):
            return (
                f"Preheat is also a package in `{package.interpreter}` and stays there: it may be loaded instead or besides. "
                f"`{package.interpreter} -m pip uninstall preheat` takes it out.",
            )
    return ()


def install(agent: str, folder: str, environment: Mapping[str, str], how: str, at: float) -> tuple[Work, Done]:
    """Plan and do it. Where the first way turns out not to work and none was asked for, the next is taken. Raises UserError."""
    work = install_work(agent, folder, environment, how)
    try:
        return work, do(work, folder, environment, at)
    except Cannot as problem:
        if how:
            raise UserError(f"`--how {how}` did not work: {problem}; nothing was changed") from None
        work = install_work(agent, folder, environment, without=str(problem))
        return work, do(work, folder, environment, at)


def do(work: Work, folder: str, environment: Mapping[str, str], at: float) -> Done:
    """Carry out a plan. Raises Cannot before anything has changed, OSError in between."""
    if work.way is not None:
        write_client(folder)
    done = Done()
    for step in work.steps:
        if isinstance(step, PackagePlan):
            done = _packages(step, work.agent, folder, environment, at, done)
        elif isinstance(step, FolderPlan):
            if step.action == "delete":
                folders.take_away(step, folder)
                done = done._replace(kept=(*done.kept, *(os.path.join(step.path, name) for name in step.kept)))
            elif step.action != "nothing":
                folders.place(step, folder, at)
        else:
            done = done._replace(backup=carry_out(step, folder, at) or done.backup)
    return done


def _packages(
    step: PackagePlan, agent: str, folder: str, environment: Mapping[str, str], at: float, done: Done
) -> Done:
    if step.action == "add":
        added = packages.add(step, environment)
        known = entry(folder, step.interpreter)
        whole = tuple(dict.fromkeys((*(known.packages if known else ()), *added)))
        newest = {each.split("==")[0]: each for each in whole}
        kept = Installed(
            agent=agent, path=step.interpreter, at=at, existed=True, after="", kind="packages", packages=tuple(newest.values())
        )  # fmt: skip
        note(folder, step.interpreter, kept)
        return done._replace(added=added)
    if step.action == "remove":
        packages.remove(step, environment)
        note(folder, step.interpreter, None)
        return done._replace(removed=step.packages, kept=(*done.kept, *step.kept))
    return done


# Taking back.
def uninstall_work(agent: str, folder: str, environment: Mapping[str, str]) -> Work | None:
    """What taking back would do, of every way; None where nothing of ours is there. Works without the program."""
    several = several_of(agent)
    if several is None:
        return None
    ways = several.ways(around(agent, folder, environment))
    steps: list[Planned | None] = [
        items.removal(agent, path, [item for item in _items(ways) if item.path == path], folder)
        for path in dict.fromkeys(item.path for item in _items(ways))
    ]
    for way in ways:
        steps += _removals(agent, folder, environment, way)
    steps += [packages.removal(each.path, each.packages, environment) for each in entries_of(folder, agent, "packages")]
    found = tuple(step for step in steps if step is not None)
    return Work(agent, found) if found else None
