"""The commands `preheat install`, `preheat uninstall` and `preheat status`: Preheat's hooks in agents' settings.

Knows no agent's settings.
"""

import os
import sys
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import click

from preheat.app.agents import hookable_agents, title_of
from preheat.app.installation import (
    AgentInstallStatus,
    ChainLink,
    FileChange,
    FilePlan,
    FolderPlan,
    InstallPlace,
    InstallPlan,
    InstallResult,
    PackagePlan,
    SelfTest,
    StepChange,
    StepPlan,
    project_around,
)
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_preheat
from preheat.cli.options import AgentName
from preheat.cli.screen import console, hint, print_json, say
from preheat.cli.text import count, date_time, short_path

if TYPE_CHECKING:
    from rich.console import Console

# Agents that are set up in several steps
_MOST = 6


def show_installed(plan: InstallPlan, result: InstallResult, as_json: bool, dry_run: bool = False) -> None:
    """Print what was done, or for a dry run what would be."""
    if as_json:
        print_json(_steps_json(plan, result, dry_run))
        return
    title = plan.target.title if plan.target else plan.agent
    way = plan.way
    if plan.is_empty:
        print(
            f"{title} has it already, {way.description if way else ''}: nothing {'would change' if dry_run else 'was changed'}."
        )
    else:
        verb = "would be installed" if dry_run else "is installed"
        print(f"{title}: Preheat {verb} {way.description if way else ''}.")
    if plan.why:
        print(f"  not as a package: {plan.why}")
    for step in plan.steps:
        for line in _lines(step, result, dry_run):
            print(f"  {line}")
    if result.backup:
        print(f"  backup: {short_path(result.backup)}")
    _show_kept(result)
    for note in (*(way.next_steps if way and not plan.is_empty else ()), *plan.notes):
        print(note)
    if dry_run:
        _show_differences(plan)
    else:
        hint(f"`preheat uninstall {plan.agent}` removes it; `preheat status` says whether it works.")


def show_removed(plan: InstallPlan, result: InstallResult, as_json: bool, dry_run: bool) -> None:
    """Print what was removed, or for a dry run what would be."""
    if as_json:
        print_json(_steps_json(plan, result, dry_run))
        return
    for step in plan.steps:
        for line in _lines(step, result, dry_run):
            print(line)
    _show_kept(result)
    if dry_run:
        _show_differences(plan)


def _show_kept(result: InstallResult) -> None:
    if result.kept:
        print(
            f"  kept, because they were changed or something else needs them: {', '.join(map(short_path, result.kept))}"
        )


def _lines(step: StepPlan, result: InstallResult, dry_run: bool) -> list[str]:
    if step.action == "nothing":
        return []
    if isinstance(step, PackagePlan):
        return [_package_line(step, result, dry_run)]
    path = short_path(step.path)
    would = "would be " if dry_run else ""
    if isinstance(step, FolderPlan):
        words = {"create": "created", "change": "updated", "delete": "deleted"}
        return [f"{path}: {would}{words[step.action]} ({count(len(step.files or step.removed), 'file')})"]
    loaded = "so that it is loaded" if step.installs else "without it; other changes there stay"
    words = {
        "restore": "as it was before, to the byte",
        "delete": "deleted: there was none before",
        "create": f"created, {loaded}",
        "change": f"changed, {loaded}" if step.installs else loaded,
    }
    return [f"{path}: {would}{words[step.action]}"]


def _package_line(step: PackagePlan, result: InstallResult, dry_run: bool) -> str:
    adds = step.action == "add"
    packages = step.packages if dry_run or not adds else result.added
    names = [each.split("==")[0] for each in packages]
    listed = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
    would = "would be " if dry_run else ""
    what = (
        f"{count(len(names), 'package')} {would}{'added' if adds else 'removed'} ({listed})"
        if names
        else "Preheat itself"
    )
    if adds and not names:
        what = f"Preheat {would}updated to this version" if step.version_before else f"packages {would}added"
    return f"{short_path(step.interpreter)}: {what}" + (", no other package changed" if adds else "")


def _show_differences(plan: InstallPlan) -> None:
    for step in plan.steps:
        if isinstance(step, FilePlan) and step.action != "nothing":
            print(make_patch(step))


def make_patch(plan: FilePlan) -> str:
    """What a plan changes, as a unified diff."""
    before = (plan.before or b"").decode("utf-8", "replace").splitlines()
    after = (plan.after or b"").decode("utf-8", "replace").splitlines()
    name = short_path(plan.path)
    old = name if plan.before is not None else "(no file)"
    new = name if plan.after is not None else "(no file)"
    return "\n".join(unified_diff(before, after, old, new, lineterm=""))


