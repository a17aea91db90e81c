"""Planning and doing an installation or its removal in one settings file: with a backup, atomically, undone to the byte.

Knows no agent. A plan changes nothing; afterwards the file is either as it was or as planned. The command that installed hooks
run is written down here only; it exits with 0 whatever happens, because some hosts refuse a call when a hook fails.
"""

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from preheat.agents import hooks_of, places_of
from preheat.agents.hooks import Client, Hooks, Setup
from preheat.daemon_client import CLIENT_FILES, Address, ensure_address, known_address, write_client
from preheat.errors import UserError
from preheat.files import follow_links, read_file, write_atomically
from preheat.installing.json_settings import add_hooks, hooked_events, parse_settings, remove_hooks
from preheat.installing.ledger import InstalledEntry, digest_of, find_entry, record_entry
from preheat.native_client import make_prefix, without_prefix

# The command that installed hooks run.
PYTHON_OPTIONS = ("-I", "-S", "-E")
"""Ignore the person's Python environment: the client starts faster, and nothing in there can break it."""


def make_client(agent: str, folder: str, at: Address | None = None) -> Client:
    """How an agent's hooks call us; `folder` holds Preheat's data, `at` is where the daemon takes posts."""
    script = os.path.join(os.path.abspath(folder), CLIENT_FILES[0])
    words = (sys.executable, *PYTHON_OPTIONS, script, agent)
    quoted = " ".join(f'"{word}"' if os.sep in word else word for word in words)
    python, called = shlex.quote(sys.executable), shlex.join(words)
    # With `exec` the host's time limit ends the client itself: some wait for a child of the shell that they have ended.
    command = f"test -x {python} && test -f {shlex.quote(script)} && exec {called}; true"
    native = make_prefix(folder, words)
    return Client(
        command=quoted if sys.platform == "win32" else native + command,
        safe_command=f"{native}{called} || true",
        powershell=f"& {quoted}; exit 0",
        arguments=words,
        address=f"{at.url}{agent}" if at else "",
        token=at.token if at else "",
    )


def find_missing_file(command: str) -> str:
    """The first file that an installed command needs and that does not exist; empty where all exist. The native client is not
    needed."""
    try:
        words = shlex.split(without_prefix(command))
    except ValueError:
        return command
    return next((word for word in words if os.sep in word and not os.path.exists(word)), "")


# Planning.
BACKUP_MARK = ".preheat-backup-"
_PREVIEW_ADDRESS = Address(0, "the-daemon's-token")
WRITTEN_MARK = "Written by `preheat install"
"""Text in every file that Preheat wrote as a whole."""


class FilePlan(NamedTuple):
    """What will be done to one file."""

    agent: str
    path: str
    action: Literal["create", "change", "delete", "restore", "nothing"]
    before: bytes | None
    after: bytes | None
    installs: bool = False
    """Our hooks are added; else they are removed."""
    events: tuple[str, ...] = ()
    posts: bool = False
    project: str = ""
    notes: tuple[str, ...] = ()
    clean: bool = True
    """The file held nothing of ours before: it may be restored later."""
    keys: Mapping[str, int] = {}
    """By list: how many of the keys that lead to it existed before."""


def require_hooks(agent: str) -> Hooks:
    """The agent's hooks. Raises UserError where it has none."""
    found = hooks_of(agent)
    if found is None:
        raise UserError(
            f"{places_of(agent).title} has no hooks that Preheat knows; `preheat status` lists those that have"
        )
    return found


def _file_setup(agent: str) -> Setup:
    setup = require_hooks(agent).setup
    if setup.ways is not None:
        raise ValueError(f"{agent} is set up in several steps: see `installing.steps`")
    return setup


