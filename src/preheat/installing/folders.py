"""A folder of ours in another program's home: planning to write or remove it, and doing so.

Knows no agent. Folders of others are left alone, and so are files that others put into ours or changed there.
"""

import os
import shutil
from collections.abc import Mapping
from typing import Literal, NamedTuple

from preheat.agents.ways import FolderStep
from preheat.errors import UserError
from preheat.installing.ledger import InstalledEntry, digest_of, find_entry, record_entry
from preheat.installing.plans import missing_folders, read_bytes, remove_empty, write_settings

_COMPILED = "__pycache__"


class FolderPlan(NamedTuple):
    """What will be done to one folder."""

    agent: str
    path: str
    action: Literal["create", "change", "delete", "nothing"]
    files: Mapping[str, bytes] = {}
    """Files to write."""
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
    changed = {
        name: inner for name, inner in folder.files.items() if read_bytes(os.path.join(folder.path, name)) != inner
    }
    known = find_entry(data, folder.path)
    old = tuple(name for name in (known.files if known else ()) if name not in folder.files)
    gone = tuple(name for name in old if os.path.isfile(os.path.join(folder.path, name)))
    if not there:
        return FolderPlan(agent, folder.path, "create", changed)
    return FolderPlan(agent, folder.path, "change" if changed or gone else "nothing", changed, gone)


def write_folder(plan: FolderPlan, data: str, at: float) -> None:
    """Write the planned folder. Raises OSError."""
    known = find_entry(data, plan.path)
    made = known.made if known is not None else (*(() if os.path.isdir(plan.path) else (plan.path,)), *missing_folders(plan.path))  # fmt: skip # noqa: E501
    os.makedirs(plan.path, exist_ok=True)
    for name, inner in plan.files.items():
        path = os.path.join(plan.path, name)
        write_settings(path, inner, path)
    for name in plan.removed:
        os.unlink(os.path.join(plan.path, name))
    files = {name: each for name, each in (known.files if known else {}).items() if name not in plan.removed}
    files |= {name: digest_of(inner) for name, inner in plan.files.items()}
    done = InstalledEntry(
        agent=plan.agent, path=plan.path, at=at, existed=False, after="", kind="folder", made=made, files=files
    )  # fmt: skip
    record_entry(data, plan.path, done)


def plan_folder_removal(agent: str, folder: FolderStep, data: str) -> FolderPlan | None:
    """Plan removing the folder; None where it does not exist or is not ours."""
    if os.path.islink(folder.path) or not is_our_folder(folder):
        return None
    known = find_entry(data, folder.path)
    digests = known.files if known is not None else dict.fromkeys(folder.files, "")
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