def _steps_json(plan: InstallPlan, result: InstallResult, dry_run: bool) -> dict[str, Any]:
    settings = next((step for step in plan.steps if isinstance(step, FilePlan)), None)
    return {
        "agent": plan.agent,
        "how": plan.way.name if plan.way else "",
        "why": plan.why,
        "program": plan.target._asdict() if plan.target else None,
        "path": settings.path if settings else "",
        "action": "nothing" if plan.is_empty else settings.action if settings else "change",
        "events": list(settings.events) if settings else [],
        "steps": [_step_json(step) for step in plan.steps],
        "added": list(result.added),
        "removed": list(result.removed),
        "kept": list(result.kept),
        "backup": result.backup,
        "notes": [*(plan.way.next_steps if plan.way else ()), *plan.notes],
        **(
            {"difference": "\n".join(make_patch(step) for step in plan.steps if isinstance(step, FilePlan))}
            if dry_run
            else {}
        ),
    }


def _step_json(step: StepPlan) -> dict[str, Any]:
    if isinstance(step, PackagePlan):
        found = {
            "kind": "packages",
            "path": step.interpreter,
            "packages": list(step.packages),
            "from": list(step.source),
        }
        return {**found, "action": step.action}
    if isinstance(step, FolderPlan):
        return {"kind": "folder", "path": step.path, "files": [*step.files, *step.removed], "action": step.action}
    return {"kind": "file", "path": step.path, "action": step.action}


# `preheat install`
HOOKED = hookable_agents()


