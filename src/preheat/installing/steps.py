"""Agents that can be set up in several ways, each of several steps: choosing a way, installing by it, and undoing it exactly.

Knows no agent. A plan changes nothing. The step that makes the program load us is the last one of an installation and the
first one of its removal: in between the program never loads half of it. Folders and files of others are left alone.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from preheat.agents import places_of
from preheat.agents.hooks import (
    FolderStep,
    InstallContext,
    InstallTarget,
    InstallWay,
    InstallWays,
    ListEntry,
    PackageStep,
)
from preheat.agents.interpreters import inspect_interpreter
from preheat.daemon_client import write_client
from preheat.errors import UserError
from preheat.files import make_private_folder
from preheat.installing.ledger import InstalledEntry, digest_of, find_entries, find_entry, record_entry
from preheat.installing.packages import (
    PACKAGE_NAME,
    CannotInstall,
    PackagePlan,
    add_packages,
    plan_package_removal,
    plan_packages,
    remove_packages,
)
from preheat.installing.plans import (
    FilePlan,
    apply_file_plan,
    make_client,
    missing_folders,
    read_bytes,
    remove_empty,
    require_hooks,
    write_settings,
)
from preheat.installing.yaml_settings import holds_our_item, load_yaml_settings, plan_item_removal, plan_items

# Folders of ours in another program's home.
_COMPILED = "__pycache__"


class FolderPlan(NamedTuple):
    """What will be done to one folder."""

    agent: str
    path: str
    action: Literal["create", "change", "delete", "nothing"]
    files: Mapping[str, bytes] = {}
    """Files to write."""
    unchanged: Mapping[str, bytes] = {}
    """Files of ours that are there already as they would be written."""
    removed: tuple[str, ...] = ()
    """Files to delete."""
    kept: tuple[str, ...] = ()
    """Files that stay: others put them there or changed them."""


def is_our_folder(folder: FolderStep) -> bool:
    """Whether the folder exists and carries our mark."""
    return os.path.isdir(folder.path) and os.path.isfile(os.path.join(folder.path, folder.marker_file))


def is_current_folder(folder: FolderStep) -> bool:
    """Whether the folder holds exactly the files that would be written now."""
    return all(read_bytes(os.path.join(folder.path, name)) == data for name, data in folder.files.items())


def plan_folder(agent: str, folder: FolderStep, data: str) -> FolderPlan:
    """Plan writing the folder. Raises UserError where something of others is there."""
    there = os.path.lexists(folder.path)
    if there and (os.path.islink(folder.path) or not is_our_folder(folder)):
        raise UserError(f"`{folder.path}` is there already and not Preheat's; move it away first, nothing was changed")
    changed: dict[str, bytes] = {}
    unchanged: dict[str, bytes] = {}
    for name, inner in folder.files.items():
        is_there = read_bytes(os.path.join(folder.path, name)) == inner
        (unchanged if is_there else changed)[name] = inner
    known = find_entry(data, folder.path)
    former = [name for name in (known.files if known else folder.former_files) if name not in folder.files]
    gone = tuple(name for name in former if os.path.isfile(os.path.join(folder.path, name)))
    if not there:
        return FolderPlan(agent, folder.path, "create", changed)
    return FolderPlan(agent, folder.path, "change" if changed or gone else "nothing", changed, unchanged, gone)


def write_folder(plan: FolderPlan, data: str, at: float) -> None:
    """Write the planned folder. Raises OSError."""
    known = find_entry(data, plan.path)
    made = known.made if known is not None else (*(() if os.path.isdir(plan.path) else (plan.path,)), *missing_folders(plan.path))  # fmt: skip # noqa: E501
    make_private_folder(plan.path)
    for name, inner in plan.files.items():
        path = os.path.join(plan.path, name)
        write_settings(path, inner, path)
    for name in plan.removed:
        os.unlink(os.path.join(plan.path, name))
    files = {name: each for name, each in (known.files if known else {}).items() if name not in plan.removed}
    files |= {name: digest_of(inner) for name, inner in (*plan.files.items(), *plan.unchanged.items())}
    done = InstalledEntry(
        agent=plan.agent, path=plan.path, at=at, existed=False, after="", kind="folder", made=made, files=files
    )  # fmt: skip
    record_entry(data, plan.path, done)


def plan_folder_removal(agent: str, folder: FolderStep, data: str) -> FolderPlan | None:
    """Plan removing the folder; None where it does not exist or is not ours."""
    if os.path.islink(folder.path) or not is_our_folder(folder):
        return None
    known = find_entry(data, folder.path)
    digests = known.files if known is not None else dict.fromkeys((*folder.files, *folder.former_files), "")
    gone: list[str] = []
    kept: list[str] = []
    for name in sorted(os.listdir(folder.path)):
        if name == _COMPILED:
            continue
        inner = read_bytes(os.path.join(folder.path, name)) if os.path.isfile(os.path.join(folder.path, name)) else None
        expected = digests.get(name)
        is_ours = inner is not None and expected is not None and expected in ("", digest_of(inner))
        (gone if is_ours else kept).append(name)
    return FolderPlan(agent, folder.path, "delete", removed=tuple(gone), kept=tuple(kept))


def remove_folder(plan: FolderPlan, data: str) -> None:
    """Remove the planned files, and the folder where nothing else is left in it. Raises OSError."""
    known = find_entry(data, plan.path)
    for name in plan.removed:
        os.unlink(os.path.join(plan.path, name))
    if not plan.kept:
        shutil.rmtree(os.path.join(plan.path, _COMPILED), ignore_errors=True)
    remove_empty(known.made if known is not None and known.made else (plan.path,))
    record_entry(data, plan.path, None)


# Choosing a way.
StepPlan: TypeAlias = PackagePlan | FolderPlan | FilePlan


class InstallPlan(NamedTuple):
    """What an installation or its removal will do."""

    agent: str
    steps: tuple[StepPlan, ...]
    way: InstallWay | None = None
    target: InstallTarget | None = None
    why: str = ""
    """Why the first way is not taken; empty where it is, or where the person chose."""
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return all(step.action == "nothing" for step in self.steps)


class InstallResult(NamedTuple):
    """What was done."""

    backup: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def ways_of(agent: str) -> InstallWays | None:
    """The agent's several ways; None where it is set up by one file."""
    return require_hooks(agent).setup.ways


