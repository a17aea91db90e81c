"""The machine's membership in a team: a file beside the archive, and the password in one of its own.

Both are for their owner only. Knows no server. Light: deleting a session asks here whether the team is to be told.
"""

import os
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from preheat.errors import UserError
from preheat.files import make_private_folder, read_file, write_atomically
from preheat.locking import hold_lock
from preheat.model.team import Level, TeamAddress

FILE = "team.json"
PASSWORD_FILE = "team-password"  # noqa: S105 - a name of a file
_LOCK = "team.lock"
_WAIT = 30.0


class ProjectLevel(msgspec.Struct, frozen=True):
    """What a person said of a project."""

    level: Level
    fields: str = ""
    """The hash of the fields that the person was shown and agreed to; empty: not yet."""


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """What this machine knows of its team."""

    address: TeamAddress
    team: str
    name: str
    role: str
    """As the server last said."""
    machine: str
    """A random number that this machine's rows are known by."""
    projects: dict[str, ProjectLevel] = {}
    """By the key of a project."""
    deletions: tuple[str, ...] = ()
    """Hashes of sessions that are to be deleted from the server."""
    last_push: float | None = None
    """By the server's clock."""
    last_pull: float | None = None


def load_membership(folder: str) -> Membership | None:
    """The membership of this machine; None if it is in no team. Raises UserError."""
    path = os.path.join(folder, FILE)
    try:
        return msgspec.json.decode(read_file(path), type=Membership)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise UserError(f"`{path}` cannot be read ({error}); `preheat team join ADDRESS` writes it anew") from error


def require_membership(folder: str) -> Membership:
    """The membership of this machine. Raises UserError if it is in no team."""
    found = load_membership(folder)
    if found is None:
        raise UserError(
            "this machine is in no team; `preheat team join ADDRESS` joins one, `preheat team init ADDRESS` makes one"
        )
    return found


def change_membership(folder: str, change: Callable[[Membership], Membership]) -> Membership:
    """Change the membership, one process at a time. Raises UserError."""
    with hold_lock(os.path.join(folder, _LOCK), _WAIT, UserError("another program changes what is said of the team")):
        changed = change(require_membership(folder))
        _write(folder, changed)
        return changed


def store_membership(folder: str, membership: Membership, password: str) -> None:
    """Store a new membership. An empty password is one that PGPASSWORD or ~/.pgpass has: nothing is stored."""
    make_private_folder(folder)
    with hold_lock(os.path.join(folder, _LOCK), _WAIT, UserError("another program changes what is said of the team")):
        path = os.path.join(folder, PASSWORD_FILE)
        if password:
            write_atomically(path, password.encode(), durable=True)
        elif os.path.exists(path):
            os.unlink(path)
        _write(folder, membership)


def drop_membership(folder: str) -> None:
    """Delete everything that this machine knows of its team."""
    for name in (FILE, PASSWORD_FILE):
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))


def load_password(folder: str) -> str:
    """The stored password; empty if there is none."""
    try:
        return read_file(os.path.join(folder, PASSWORD_FILE), 4096).decode()
    except FileNotFoundError:
        return ""


# Deletions that wait for the server.
def queue_deletions(folder: str, sessions: Iterable[str]) -> None:
    """Note sessions, by their hashes, that are to be deleted from the server; nothing in no team."""
    wanted = tuple(sessions)
    if wanted and os.path.exists(os.path.join(folder, FILE)):
        change_membership(
            folder, lambda known: replace(known, deletions=tuple(dict.fromkeys((*known.deletions, *wanted))))
        )


def finish_deletions(folder: str, sessions: Iterable[str]) -> None:
    """Note that these are deleted from the server."""
    done = frozenset(sessions)
    change_membership(
        folder, lambda known: replace(known, deletions=tuple(each for each in known.deletions if each not in done))
    )


def _write(folder: str, membership: Membership) -> None:
    data = msgspec.json.format(msgspec.json.encode(membership), indent=1)
    write_atomically(os.path.join(folder, FILE), data + b"\n", durable=True)
