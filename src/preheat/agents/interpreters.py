"""Other Python interpreters than the one that runs Preheat: what each holds, asked without writing anything beside its modules.

Knows no agent and installs nothing.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

_SECONDS = 30.0
_OWN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that are meant for the current Python only."""
_LOOK = """
import importlib.metadata as metadata, importlib.util as util, json, os, sys, sysconfig
group = %r
packages, needs = {}, {}
for each in metadata.distributions():
    name = each.metadata["Name"]
    if name and name not in packages:
        packages[name] = each.version
        needs[name] = list(each.requires or [])
points = metadata.entry_points()
named = points.select(group=group) if hasattr(points, "select") else points.get(group, [])
print("preheat:" + json.dumps({
    "prefix": sys.prefix,
    "version": "%%d.%%d" %% sys.version_info[:2],
    "packages": packages,
    "needs": needs,
    "points": {each.name: each.value for each in named},
    "pip": util.find_spec("pip") is not None,
    "managed": sys.prefix == sys.base_prefix
    and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")),
    "writable": os.access(sysconfig.get_path("purelib"), os.W_OK),
}))
"""


class Interpreter(NamedTuple):
    """An interpreter: its version, packages and entry points."""

    prefix: str
    version: str
    packages: dict[str, str]
    """Versions by names."""
    needs: dict[str, list[str]]
    """Requirements by package."""
    points: dict[str, str]
    """The entry points of the group that was asked for."""
    pip: bool
    managed: bool
    """Whether the system manages it, so that only the system's tools may install packages."""
    writable: bool


def inspect_interpreter(interpreter: str, environment: Mapping[str, str], group: str = "") -> Interpreter | None:
    """Ask an interpreter for its packages and entry points; None if it does not run."""
    printed = run_code(interpreter, _LOOK % group, environment).partition("preheat:")[2]
    try:
        return Interpreter(**json.loads(printed))
    except (ValueError, TypeError):
        return None


def run_code(interpreter: str, code: str, environment: Mapping[str, str], seconds: float = _SECONDS) -> str:
    """Run code in an interpreter and return what it prints; empty if that fails."""
    try:
        completed = subprocess.run(
            [interpreter, "-B", "-c", code],
            capture_output=True,
            env=clean_environment(environment),
            cwd=os.path.dirname(interpreter),
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout.decode("utf-8", "replace") if completed.returncode == 0 else ""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for another Python: none of this one's modules, none of the current folder, no byte code written."""
    kept = {name: value for name, value in environment.items() if name not in _OWN}
    return {**kept, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
