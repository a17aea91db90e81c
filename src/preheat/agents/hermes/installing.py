"""Where the plugin goes so that Hermes loads it: as a package in its own Python, as a folder in its home, or as a shell hook.

Says what has to be where; `installing` puts it there. Knows nothing of what the plugin does.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from preheat import __version__
from preheat.agents.hermes.program import Program, found, home_of, looked_for, profiles_of
from preheat.agents.hooking import fields, ours, text
from preheat.agents.ways import Around, Folder, Item, Package, Several, Target, Way
from preheat.errors import UserError

NAME = "preheat"
TRIED = "0.19.0"
_GROUP = "hermes_agent.plugins"
_OLDEST, _REQUESTS, _STOPS = (0, 13), (0, 17), (0, 18)
"""The first that has the hooks at all, the first in which requests can be changed, and the first that tells of a stop in time."""
_ENABLED, _DISABLED = ("plugins", "enabled"), ("plugins", "disabled")
_CALL = "pre_llm_call"
_HOOKS = ("hooks", _CALL)
_MARK = "preheat.json"
_CONSENT = "shell-hooks-allowlist.json"
_SECONDS = 10


def settings(environment: Mapping[str, str]) -> str:
    """The settings of the home that Hermes uses now."""
    return os.path.join(home_of(environment), "config.yaml")


def target(environment: Mapping[str, str]) -> Target:
    """The Hermes that is set up. Raises UserError where there is none, or one that is too old."""
    program = found(environment)
    if program is None:
        raise UserError(
            f"Hermes Agent is not on this machine; looked for {', '.join(looked_for(environment))}. Install it, or put its "
            "`hermes` on the PATH"
        )
    if program.release and program.release < _OLDEST:
        raise UserError(
            f"Hermes Agent {program.version} (`{program.interpreter}`) is too old: plugins like ours are loaded from "
            f"{_dotted(_OLDEST)} on; update Hermes first"
        )
    return Target(
        f"Hermes Agent {program.version}",
        program.command,
        program.interpreter,
        program.version,
        program.home,
        os.path.join(program.home, "config.yaml"),
        _notes(program, environment),
    )


def _notes(program: Program, environment: Mapping[str, str]) -> tuple[str, ...]:
    notes = []
    if program.release and program.release < _REQUESTS:
        notes.append(
            f"Hermes {program.version} lets nobody add messages to a request (that came with {_dotted(_REQUESTS)}): a session "
            'starts warm by text only, `start_as = "messages"` does nothing. The rest works.'
        )
    if program.release and program.release < _STOPS:
        notes.append(
            f"Hermes {program.version} lets nobody send the agent back when it stops (that came with {_dotted(_STOPS)}): "
            "`hold_stop` does nothing."
        )
    tried = tuple(int(part) for part in TRIED.split("."))
    if program.release[:2] > tried[:2]:
        notes.append(
            f"Tried with Hermes up to {TRIED}; this one is newer. `preheat status` says whether Preheat is called."
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


def _dotted(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


# The ways.
def ways(around: Around) -> tuple[Way, ...]:
    """What each takes."""
    home = home_of(around.environment)
    config = os.path.join(home, "config.yaml")
    enabled = Item(config, _ENABLED, NAME, _is_name, (_DISABLED,))
    hook = {"command": shlex.join(around.hook), "timeout": _SECONDS}
    folder = Folder(os.path.join(home, "plugins", NAME), _files(around.folder), _MARK)
    loaded = ("Hermes loads plugins when it starts: sessions that are open now do not have it yet.",)
    package = (Package(around.interpreter, _GROUP, _swept(around.interpreter)),) if around.interpreter else ()
    same = around.environment.get("PREHEAT_HOME")
    told = (f"Start Hermes with the same PREHEAT_HOME (`{same}`): a package looks in the usual place.",) if same else ()
    return (
        Way("pip", (*package, enabled), "as a package in Hermes's own Python", (*loaded, *told)),
        Way("directory", (folder, enabled), "as a folder in Hermes's home; its Python is left alone", loaded),
        Way(
            "hook",
            (Item(config, _HOOKS, hook, _is_hook),),
            "as a shell hook: it gives a new session its start and nothing else, no watching, no commands, no tool",
            (
                "Hermes runs a shell hook only after you have agreed to it: it asks at the next start in a terminal; elsewhere "
                "`--accept-hooks`, HERMES_ACCEPT_HOOKS=1 or `hooks_auto_accept: true` agree. `hermes hooks list` shows it.",
            ),
        ),
    )


def _is_name(item: Any) -> bool:
    return bool(item == NAME)


def _is_hook(item: Any) -> bool:
    return ours(item) == "hermes"


def _files(folder: str) -> dict[str, bytes]:
    """The plugin as it stands here, and beside it how Preheat is started."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin")
    found = {}
    for name in sorted(os.listdir(source)):
        path = os.path.join(source, name)
        if os.path.isfile(path) and not name.endswith((".pyc", "~")):
            with open(path, "rb") as stream:
                found[name] = stream.read()
    start = {"interpreter": sys.executable, "home": os.path.abspath(folder), "version": __version__}
    return {**found, _MARK: json.dumps(start, indent=2).encode() + b"\n"}


def _swept(interpreter: str) -> str:
    """Why a package would not stay in that Python."""
    prefix = os.path.dirname(os.path.dirname(interpreter))
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")):
        return "`uv tool upgrade` takes out of Hermes's Python what it did not put there itself"
    return ""


# Whether Hermes runs what is there.
_YES = ("1", "true", "yes", "on")


def allowed(environment: Mapping[str, str], how: str, said: Mapping[str, Any]) -> str:
    """What keeps Hermes from it although it is in its settings."""
    if environment.get("HERMES_SAFE_MODE", "").strip().lower() in _YES:
        return "HERMES_SAFE_MODE is set: Hermes loads no plugins and runs no hooks"
    accepts = (environment.get("HERMES_ACCEPT_HOOKS", ""), str(said.get("hooks_auto_accept", "")))
    if how != "hook" or any(word.strip().lower() in _YES for word in accepts):
        return ""
    listed = fields(said.get("hooks")).get(_CALL)
    commands = (
        {text(fields(hook).get("command")) for hook in listed if _is_hook(hook)} if isinstance(listed, list) else set()
    )
    if commands and commands <= _agreed(home_of(environment)):
        return ""
    return "you have not agreed to it in Hermes yet: it asks at the next start in a terminal, or start it with `--accept-hooks`"


def _agreed(home: str) -> set[str]:
    """The commands that the person has agreed to."""
    try:
        with open(os.path.join(home, _CONSENT), encoding="utf-8") as stream:
            approvals = fields(json.load(stream)).get("approvals")
    except (OSError, ValueError, RecursionError):
        return set()
    listed = [fields(each) for each in approvals] if isinstance(approvals, list) else []
    return {text(each.get("command")) for each in listed if each.get("event") == _CALL}


SEVERAL = Several(
    ("pip", "directory", "hook"),
    target,
    settings,
    ways,
    allowed,
    ("`hermes --safe-mode` loads no plugins and runs no hooks: such sessions start cold and are not watched.",),
)
