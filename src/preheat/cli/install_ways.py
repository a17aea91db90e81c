"""What `preheat install` and `preheat uninstall` say for agents that are set up in several steps, and what a plan changes.

Knows no agent's settings.
"""

from difflib import unified_diff
from typing import Any

from preheat.app.machine.installation import FilePlan, FolderPlan, InstallPlan, InstallResult, PackagePlan, StepPlan
from preheat.cli.screen import hint, print_json
from preheat.cli.text import count, short_path

_MOST = 6


def show_installed(work: InstallPlan, done: InstallResult, as_json: bool, trial: bool = False) -> None:
    """Print what was done, or for a dry run what would be."""
    if as_json:
        print_json(_steps_json(work, done, trial))
        return
    title = work.target.title if work.target else work.agent
    way = work.way
    if work.is_empty:
        print(
            f"{title} has it already, {way.description if way else ''}: nothing {'would change' if trial else 'was changed'}."
        )
    else:
        verb = "would be installed" if trial else "is installed"
        print(f"{title}: Preheat {verb} {way.description if way else ''}.")
    if work.why:
        print(f"  not as a package: {work.why}")
    for step in work.steps:
        for line in _lines(step, done, trial):
            print(f"  {line}")
    if done.backup:
        print(f"  backup: {short_path(done.backup)}")
    _show_kept(done)
    for note in (*(way.next_steps if way and not work.is_empty else ()), *work.notes):
        print(note)
    if trial:
        _show_differences(work)
    else:
        hint(f"`preheat uninstall {work.agent}` removes it; `preheat status` says whether it works.")


def show_removed(work: InstallPlan, done: InstallResult, as_json: bool, trial: bool) -> None:
    """Print what was removed, or for a dry run what would be."""
    if as_json:
        print_json(_steps_json(work, done, trial))
        return
    for step in work.steps:
        for line in _lines(step, done, trial):
            print(line)
    _show_kept(done)
    if trial:
        _show_differences(work)


def _show_kept(done: InstallResult) -> None:
    if done.kept:
        print(
            f"  kept, because they were changed or something else needs them: {', '.join(map(short_path, done.kept))}"
        )


def _lines(step: StepPlan, done: InstallResult, trial: bool) -> list[str]:
    if step.action == "nothing":
        return []
    if isinstance(step, PackagePlan):
        return [_package_line(step, done, trial)]
    path = short_path(step.path)
    would = "would be " if trial else ""
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


def _package_line(step: PackagePlan, done: InstallResult, trial: bool) -> str:
    adds = step.action == "add"
    packages = step.packages if trial or not adds else done.added
    names = [each.split("==")[0] for each in packages]
    listed = ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
    would = "would be " if trial else ""
    what = (
        f"{count(len(names), 'package')} {would}{'added' if adds else 'removed'} ({listed})"
        if names
        else "Preheat itself"
    )
    if adds and not names:
        what = f"Preheat {would}updated to this version" if step.version_before else f"packages {would}added"
    return f"{short_path(step.interpreter)}: {what}" + (", no other package changed" if adds else "")


def _show_differences(work: InstallPlan) -> None:
    for step in work.steps:
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


def _steps_json(work: InstallPlan, done: InstallResult, trial: bool) -> dict[str, Any]:
    settings = next((step for step in work.steps if isinstance(step, FilePlan)), None)
    return {
        "agent": work.agent,
        "how": work.way.name if work.way else "",
        "why": work.why,
        "program": work.target._asdict() if work.target else None,
        "path": settings.path if settings else "",
        "action": "nothing" if work.is_empty else settings.action if settings else "change",
        "events": list(settings.events) if settings else [],
        "steps": [_step_json(step) for step in work.steps],
        "added": list(done.added),
        "removed": list(done.removed),
        "kept": list(done.kept),
        "backup": done.backup,
        "notes": [*(work.way.next_steps if work.way else ()), *work.notes],
        **(
            {"difference": "\n".join(make_patch(step) for step in work.steps if isinstance(step, FilePlan))}
            if trial
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
