"""Which program runs the scripts of a package, and how one package of a workspace is addressed. Pure."""

import re
from posixpath import dirname
from typing import NamedTuple

from preheat.facts.values import ProjectTree, in_folder, parents
from preheat.manifests.scripts import Script, command_of, read_json, read_scripts
from preheat.manifests.workflows import is_workflow

_LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "yarn.lock": "yarn",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_NAME = re.compile(r"(?:@[\w.-]+/)?[\w.-]{1,60}")
_LOCK = re.compile(r"[\w.-]+-lock\.(?:ya?ml|json)")
_FOLDER = re.compile(r"[\w./@-]*")
MOST_PACKAGES = 60
_OTHERS = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|test|tests|fixtures?|examples?|testdata|\.\w[^/]*|template\w*)/"
)


class Package(NamedTuple):
    """A package of scripts."""

    folder: str
    name: str
    scripts: tuple[Script, ...]
    runner: str
    """The program that runs its scripts; empty where the files contradict each other."""
    is_member: bool
    """It belongs to a workspace whose runner addresses it by name."""

    def command(self, script: Script) -> str:
        """What is typed in the project's own folder to run one of its scripts."""
        plain = command_of(script, self.runner)
        if not plain:
            return ""
        if self.is_member and self.name and script.name not in ("install", "prepare"):
            return address_package(self.runner, self.name, script.name)
        return in_folder(self.folder, plain)


def address_package(runner: str, package: str, script: str) -> str:
    """How a script of one package of a workspace is run from its root."""
    return {
        "pnpm": f"pnpm --filter {package} {script}",
        "bun": f"bun run --filter {package} {script}",
        "yarn": f"yarn workspace {package} {script}",
    }.get(runner, f"npm run {script} -w {package}")


_STARTERS = {"pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx", "npm": "npx"}


def start_program(runner: str, command: str) -> str:
    """How a program that a package brings is started; empty where the runner is not known."""
    return f"{_STARTERS[runner]} {command}" if runner in _STARTERS else ""


def start_in_package(runner: str, package: str, command: str) -> str:
    """How a program is started in one package of a workspace from its root; empty where the runner has no way for it."""
    return {
        "pnpm": f"pnpm --filter {package} exec {command}",
        "yarn": f"yarn workspace {package} exec {command}",
        "npm": f"npm exec -w {package} -- {command}",
    }.get(runner, "")


def find_packages(tree: ProjectTree) -> list[Package]:
    """The packages of scripts in a tree, the project's own first."""
    found = []
    manifests = sorted(path for path in tree.texts if path.rpartition("/")[2] == "package.json")
    root_document = read_json(tree.texts.get("package.json", "")) or {}
    has_workspace = "pnpm-workspace.yaml" in tree.paths or (
        isinstance(root_document, dict) and bool(root_document.get("workspaces"))
    )
    root_bodies = " ".join(script.body for script in read_scripts("package.json", tree.texts.get("package.json", "")))
    for path in manifests:
        if _OTHERS.search(path) and path.count("/") > 0:
            continue
        folder = dirname(path)
        if not _FOLDER.fullmatch(folder):
            continue
        document = read_json(tree.texts[path])
        name = document.get("name") if isinstance(document, dict) else ""
        name = name if isinstance(name, str) and _NAME.fullmatch(name) else ""
        has_own_lock = bool(tree.names_in(folder) & _LOCKS.keys())
        is_member = bool(folder) and has_workspace and (not has_own_lock or _is_addressed(name, root_bodies))
        runner = find_runner(tree, "" if is_member and has_own_lock else folder)
        found.append(Package(folder, name, read_scripts(path, tree.texts[path]), runner, is_member))
    found.sort(key=lambda package: (package.folder.count("/") if package.folder else -1, package.folder))
    return found[:MOST_PACKAGES]


def _is_addressed(name: str, bodies: str) -> bool:
    """Whether scripts of the root address a package by its name: it belongs to the workspace, whatever lock file lies in it."""
    return bool(name) and re.search(rf"(?:--filter|workspace|-w)[ =]{re.escape(name)}(?=\s|$)", bodies) is not None


def find_locks(tree: ProjectTree, folder: str) -> list[str]:
    """The lock files of package managers in a folder."""
    prefix = f"{folder}/" if folder else ""
    return [lock for lock in _LOCKS if f"{prefix}{lock}" in tree.paths]


def find_runner(tree: ProjectTree, folder: str) -> str:
    """The program that runs the scripts of a package in a folder, by the nearest lock file or what a package says; of several
    the one that the forge and the scripts themselves run. Empty where they contradict each other."""
    for place in [folder, *parents(f"{folder}/x")] if folder else [""]:
        prefix = f"{place}/" if place else ""
        document = read_json(tree.texts.get(f"{prefix}package.json", ""))
        stated = document.get("packageManager") if isinstance(document, dict) else None
        if isinstance(stated, str) and (name := stated.partition("@")[0]) in ("npm", "pnpm", "yarn", "bun"):
            return name
        runners = {runner for lock, runner in _LOCKS.items() if f"{prefix}{lock}" in tree.paths}
        if runners:
            return runners.pop() if len(runners) == 1 else _find_only_used(tree, runners)
        if any(_LOCK.fullmatch(name) for name in tree.names_in(place)):
            return ""  # the lock file of a program that we do not know
    return "npm"


_RUN = re.compile(
    r"(?<![\w./-])(?P<runner>npm|pnpm|yarn|bun) (?:(?:--prefix|--cwd|-C) \S+ )?"
    r"(?:ci|run|exec|test|build|lint|start|dev|install)\b(?! (?:-g|--global)\b)"
)
"""How a workflow or a script uses a package manager; a program for the whole machine is installed by any of them."""


def _find_only_used(tree: ProjectTree, runners: set[str]) -> str:
    """Of several package managers the only one that workflows and scripts run; empty where they run several, or none."""
    texts = (
        text for path, text in tree.texts.items() if is_workflow(path) or path.rpartition("/")[2] == "package.json"
    )
    used = {found["runner"] for text in texts for found in _RUN.finditer(text)} & runners
    return used.pop() if len(used) == 1 else ""