def make_context(agent: str, folder: str, environment: Mapping[str, str], interpreter: str = "") -> InstallContext:
    return InstallContext(environment, interpreter, make_client(agent, folder).arguments, folder)


# Installing.
def plan_agent_install(
    agent: str, folder: str, environment: Mapping[str, str], how: str = "", failure: str = ""
) -> InstallPlan:
    """Plan installing. `how`: the way that the person chose, else the way already in use, else the first possible one; `failure`
    says why the first way has failed. Raises UserError, and then nothing has changed."""
    install_ways = ways_of(agent)
    if install_ways is None:
        raise UserError(f"{places_of(agent).title} is installed in one way only; leave `--how` out")
    if how and how not in install_ways.names:
        raise UserError(
            f"there is no way `{how}` for {places_of(agent).title}; there are {', '.join(install_ways.names)}"
        )
    target = install_ways.target(environment)
    # First of all: where the settings cannot be read, nothing is changed.
    load_yaml_settings(target.settings)
    ways = install_ways.ways(make_context(agent, folder, environment, target.interpreter))
    there = [way for way in ways if _is_installed(way, environment)]
    as_before = there[0].name if len(there) == 1 and not failure else ""
    # Settings that cannot be changed safely are refused before any package is looked for.
    _plan_settings(agent, folder, next((way for way in ways if way.name == (how or as_before)), ways[0]), ways)
    chosen, package, why = _choose_way(ways, how or as_before, environment, failure)
    steps = (*((package,) if package else ()), *_steps(agent, folder, environment, chosen, ways))
    return InstallPlan(agent, steps, chosen, target, why, (*_warn_of_package(steps, chosen, there), *target.notes))


def _is_installed(way: InstallWay, environment: Mapping[str, str]) -> bool:
    """Whether the way is installed, whether or not the program is set to load it."""
    first = way.steps[0]
    if isinstance(first, PackageStep):
        found = inspect_interpreter(first.interpreter, environment, first.group)
        return found is not None and PACKAGE_NAME in found.points
    if isinstance(first, FolderStep):
        return is_our_folder(first)
    return len(way.steps) == 1 and holds_our_item(first, load_yaml_settings(first.path))


def _choose_way(
    ways: Sequence[InstallWay], how: str, environment: Mapping[str, str], why: str
) -> tuple[InstallWay, PackagePlan | None, str]:
    """The way, its plan for the program's Python, and why it is not the first way."""
    for way in ways:
        if how and way.name != how:
            continue
        package = next((step for step in way.steps if isinstance(step, PackageStep)), None)
        if package is None:
            return way, None, why
        if why:
            continue
        try:
            return way, plan_packages(package, environment), ""
        except CannotInstall as problem:
            why = str(problem)
    raise UserError(
        f"`--how {how}` cannot be done: {why}. `--how {ways[1].name}` needs none of it; nothing was changed"
    )


def _steps(
    agent: str, folder: str, environment: Mapping[str, str], chosen: InstallWay, ways: Sequence[InstallWay]
) -> tuple[StepPlan, ...]:
    """Every step but the packages of the chosen way."""
    steps: list[StepPlan] = [plan_folder(agent, step, folder) for step in chosen.steps if isinstance(step, FolderStep)]
    steps.append(_plan_settings(agent, folder, chosen, ways))
    # What another way has installed would be loaded a second time.
    for way in ways:
        if way is not chosen:
            steps += _removals(agent, folder, environment, way)
    return tuple(steps)


def _plan_settings(agent: str, folder: str, chosen: InstallWay, ways: Sequence[InstallWay]) -> FilePlan:
    """Plan the program's settings: they hold the items of the chosen way and of no other."""
    wanted = [step for step in chosen.steps if isinstance(step, ListEntry)]
    others = [step for step in _items(ways) if step.keys not in [each.keys for each in wanted]]
    return plan_items(agent, (wanted or others)[0].path, wanted, others, folder)


