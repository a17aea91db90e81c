"""Where the plugin is put so that Hermes loads it: as a package in its own Python, as a folder in its home, or as a shell hook.

Only describes the files and settings; `preheat.installing` writes them. Knows nothing of what the plugin does.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from preheat import __version__, ownership
from preheat.agents.hermes.program import Program, find_hermes, home_of, profiles_of, search_places
from preheat.agents.hooks import (
    FolderStep,
    InstallContext,
    InstallTarget,
    InstallWay,
    InstallWays,
    ListEntry,
    PackageStep,
    agent_of_hook,
    fields,
    text,
)
from preheat.errors import UserError
from preheat.files import read_file, read_text

NAME = "preheat"
TESTED_VERSION = "0.19.0"
_GROUP = "hermes_agent.plugins"
_OLDEST_RELEASE, _REQUESTS_SINCE, _STOPS_SINCE = (0, 13), (0, 17), (0, 18)
"""The first releases that have hooks at all, that let plugins change requests, and that report a stop before it happens."""
_ENABLED, _DISABLED = ("plugins", "enabled"), ("plugins", "disabled")
_HOOK_EVENT = "pre_llm_call"
_HOOKS = ("hooks", _HOOK_EVENT)
_MARK = "preheat.json"
_FORMER_FILES = ("inserting.py", "program.py", "watching.py", "wire.py")
"""The plugin's files in 0.1.0 that it no longer has."""
_CONSENT = "shell-hooks-allowlist.json"
_SECONDS = 10


def settings_file(environment: Mapping[str, str]) -> str:
    """The settings file of the home that Hermes uses now."""
    return os.path.join(home_of(environment), "config.yaml")


def find_target(environment: Mapping[str, str]) -> InstallTarget:
    """The Hermes to set up. Raises UserError if there is none, or only one that is too old."""
    program = find_hermes(environment)
    if program is None:
        raise UserError(
            f"Hermes Agent is not on this machine; looked for {', '.join(search_places(environment))}. Install it, or put its "
            "`hermes` on the PATH"
        )
    if program.release and program.release < _OLDEST_RELEASE:
        raise UserError(
            f"Hermes Agent {program.version} (`{program.interpreter}`) is too old: plugins like ours are loaded from "
            f"{_format_release(_OLDEST_RELEASE)} on; update Hermes first"
        )
    return InstallTarget(
        f"Hermes Agent {program.version}",
        program.command,
        program.interpreter,
        program.version,
        program.home,
        os.path.join(program.home, "config.yaml"),
        _version_notes(program, environment),
    )