def plan_install(
    agent: str,
    folder: str,
    environment: Mapping[str, str],
    project: str = "",
    http: bool | None = None,
    is_preview: bool = False,
) -> FilePlan:
    """Plan installing; `project` is a folder, or empty for all projects. `http`: True posts where the agent can, False never
    posts, None posts where nobody else could read the token. A preview is only shown: no address is reserved for it."""
    setup = _file_setup(agent)
    path = _settings_path(setup, environment, project)
    before = read_bytes(path)
    posts, notes = _decide_posts(setup.can_post, path, project, http)
    shown = (known_address(folder) or _PREVIEW_ADDRESS) if is_preview else None
    client = make_client(agent, folder, (shown or ensure_address(folder)) if posts else None)
    known = find_entry(folder, path)
    base = _text_without_ours(agent, path, before, known)
    entries = setup.entries(client) if setup.entries is not None else {}
    text = (
        setup.file_text(client) if setup.file_text is not None else add_hooks(base, path, entries, setup.extra_settings)
    )
    after = text.encode()
    action: Literal["create", "change", "nothing"] = "create" if before is None else "change"
    return FilePlan(
        agent,
        path,
        "nothing" if after == before else action,
        before,
        after,
        installs=True,
        events=tuple(entries),
        posts=posts,
        project=project,
        notes=notes,
        clean=setup.file_text is not None or before is None or base.encode() == before,
    )


def _settings_path(setup: Setup, environment: Mapping[str, str], project: str) -> str:
    """The settings file of a project, or of the person, without links. Raises UserError if a project's leads out of it."""
    try:
        return follow_links(setup.project_file(project) if project else setup.user_file(environment), project)
    except PermissionError as error:
        raise UserError(f"`{error.filename}` {error.strerror}") from None


def _decide_posts(can_post: bool, path: str, project: str, http: bool | None) -> tuple[bool, tuple[str, ...]]:
    if http and not can_post:
        return False, ("This agent cannot post to an address: it starts a command instead.",)
    if not can_post or http is False or (http is None and project):
        return False, ()
    if http is None and readable_by_others(path):
        note = f"Others on this machine can read {path}, so the daemon's token is not put there; `--http` does it all the same."
        return False, (note,)
    return True, ()


def readable_by_others(path: str) -> bool:
    """Whether another user could read a file, by it and by all folders above it."""
    try:
        if os.stat(path).st_mode & 0o044 == 0:
            return False
    except OSError:
        return False  # a new file will be readable by its owner only
    folder = os.path.dirname(path)
    while True:
        if os.stat(folder).st_mode & 0o011 == 0:
            return False
        above = os.path.dirname(folder)
        if above == folder:
            return True
        folder = above


def _text_without_ours(agent: str, path: str, before: bytes | None, known: InstalledEntry | None) -> str:
    """The file's text without our hooks: the backup if nobody changed the file since, else with our hooks removed."""
    if before is None:
        return ""
    if known is not None and digest_of(before) == known.after:
        was = read_bytes(known.backup) if known.existed and known.backup else None
        if was is not None or not known.existed:
            return decode_text(was, path)
    text = decode_text(before, path)
    if require_hooks(agent).setup.file_text is not None:
        if WRITTEN_MARK not in text:
            raise UserError(f"`{path}` is there already and not Preheat's; move it away first")
        return ""
    return remove_hooks(text, path, agent)