def _items(ways: Sequence[InstallWay]) -> list[ListEntry]:
    found = {step.keys: step for way in ways for step in way.steps if isinstance(step, ListEntry)}
    return list(found.values())


def _removals(agent: str, folder: str, environment: Mapping[str, str], way: InstallWay) -> list[StepPlan]:
    """Plan removing what a way has installed apart from the settings."""
    found: list[StepPlan | None] = [
        plan_folder_removal(agent, step, folder) for step in way.steps if isinstance(step, FolderStep)
    ]
    if any(isinstance(step, PackageStep) for step in way.steps):
        settings = [step.path for step in way.steps if isinstance(step, ListEntry)]
        found += _package_removals(agent, folder, environment, settings)
    return [step for step in found if step is not None]


def _package_removals(
    agent: str, folder: str, environment: Mapping[str, str], settings: Sequence[str]
) -> list[PackagePlan | None]:
    """Plan removing exactly the packages that we added, unless another home of the program still loads them."""
    if any(each.path not in settings and os.path.exists(each.path) for each in find_entries(folder, agent, "file")):
        return []
    known = find_entries(folder, agent, "packages")
    return [plan_package_removal(each.path, each.packages, environment) for each in known]


def _warn_of_package(steps: Sequence[StepPlan], chosen: InstallWay, there: Sequence[InstallWay]) -> tuple[str, ...]:
    """A warning where a package that we did not add would be loaded as well."""
    for way in there:
        package = next((step for step in way.steps if isinstance(step, PackageStep)), None)
        if package is not None and way is not chosen and not any(isinstance(step, PackagePlan) for step in steps):
            return (
                f"Preheat is also a package in `{package.interpreter}` and stays there: it may be loaded instead or besides. "
                f"`{package.interpreter} -m pip uninstall preheat` takes it out.",
            )
    return ()


def install_agent(
    agent: str, folder: str, environment: Mapping[str, str], how: str, at: float
) -> tuple[InstallPlan, InstallResult]:
    """Plan and install. If the first way fails and the person did not choose one, the next is taken. Raises UserError."""
    work = plan_agent_install(agent, folder, environment, how)
    try:
        return work, apply_install_plan(work, folder, environment, at)
    except CannotInstall as problem:
        if how:
            raise UserError(f"`--how {how}` did not work: {problem}; nothing was changed") from None
        work = plan_agent_install(agent, folder, environment, failure=str(problem))
        return work, apply_install_plan(work, folder, environment, at)


def apply_install_plan(work: InstallPlan, folder: str, environment: Mapping[str, str], at: float) -> InstallResult:
    """Carry out a plan. Raises CannotInstall before anything has changed, OSError in between."""
    if work.way is not None:
        write_client(folder)
    done = InstallResult()
    for step in work.steps:
        if isinstance(step, PackagePlan):
            done = _apply_package_plan(step, work.agent, folder, environment, at, done)
        elif isinstance(step, FolderPlan):
            if step.action == "delete":
                remove_folder(step, folder)
                done = done._replace(kept=(*done.kept, *(os.path.join(step.path, name) for name in step.kept)))
            elif step.action != "nothing":
                write_folder(step, folder, at)
        else:
            done = done._replace(backup=apply_file_plan(step, folder, at) or done.backup)
    return done


def _apply_package_plan(
    step: PackagePlan, agent: str, folder: str, environment: Mapping[str, str], at: float, done: InstallResult
) -> InstallResult:
    if step.action == "add":
        added = add_packages(step, environment)
        known = find_entry(folder, step.interpreter)
        whole = tuple(dict.fromkeys((*(known.packages if known else ()), *added)))
        newest = {each.split("==")[0]: each for each in whole}
        kept = InstalledEntry(
            agent=agent, path=step.interpreter, at=at, existed=True, after="", kind="packages", packages=tuple(newest.values())
        )  # fmt: skip
        record_entry(folder, step.interpreter, kept)
        return done._replace(added=added)
    if step.action == "remove":
        remove_packages(step, environment)
        record_entry(folder, step.interpreter, None)
        return done._replace(removed=step.packages, kept=(*done.kept, *step.kept))
    return done


# Uninstalling.
def plan_agent_uninstall(agent: str, folder: str, environment: Mapping[str, str]) -> InstallPlan | None:
    """Plan removing every way; None where nothing of ours is installed. Works without the program."""
    install_ways = ways_of(agent)
    if install_ways is None:
        return None
    ways = install_ways.ways(make_context(agent, folder, environment))
    steps: list[StepPlan | None] = [
        plan_item_removal(agent, path, [item for item in _items(ways) if item.path == path], folder)
        for path in dict.fromkeys(item.path for item in _items(ways))
    ]
    for way in ways:
        steps += _removals(agent, folder, environment, way)
    steps += [
        plan_package_removal(each.path, each.packages, environment) for each in find_entries(folder, agent, "packages")
    ]
    found = tuple(step for step in steps if step is not None)
    return InstallPlan(agent, found) if found else None
