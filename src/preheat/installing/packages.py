"""Preheat as a package in another program's Python: planning what that adds, adding it, and removing exactly that again.

Knows no agent. Packages that are already there stay at their versions; what cannot be installed beside them is not installed.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from preheat import __version__
from preheat.agents.hooks import PackageStep, fields
from preheat.agents.interpreters import Interpreter, clean_environment, inspect_interpreter
from preheat.files import read_text, write_atomically
from preheat.programs import find_program

PACKAGE_NAME = "preheat"
_SECONDS = 900.0
_OLDEST_PIP = (22, 2)
"""The first pip with `--dry-run --report`."""


class CannotInstall(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """Packages cannot be added or removed there; the message says why."""


class PackagePlan(NamedTuple):
    """What is to become of another Python."""

    interpreter: str
    action: Literal["add", "remove", "nothing"]
    packages: tuple[str, ...] = ()
    """Added or removed, as `name==version`."""
    kept: tuple[str, ...] = ()
    """Packages that we added and that stay: others need them now, or somebody changed them."""
    source: tuple[str, ...] = ()
    """Where Preheat itself comes from, in pip's words."""
    tool: tuple[str, ...] = ()
    version_before: str = ""
    """The version of Preheat that was there before."""


def normalise_name(name: str) -> str:
    """A package's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def held_versions(python: Interpreter) -> dict[str, str]:
    """Installed versions by normalised name."""
    return {normalise_name(name): version for name, version in python.packages.items()}


# Adding.
def plan_packages(package: PackageStep, environment: Mapping[str, str]) -> PackagePlan:
    """Plan adding Preheat to a Python; nothing where this version is already there. Raises CannotInstall."""
    python = inspect_interpreter(package.interpreter, environment, package.group)
    if python is None:
        raise CannotInstall(f"`{package.interpreter}` does not run")
    there = held_versions(python).get(PACKAGE_NAME, "")
    if python.points.get(PACKAGE_NAME) and there == __version__:
        return PackagePlan(package.interpreter, "nothing", version_before=there)
    if package.obstacle:
        raise CannotInstall(package.obstacle)
    if python.managed:
        raise CannotInstall(f"the Python at `{python.prefix}` is managed by the system")
    if not python.writable:
        raise CannotInstall(f"`{python.prefix}` cannot be written to")
    source, tool = find_origin(), _find_tool(package.interpreter, python, environment)
    if tool[0] == "uv":
        return PackagePlan(package.interpreter, "add", (), (), source, tool, there)
    report = _dry_run(tool, source, python, environment)
    packages = tuple(f"{normalise_name(name)}=={version}" for name, version in report)
    changed = [
        name
        for name, _ in report
        if normalise_name(name) in held_versions(python) and normalise_name(name) != PACKAGE_NAME
    ]
    if changed:
        raise CannotInstall(f"pip would change {', '.join(changed)}, which is there already")
    return PackagePlan(package.interpreter, "add", packages, (), source, tool, there)


def find_origin() -> tuple[str, ...]:
    """Where this Preheat came from, in pip's words: the same folder, file or commit, else the same version."""
    try:
        direct_url = json.loads(distribution(PACKAGE_NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        direct_url = {}
    url = str(direct_url.get("url") or "")
    path = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    if "vcs_info" in direct_url and url:
        commit = direct_url["vcs_info"].get("commit_id", "")
        return (f"{PACKAGE_NAME} @ {direct_url['vcs_info'].get('vcs', 'git')}+{url}@{commit}",)
    if path and os.path.exists(path):
        return ("--editable", path) if fields(direct_url.get("dir_info")).get("editable") else (path,)
    if url and not path:
        return (f"{PACKAGE_NAME} @ {url}",)
    return (f"{PACKAGE_NAME}=={__version__}",)


def _find_tool(interpreter: str, python: Interpreter, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The pip of that Python, else ours working on it, else uv. Raises CannotInstall."""
    ours = inspect_interpreter(sys.executable, environment)
    for words, has in (
        ((interpreter, "-m", "pip"), python),
        ((sys.executable, "-m", "pip", "--python", interpreter), ours),
    ):
        version = held_versions(has).get("pip", "") if has is not None and has.pip else ""
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if numbers >= (_OLDEST_PIP if words[-1] == "pip" else (22, 3)):
            return words
    uv = find_program("uv", environment)
    if uv:
        return ("uv", uv)
    raise CannotInstall("neither pip nor uv is there to install with")


def _dry_run(
    tool: Sequence[str], source: Sequence[str], python: Interpreter, environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Name and version of everything that pip would install."""
    with tempfile.TemporaryDirectory(prefix="preheat-") as scratch:
        report = os.path.join(scratch, "report.json")
        _run([*tool, *_install_arguments(scratch, source, python), "--dry-run", "--report", report], environment)
        try:
            found = json.loads(read_text(report))["install"]
            return [(each["metadata"]["name"], each["metadata"]["version"]) for each in found]
        except (OSError, ValueError, KeyError, TypeError):
            raise CannotInstall("pip did not say what it would install") from None


def _install_arguments(scratch: str, source: Sequence[str], python: Interpreter) -> list[str]:
    """The arguments of `pip install` with every package that is already there constrained to its version."""
    constraints = os.path.join(scratch, "constraints.txt")
    lines = [
        f"{name}=={version}\n"
        for name, version in sorted(held_versions(python).items())
        if name != PACKAGE_NAME and re.fullmatch(r"[a-z0-9-]+", name) and re.fullmatch(r"[\w.!+-]+", version)
    ]
    write_atomically(constraints, "".join(lines).encode())
    return [
        "install", "--no-user", "--no-input", "--disable-pip-version-check", "--no-warn-script-location", "--prefer-binary",
        "--quiet", "--retries", "1", "--constraint", constraints, *source,
    ]  # fmt: skip


def add_packages(plan: PackagePlan, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Add the packages and return exactly what was added; after a failure everything added is removed. Raises CannotInstall."""
    before = inspect_interpreter(plan.interpreter, environment)
    if before is None:
        raise CannotInstall(f"`{plan.interpreter}` does not run")
    with tempfile.TemporaryDirectory(prefix="preheat-") as scratch:
        try:
            if plan.tool[0] == "uv":
                words = _install_arguments(scratch, plan.source, before)
                constraints = words[words.index("--constraint") + 1]
                _run([plan.tool[1], "pip", "install", "--quiet", "--python", plan.interpreter, "--constraint", constraints, *plan.source], environment)  # fmt: skip # noqa: E501
            else:
                _run([*plan.tool, *_install_arguments(scratch, plan.source, before)], environment)
        except CannotInstall:
            _remove(plan, sorted(set(_current_versions(plan, environment)) - set(held_versions(before))), environment)
            raise
    after = _current_versions(plan, environment)
    changed = [
        name for name, version in held_versions(before).items() if after.get(name) != version and name != PACKAGE_NAME
    ]
    added = sorted(name for name in after if name not in held_versions(before))
    if changed:  # the constraints forbid this; if it happens all the same, what was added is removed
        _remove(plan, added, environment)
        raise CannotInstall(f"{', '.join(changed)} would not stay as it is")
    return tuple(f"{name}=={after[name]}" for name in added)


def _current_versions(plan: PackagePlan, environment: Mapping[str, str]) -> dict[str, str]:
    found = inspect_interpreter(plan.interpreter, environment)
    return held_versions(found) if found is not None else {}


# Removing.
def plan_package_removal(interpreter: str, added: Sequence[str], environment: Mapping[str, str]) -> PackagePlan | None:
    """Plan removing what was added earlier, except packages that others need by now or have changed. None where nothing of it
    is left."""
    python = inspect_interpreter(interpreter, environment)
    if python is None:
        return None
    there, names = held_versions(python), dict(each.split("==", 1) for each in added)
    same = {
        name
        for name, version in names.items()
        if there.get(name) == version or (name == PACKAGE_NAME and name in there)
    }
    while needed := {name for name in same if name != PACKAGE_NAME and _is_needed(name, python, same)}:
        same -= needed
    if not same:
        return None
    kept = tuple(f"{name}=={there[name]}" for name in names if name in there and name not in same)
    gone = tuple(f"{name}=={there[name]}" for name in sorted(same))
    try:
        tool = _find_tool(interpreter, python, environment)
    except CannotInstall:
        tool = ()
    return PackagePlan(interpreter, "remove", gone, kept, (), tool, there.get(PACKAGE_NAME, ""))


def _is_needed(name: str, python: Interpreter, ours: set[str]) -> bool:
    """Whether a package that stays requires this one, other than as an optional extra."""
    for each, needs in python.needs.items():
        if normalise_name(each) in ours:
            continue
        for need in needs:
            found = re.match(r"\s*([\w.-]+)", need)
            if found and normalise_name(found[1]) == name and "extra ==" not in need:
                return True
    return False


def remove_packages(plan: PackagePlan, environment: Mapping[str, str]) -> None:
    """Remove the planned packages. Raises CannotInstall."""
    if not plan.tool:
        raise CannotInstall(
            f"neither pip nor uv is there to take {', '.join(plan.packages)} out of `{plan.interpreter}`"
        )
    _remove(plan, [each.split("==")[0] for each in plan.packages], environment)


_LIST_FOLDERS = """
import sys
from importlib.metadata import PackageNotFoundError, distribution
for name in sys.argv[1:]:
    try:
        found = distribution(name)
    except PackageNotFoundError:
        continue
    folders = {file.parts[0] for file in found.files or () if len(file.parts) > 1}
    print(*(found.locate_file(folder) for folder in folders - {".."}), sep="\\n")
"""


def _remove(plan: PackagePlan, names: Sequence[str], environment: Mapping[str, str]) -> None:
    if not names:
        return
    folders = _run([plan.interpreter, "-I", "-c", _LIST_FOLDERS, *names], environment).splitlines()
    _run_removal(plan, names, environment)
    for folder in filter(os.path.isabs, folders):  # pip leaves a folder that has only folders
        for path, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):  # something is in it
                os.rmdir(path)


def _run_removal(plan: PackagePlan, names: Sequence[str], environment: Mapping[str, str]) -> None:
    if plan.tool[0] == "uv":
        _run([plan.tool[1], "pip", "uninstall", "--quiet", "--python", plan.interpreter, *names], environment)
    else:
        _run([*plan.tool, "uninstall", "--yes", "--quiet", "--disable-pip-version-check", *names], environment)


def _run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """What a command prints. Raises CannotInstall with the reason that it printed."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            env=clean_environment(environment),
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotInstall(str(error)) from None
    if done.returncode != 0:
        raise CannotInstall(_reason(done.stderr.decode("utf-8", "replace") or done.stdout.decode("utf-8", "replace")))
    return done.stdout.decode("utf-8", "replace")


def _reason(output: str) -> str:
    """The line of a tool's errors that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(?i)(error|fatal|×|OSError)", line) and len(line) > 12]
    line = errors[-1] if errors else lines[0] if lines else "it failed and said nothing"
    return re.sub(r"(?i)\A(error|fatal):\s*", "", line)[:300]