def decode_text(data: bytes | None, path: str) -> str:
    """A file's text. Raises UserError with the line where it is none."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as problem:
        line = (data or b"").count(b"\n", 0, problem.start) + 1
        raise UserError(f"`{path}`, line {line}: no UTF-8 text; repair it first, nothing was changed") from None


def plan_uninstall(agent: str, folder: str, environment: Mapping[str, str], project: str = "") -> FilePlan | None:
    """Plan uninstalling, from the person's file or the project's; None where nothing of ours is installed."""
    setup = _file_setup(agent)
    path = _settings_path(setup, environment, project)
    return _plan_removal(agent, folder, path, project)


def _plan_removal(agent: str, folder: str, path: str, project: str) -> FilePlan | None:
    before = read_bytes(path)
    known = find_entry(folder, path)
    if before is None:
        return None
    if known is not None and digest_of(before) == known.after and (not known.existed or known.backup):
        was = read_bytes(known.backup) if known.existed else None
        if was is not None or not known.existed:
            return FilePlan(agent, path, "restore" if known.existed else "delete", before, was, project=project)
    setup = require_hooks(agent).setup
    text = decode_text(before, path)
    if setup.file_text is not None:
        return FilePlan(agent, path, "delete", before, None, project=project) if WRITTEN_MARK in text else None
    events = hooked_events(parse_settings(text, path).value, agent)
    if not events:
        return None
    rest = remove_hooks(text, path, agent)
    if known is not None and not known.existed and parse_settings(rest, path).value in ({}, dict(setup.extra_settings)):
        return FilePlan(agent, path, "delete", before, None, events=events, project=project)
    return FilePlan(agent, path, "change", before, rest.encode(), events=events, project=project)


# Doing it.
def apply_file_plan(plan: FilePlan, folder: str, at: float) -> str:
    """Do what was planned and return the backup's path, if one was made. Raises OSError, and then nothing has changed."""
    if plan.installs:
        write_client(folder)
    if plan.action == "nothing":
        return ""
    if plan.installs and plan.after is not None:
        return _install(plan, plan.after, folder, at)
    _uninstall(plan, folder)
    return ""


def _install(plan: FilePlan, after: bytes, folder: str, at: float) -> str:
    known = find_entry(folder, plan.path)
    untouched = known is not None and plan.before is not None and digest_of(plan.before) == known.after
    existed, backup, made = plan.before is not None, "", known.made if known is not None else ()
    if untouched and known is not None:  # the earlier backup is still the file to restore
        existed, backup = known.existed, known.backup
    elif plan.before is not None:
        backup = _unused_path(plan.path + BACKUP_MARK + time.strftime("%Y%m%dT%H%M%S", time.localtime(at)))
        write_settings(backup, plan.before, plan.path)
    made = made or missing_folders(plan.path)
    write_settings(plan.path, after, plan.path)
    done = InstalledEntry(
        agent=plan.agent,
        path=plan.path,
        at=at,
        existed=existed,
        # A backup that holds our old hooks is for the person only: it is never restored.
        backup=backup if untouched or plan.clean else "",
        after=digest_of(after),
        project=plan.project,
        made=made,
        keys=dict(plan.keys),
    )
    record_entry(folder, plan.path, done)
    return backup


def _uninstall(plan: FilePlan, folder: str) -> None:
    known = find_entry(folder, plan.path)
    if plan.after is None:
        os.unlink(plan.path)
    else:
        write_settings(plan.path, plan.after, plan.path)
    if known is not None and known.backup and plan.action == "restore":
        _delete_backup(known.backup)
    if known is not None and plan.after is None:
        remove_empty(known.made)
    record_entry(folder, plan.path, None)


def _delete_backup(backup: str) -> None:
    if BACKUP_MARK in backup and os.path.exists(backup):
        os.unlink(backup)


def _unused_path(path: str) -> str:
    number, found = 1, path
    while os.path.exists(found):
        number += 1
        found = f"{path}-{number}"
    return found


def write_settings(path: str, data: bytes, like: str) -> None:
    """Write a file atomically, with the permissions of `like`; a new file is readable by its owner only."""
    write_atomically(path, data, like=like, durable=True, make_folders=True)


def missing_folders(path: str) -> tuple[str, ...]:
    """The folders above a path that are not there yet, the innermost first."""
    missing, folder = [], os.path.dirname(path)
    while not os.path.exists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return tuple(missing)


def remove_empty(folders: Sequence[str]) -> None:
    """Delete folders that were made for us, until one is not empty."""
    for folder in folders:
        try:
            os.rmdir(folder)
        except OSError:
            return


def read_bytes(path: str) -> bytes | None:
    """A file's bytes; None where there is none."""
    try:
        return read_file(path)
    except FileNotFoundError:
        return None
