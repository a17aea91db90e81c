"""The stored state of a training, in a file: one that was interrupted goes on where it stopped.

Knows nothing of how a task is run.
"""

import os
from typing import Literal, TypeAlias

import msgspec

from preheat.files import write_atomically

TaskStatus: TypeAlias = Literal[
    "verified", "done", "not verified", "verify timed out", "failed", "timed out", "not set up"
]  # fmt: skip
"""`done`: the agent ended well and nothing was there to verify by. `failed`: it did not end well."""
GOOD_STATUSES: frozenset[TaskStatus] = frozenset(["verified", "done"])


class TaskResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one task."""

    task: str
    digest: str
    status: TaskStatus
    seconds: float
    folder: str
    """Where it ran; gone unless the person wanted to keep it."""
    files: list[str] = []
    """The agent's own files that the run changed."""
    note: str = ""
    """The end of what went wrong."""

    @property
    def is_good(self) -> bool:
        return self.status in GOOD_STATUSES


class TrainingState(msgspec.Struct, frozen=True, rename={"results": "ran"}):
    """A training in progress. Only a training with the same setting goes on with it."""

    setting: str
    run: str
    """The name of this training; every prompt of it carries it."""
    base: str
    """The folder below which the tasks run."""
    results: dict[str, TaskResult] = {}


def state_path(folder: str, name: str) -> str:
    return os.path.join(folder, "training", f"{name}.json")


def load_state(path: str, setting: str) -> TrainingState | None:
    """The state of an earlier try with the same setting; None where there is none that can be used."""
    try:
        with open(path, "rb") as stream:
            found = msgspec.json.decode(stream.read(), type=TrainingState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.setting == setting else None


def save_state(path: str, state: TrainingState) -> None:
    write_atomically(path, msgspec.json.encode(state), make_folders=True)


def drop_state(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
