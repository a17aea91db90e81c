"""Another Python than the one that runs us: asked what it holds, without anything being written beside its modules.

Knows no agent and installs nothing.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

_SECONDS = 30.0
_OWN = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""What is meant for another Python than that one."""
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


class Python(NamedTuple):
    """What an interpreter holds."""

    prefix: str
    version: str
    packages: dict[str, str]
    """Versions by names."""
    needs: dict[str, list[str]]
    """What each of them says that it needs."""
    points: dict[str, str]
    """The entry points of the group that was asked for."""
    pip: bool
    managed: bool
    """The system's own: nothing may be put there except by the system's tools."""
    writable: bool


def look(interpreter: str, environment: Mapping[str, str], group: str = "") -> Python | None:
    """What an interpreter holds; None where it does not run."""
    printed = ask(interpreter, _LOOK % group, environment).partition("preheat:")[2]
    try:
        return Python(**json.loads(printed))
    except (ValueError, TypeError):
        return None


def ask(interpreter: str, code: str, environment: Mapping[str, str], seconds: float = _SECONDS) -> str:
    """What a few lines print when an interpreter runs them; empty where that fails."""
    try:
        completed = subprocess.run(
            [interpreter, "-B", "-c", code],
            capture_output=True,
            env=clean(environment),
            cwd=os.path.dirname(interpreter),
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout.decode("utf-8", "replace") if completed.returncode == 0 else ""


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for another Python: no modules from here, none of the folder that it is started in, no byte code."""
    kept = {name: value for name, value in environment.items() if name not in _OWN}
    return {**kept, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