def _version_notes(program: Program, environment: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    if program.release and program.release < _REQUESTS_SINCE:
        notes.append(
            f"Hermes {program.version} lets nobody add messages to a request (that came with "
            f"{_format_release(_REQUESTS_SINCE)}): a session "
            'starts warm by text only, `start_as = "messages"` does nothing. The rest works.'
        )
    if program.release and program.release < _STOPS_SINCE:
        notes.append(
            f"Hermes {program.version} lets nobody send the agent back when it stops (that came with "
            f"{_format_release(_STOPS_SINCE)}): `hold_stop` does nothing."
        )
    tested = tuple(int(part) for part in TESTED_VERSION.split("."))
    if program.release[:2] > tested[:2]:
        notes.append(
            f"Tried with Hermes up to {TESTED_VERSION}; this one is newer. `preheat status` says whether Preheat is called."
        )
    others = [home for home in profiles_of(environment) if os.path.realpath(home) != os.path.realpath(program.home)]
    others = [home for home in others if os.path.exists(os.path.join(home, "config.yaml"))]
    if others:
        names = ", ".join(f"`{home}`" for home in others)
        notes.append(
            f"This is for `{program.home}`. Other homes of this Hermes have settings of their own ({names}): for one of them "
            "run this with HERMES_HOME set to it."
        )
    return tuple(notes)


def _format_release(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


# The ways to install.
def list_ways(context: InstallContext) -> tuple[InstallWay, ...]:
    """The steps of each way."""
    home = home_of(context.environment)
    config = os.path.join(home, "config.yaml")
    enabled = ListEntry(config, _ENABLED, NAME, _is_own_name, (_DISABLED,))
    hook = {"command": shlex.join(context.hook), "timeout": _SECONDS}
    folder = FolderStep(os.path.join(home, "plugins", NAME), plugin_files(context.folder), _MARK, _FORMER_FILES)
    loads_at_start = ("Hermes loads plugins when it starts: sessions that are open now do not have it yet.",)
    package = (
        (PackageStep(context.interpreter, _GROUP, _why_not_kept(context.interpreter)),) if context.interpreter else ()
    )
    preheat_home = context.environment.get("PREHEAT_HOME")
    same_home = (
        (f"Start Hermes with the same PREHEAT_HOME (`{preheat_home}`): a package looks in the usual place.",)
        if preheat_home
        else ()
    )
    return (
        InstallWay("pip", (*package, enabled), "as a package in Hermes's own Python", (*loads_at_start, *same_home)),
        InstallWay(
            "directory", (folder, enabled), "as a folder in Hermes's home; its Python is left alone", loads_at_start
        ),
        InstallWay(
            "hook",
            (ListEntry(config, _HOOKS, hook, _is_own_hook),),
            "as a shell hook: it gives a new session its start and nothing else, no watching, no commands, no tool",
            (
                "Hermes runs a shell hook only after you have agreed to it: it asks at the next start in a terminal; elsewhere "
                "`--accept-hooks`, HERMES_ACCEPT_HOOKS=1 or `hooks_auto_accept: true` agree. `hermes hooks list` shows it.",
            ),
        ),
    )


def _is_own_name(item: Any) -> bool:
    return bool(item == NAME)


def _is_own_hook(item: Any) -> bool:
    return agent_of_hook(item) == "hermes"


def plugin_files(folder: str) -> dict[str, bytes]:
    """The plugin's files, and a file that says how Preheat is started."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin")
    found = {}
    for name in sorted(os.listdir(source)):
        path = os.path.join(source, name)
        if os.path.isfile(path) and not name.endswith((".pyc", "~")):
            found[name] = read_file(path)
    found[os.path.basename(ownership.__file__)] = read_file(ownership.__file__)
    start = {"interpreter": sys.executable, "home": os.path.abspath(folder), "version": __version__}
    return {**found, _MARK: json.dumps(start, indent=2).encode() + b"\n"}


def _why_not_kept(interpreter: str) -> str:
    """Why a package would not stay in that Python; empty if it would."""
    prefix = os.path.dirname(os.path.dirname(interpreter))
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")):
        return "`uv tool upgrade` takes out of Hermes's Python what it did not put there itself"
    return ""


# Whether Hermes runs what is installed.
_YES = ("1", "true", "yes", "on")


def explain_refusal(environment: Mapping[str, str], how: str, settings_content: Mapping[str, Any]) -> str:
    """Why Hermes does not run what its settings name; empty if it does."""
    if environment.get("HERMES_SAFE_MODE", "").strip().lower() in _YES:
        return "HERMES_SAFE_MODE is set: Hermes loads no plugins and runs no hooks"
    accepts = (environment.get("HERMES_ACCEPT_HOOKS", ""), str(settings_content.get("hooks_auto_accept", "")))
    if how != "hook" or any(word.strip().lower() in _YES for word in accepts):
        return ""
    listed = fields(settings_content.get("hooks")).get(_HOOK_EVENT)
    commands = (
        {text(fields(hook).get("command")) for hook in listed if _is_own_hook(hook)}
        if isinstance(listed, list)
        else set()
    )
    if commands and commands <= _approved_commands(home_of(environment)):
        return ""
    return "you have not agreed to it in Hermes yet: it asks at the next start in a terminal, or start it with `--accept-hooks`"


def _approved_commands(home: str) -> set[str]:
    """The shell hook commands that the person has approved."""
    try:
        approvals = fields(json.loads(read_text(os.path.join(home, _CONSENT)))).get("approvals")
    except (OSError, ValueError, RecursionError):
        return set()
    listed = [fields(each) for each in approvals] if isinstance(approvals, list) else []
    return {text(each.get("command")) for each in listed if each.get("event") == _HOOK_EVENT}


INSTALL_WAYS = InstallWays(
    ("pip", "directory", "hook"),
    find_target,
    settings_file,
    list_ways,
    explain_refusal,
    ("`hermes --safe-mode` loads no plugins and runs no hooks: such sessions start cold and are not watched.",),
)