@click.command(
    "install",
    cls=ExampleCommand,
    epilog=f"""\
  preheat install {HOOKED[0]}
  preheat install {HOOKED[1]} --dry-run        shows what would change, and changes nothing
  preheat install {HOOKED[4]} --project       for this project only
  preheat install {HOOKED[-1]} --how directory  in one of the ways the agent supports

Your settings are kept, and a backup is written beside them. `preheat uninstall AGENT` undoes it, to the byte if the file was
not changed in between. Agents with hooks: {", ".join(HOOKED)}.""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="For the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@click.option(
    "--how", default="", metavar="WAY", help="How to install, where an agent supports several ways.  [default: chosen]"
)
@click.option("--http/--no-http", default=None, help="Post events to the daemon where the agent can, or never.")
@json_option
def install_command(agent: str, here: bool, dry_run: bool, how: str, http: bool | None, as_json: bool) -> int:
    """Have an agent call Preheat while it works.

    New sessions then start with what was learned here, and get advice when something goes wrong. A hook that fails or
    finds no daemon does not hold the agent up.
    """
    installation = open_preheat().installation
    steps = bool(how) or installation.has_steps(agent)
    if steps and not dry_run and not as_json and sys.stderr.isatty():
        hint("If packages have to be downloaded, this takes a minute.")
    change = installation.install(agent, project_around(os.getcwd()) if here else "", http, how, dry_run)
    if isinstance(change, StepChange):
        show_installed(change.work, change.done, as_json, dry_run=dry_run)
        if change.assignment and not as_json:
            print(change.assignment)
    elif dry_run:
        _show_plan(change.plan, as_json)
    elif as_json:
        print_json({**_file_change_json(change), "assignment": change.assignment})
    else:
        _show_file_change(change)
    return 0


def _show_file_change(change: FileChange) -> None:
    plan, title = change.plan, title_of(change.plan.agent)
    if plan.action == "nothing":
        print(f"{title} has Preheat's hooks already: {short_path(plan.path)} is as it should be.")
    else:
        posted = " (those after every call are posted to the daemon)" if plan.posts else ""
        what = f"{count(len(plan.events), 'hook')}{posted}" if plan.events else "the plugin"
        print(f"{title}: {what} added to {short_path(plan.path)}.")
    if change.backup:
        print(f"Backup: {short_path(change.backup)}")
    print(change.assignment)
    for note in (*plan.notes, *change.next_steps):
        print(note)
    if change.doubles:
        print("These files all call Preheat in the same session:")
        for path in change.doubles:
            print(f"  {short_path(path)}")
        print("`preheat status` says what to do about it.")
    where = " --project" if plan.project else ""
    hint(f"`preheat uninstall {plan.agent}{where}` removes it; `preheat status` says whether it works.")


def _show_plan(plan: FilePlan, as_json: bool) -> None:
    changes = make_patch(plan)
    if as_json:
        print_json({**_file_change_json(FileChange(plan)), "difference": changes})
        return
    print(changes or f"Nothing would change: {short_path(plan.path)} is as it should be.")
    for note in plan.notes:
        print(note)


def _file_change_json(change: FileChange) -> dict[str, object]:
    plan = change.plan
    return {
        "agent": plan.agent,
        "path": plan.path,
        "action": plan.action,
        "events": list(plan.events),
        "posts": plan.posts,
        "project": plan.project,
        "backup": change.backup,
        "fires_twice": list(change.doubles),
        "notes": list(plan.notes),
    }


# `preheat uninstall`
_DONE = {
    "restore": "{path} is as it was before, to the byte.",
    "delete": "{path} was deleted: there was none before.",
    "change": "Preheat's hooks were removed from {path}; other changes there stay.",
}


@click.command(
    "uninstall",
    cls=ExampleCommand,
    epilog=f"""\
  preheat uninstall {HOOKED[0]}
  preheat uninstall {HOOKED[4]} --project
  preheat uninstall {HOOKED[1]} --dry-run      shows what would change, and changes nothing""",
)
@click.argument("agent", type=AgentName(), metavar="AGENT")
@click.option("--project", "here", is_flag=True, help="In the project around this folder, not for all.")
@click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")
@json_option
def uninstall_command(agent: str, here: bool, dry_run: bool, as_json: bool) -> int:
    """Remove Preheat from an agent's settings."""
    installation = open_preheat().installation
    change = installation.uninstall(agent, project_around(os.getcwd()) if here else "", dry_run)
    if isinstance(change, StepChange):
        show_removed(change.work, change.done, as_json, dry_run)
    elif as_json:
        path, action = (change.plan.path, change.plan.action) if change is not None else ("", "nothing")
        shown = {"difference": make_patch(change.plan)} if change is not None and dry_run else {}
        print_json({"agent": agent, "path": path, "action": action, **shown})
    elif change is None:
        where = "" if installation.has_steps(agent) else " in this project" if here else " in your own settings"
        print(f"{title_of(agent)} does not call Preheat{where}; `preheat status` says what does.")
    elif dry_run:
        print(make_patch(change.plan))
    else:
        print(_DONE[change.plan.action].format(path=short_path(change.plan.path)))
    return 0


# `preheat status`
@click.command(
    "status",
    cls=ExampleCommand,
    epilog="""\
  preheat status
  preheat status --json""",
)
@json_option
def status_command(as_json: bool) -> int:
    """Say which agents call Preheat, and whether it works.

    Looks at your own settings and at those of the project around this folder, and sends a test event from each through its hook
    client, the daemon and the archive to an answer in the agent's form. The first link that is broken is named, with what to do.
    Changes and starts nothing; the test event counts nowhere.
    """
    found = open_preheat().installation.status(project_around(os.getcwd()))
    if as_json:
        print_json(found)
        return 0
    screen = console()
    for each in found.agents:
        _show_agent(screen, each)
    installed = any(each.places for each in found.agents)
    _show_test(screen, found.self_test, installed)
    if installed:
        say(screen, found.assignment)
    return 0


def _show_agent(screen: "Console", agent: AgentInstallStatus) -> None:
    if not agent.places:
        there = f"not installed; `preheat install {agent.agent}`" if agent.present else "not on this machine"
        say(screen, f"{agent.title}: {there}", "dim")
        return
    say(screen, agent.title, "bold")
    if agent.program:
        say(screen, f"  {short_path(agent.program)}")
    for place in agent.places:
        _show_place(screen, agent.agent, place)
    if agent.last_at is not None:
        say(screen, f"  last event {date_time(agent.last_at)} ({agent.last_event})")
    else:
        say(screen, "  no event yet")
    if agent.doubles:
        say(screen, f"  ! {count(len(agent.doubles), 'file')} call Preheat in the same session:", "yellow")
        for path in agent.doubles:
            say(screen, f"      {short_path(path)}")
        say(screen, f"    {agent.advice}")
    for note in agent.notes:
        say(screen, f"  {note}", "dim")


def _show_place(screen: "Console", agent: str, place: InstallPlace) -> None:
    what = count(len(place.events), "hook") if place.events else "plugin"
    if place.how:
        what += f" installed by `{place.how}`"
    posts = ", posted where the agent can" if place.posts else ""
    where = "this project" if place.scope == "project" else "all projects"
    say(screen, f"  {where}: {what}{posts} in {short_path(place.path)}")
    verdict = {"yes": "runs", "no": "does not run", "unknown": "may run"}[place.active]
    reason = f": {place.reason}" if place.reason else ""
    broken = next((link for link in place.chain if link.state == "broken"), None)
    if broken is not None and broken.name != "settings":
        say(screen, f"    does not work, at the link `{broken.name}`: {broken.detail}", "red")
    else:
        say(screen, f"    {verdict}{reason}", {"no": "red", "yes": "green"}.get(place.active, ""))
        _show_chain(screen, place.chain)
    if not place.current:
        option = " --project" if place.scope == "project" else f" --how {place.how}" if place.how else ""
        say(screen, f"    it is not what would be installed now; `preheat install {agent}{option}` updates it")


def _show_chain(screen: "Console", chain: tuple[ChainLink, ...]) -> None:
    """Which links a test event went through; nothing where the first one is broken, which the verdict says."""
    tried = [link.name for link in chain if link.state == "works"]
    if not tried or chain[0].state == "broken":
        return
    waiting = ", ".join(f"{link.name} ({link.detail})" for link in chain if link.state == "untested")
    end = f"; not tried: {waiting}" if waiting else ""
    say(screen, f"    a test event went through {', '.join(tried)}{end}", "dim")


def _show_test(screen: "Console", test: SelfTest, installed: bool) -> None:
    if test.client == "missing" and not installed:
        say(screen, "Nothing is installed yet: `preheat install AGENT` has an agent call Preheat.")
    elif test.client == "works":
        with_it = "and a daemon runs" if test.daemon == "running" else "no daemon runs; the next session starts one"
        say(screen, f"Self-test: the hook client works ({test.milliseconds:.0f} ms), {with_it}.", "green")
    else:
        say(screen, f"Self-test: the hook client does not work: {test.why}", "red")
