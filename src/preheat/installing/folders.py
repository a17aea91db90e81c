"""A folder that is all ours in another program's home: what putting it there or taking it away would do, and doing it.

Knows no agent. A folder that is not ours is left alone, and so is what somebody else put into ours or changed there.
"""

import os
import shutil
from collections.abc import Mapping
from typing import Literal, NamedTuple

from preheat.agents.ways import Folder
from preheat.errors import UserError
from preheat.installing.ledger import Installed, digest, entry, note
from preheat.installing.plans import contents, missing_folders, remove_empty, write

_COMPILED = "__pycache__"


class FolderPlan(NamedTuple):
    """What is to become of one folder."""

    agent: str
    path: str
    action: Literal["create", "change", "delete", "nothing"]
    files: Mapping[str, bytes] = {}
    """What is written."""
    gone: tuple[str, ...] = ()
    """What is taken away."""
    kept: tuple[str, ...] = ()
    """What stays although the folder was ours: it is somebody else's, or somebody changed it."""


def ours(folder: Folder) -> bool:
    """Whether the folder is there and we put it there."""
    return os.path.isdir(folder.path) and os.path.isfile(os.path.join(folder.path, folder.mark))


def current(folder: Folder) -> bool:
    """Whether it holds what would be put there now."""
    return all(contents(os.path.join(folder.path, name)) == data for name, data in folder.files.items())


def placing(agent: str, folder: Folder, data: str) -> FolderPlan:
    """What putting it there would do. Raises UserError where something else is there."""
    there = os.path.lexists(folder.path)
    if there and (os.path.islink(folder.path) or not ours(folder)):
        raise UserError(f"`{folder.path}` is there already and not Preheat's; move it away first, nothing was changed")
    changed = {
        name: inner for name, inner in folder.files.items() if contents(os.path.join(folder.path, name)) != inner
    }
    known = entry(data, folder.path)
    old = tuple(name for name in (known.files if known else ()) if name not in folder.files)
    gone = tuple(name for name in old if os.path.isfile(os.path.join(folder.path, name)))
    if not there:
        return FolderPlan(agent, folder.path, "create", changed)
    return FolderPlan(agent, folder.path, "change" if changed or gone else "nothing", changed, gone)


def place(plan: FolderPlan, data: str, at: float) -> None:
    """Do it. Raises OSError."""
    known = entry(data, plan.path)
    made = known.made if known is not None else (*(() if os.path.isdir(plan.path) else (plan.path,)), *missing_folders(plan.path))  # fmt: skip # noqa: E501
    os.makedirs(plan.path, exist_ok=True)
    for name, inner in plan.files.items():
        path = os.path.join(plan.path, name)
        write(path, inner, path)
    for name in plan.gone:
        os.unlink(os.path.join(plan.path, name))
    files = {name: each for name, each in (known.files if known else {}).items() if name not in plan.gone}
    files |= {name: digest(inner) for name, inner in plan.files.items()}
    done = Installed(
        agent=plan.agent, path=plan.path, at=at, existed=False, after="", kind="folder", made=made, files=files
    )  # fmt: skip
    note(data, plan.path, done)


def removal(agent: str, folder: Folder, data: str) -> FolderPlan | None:
    """What taking it away would do; None where it is not there or not ours."""
    if os.path.islink(folder.path) or not ours(folder):
        return None
    known = entry(data, folder.path)
    digests = known.files if known is not None else dict.fromkeys(folder.files, "")
    gone: list[str] = []
    kept: list[str] = []
    for name in sorted(os.listdir(folder.path)):
        if name == _COMPILED:
            continue
        inner = contents(os.path.join(folder.path, name)) if os.path.isfile(os.path.join(folder.path, name)) else None
        expected = digests.get(name)
        mine = inner is not None and expected is not None and expected in ("", digest(inner))
        (gone if mine else kept).append(name)
    return FolderPlan(agent, folder.path, "delete", gone=tuple(gone), kept=tuple(kept))


def take_away(plan: FolderPlan, data: str) -> None:
    """Do it. Raises OSError."""
    known = entry(data, plan.path)
    for name in plan.gone:
        os.unlink(os.path.join(plan.path, name))
    if not plan.kept:
        shutil.rmtree(os.path.join(plan.path, _COMPILED), ignore_errors=True)
    remove_empty(known.made if known is not None and known.made else (plan.path,))
    note(data, plan.path, None)
