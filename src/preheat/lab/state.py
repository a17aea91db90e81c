"""The stored state of a lab, in a folder: the plan, and a line for each finished run. A lab that is killed can go on.

Knows nothing of how a task is run.
"""

import os
import shutil
from typing import Literal, TypeAlias

import msgspec

from preheat.errors import NotFound, UserError
from preheat.files import open_private, read_file, write_atomically
from preheat.lab.plan import Cell, LabPlan

Status: TypeAlias = Literal["passed", "not passed", "verify timed out", "done", "not set up"]
"""`verify timed out`: counts as not passed, but says more of `verify` than of the agent. `done`: there was nothing to verify
by. `not set up`: the agent was never asked."""
Ending: TypeAlias = Literal["well", "timed out", "failed", "over its tokens", "over its turns", "no answer"]
"""`failed`: the program ended with an error; `over its …`: it took more than it might, whether or not that ended it; `no
answer`: the model said nothing at all."""
_PLAN, _TRIED, _RUNNING = "plan.json", "runs.jsonl", "running.json"


LARGEST_FILE = 512 * 1024 * 1024
"""Results of a lab add up, a line for each run."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one run."""

    task: str
    arm: str
    repeat: int
    status: Status
    ending: Ending = "well"
    at: float = 0.0
    seconds: float = 0.0
    """The seconds of the agent alone."""
    tokens: int = 0
    calls: int = 0
    """Calls that a rate is taken over; of them those that failed by the agent's own mistake, and all that failed."""
    mistakes: int = 0
    errors: int = 0
    answers: int = 0
    """Of the model: texts and calls."""
    turns: int = 0
    """Responses of the model, in the longest of the sessions."""
    sessions: tuple[str, ...] = ()
    """Their keys in the archive."""
    context: str = ""
    """The id of what was to be given."""
    shown: tuple[str, ...] = ()
    """The ids of contexts that the transcript shows."""
    note: str = ""
    """The end of the error message."""

    @property
    def cell(self) -> Cell:
        return Cell(self.task, self.arm, self.repeat)

    @property
    def was_delivered(self) -> bool:
        """Whether the transcript shows what was to be given, and nothing else."""
        return set(self.shown) == ({self.context} if self.context else set())


class RunInProgress(msgspec.Struct, frozen=True):
    """The run in progress, to clean up after Preheat was killed."""

    base: str
    process: int = 0


class Lab:
    """One lab's folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def exists(self) -> bool:
        return os.path.exists(os.path.join(self.folder, _PLAN))

    def store_plan(self, plan: LabPlan) -> None:
        write_atomically(os.path.join(self.folder, _PLAN), msgspec.json.encode(plan), make_folders=True)

    def plan(self) -> LabPlan:
        path = os.path.join(self.folder, _PLAN)
        try:
            return msgspec.json.decode(read_file(path, LARGEST_FILE), type=LabPlan)
        except FileNotFoundError as error:
            raise NotFound(
                f"there is no lab in `{self.folder}`; `preheat experiment lab list` shows them, `… lab run` starts one"
            ) from error
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UserError(
                f"`{path}` cannot be read ({error}); `preheat experiment lab run … --restart` begins anew"
            ) from error

    def results(self) -> list[RunResult]:
        """The results of finished runs. A half-written last line is ignored."""
        try:
            lines = read_file(os.path.join(self.folder, _TRIED), LARGEST_FILE).split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        found: dict[Cell, RunResult] = {}
        for number, line in enumerate(lines, 1):
            try:
                # Version 0.1.0 called mistakes `misuse`; followed by a colon, the quoted word can only be the name of the field.
                each = msgspec.json.decode(line.replace(b'"misuse":', b'"mistakes":'), type=RunResult)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise UserError(f"`{os.path.join(self.folder, _TRIED)}` line {number} is damaged: {error}") from error
            found.setdefault(each.cell, each)
        return list(found.values())

    def add_result(self, tried: RunResult) -> None:
        """Store a result, on disk before the next run begins; a half-written last line is removed."""
        path = os.path.join(self.folder, _TRIED)
        with open(open_private(path, os.O_RDWR | os.O_APPEND), "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size:
                stream.seek(size - 1)
                if stream.read(1) != b"\n":
                    self._cut(stream.fileno(), path)
            stream.write(msgspec.json.encode(tried) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    def _cut(self, file: int, path: str) -> None:
        """Remove a half-written last line."""
        os.truncate(file, read_file(path, LARGEST_FILE).rfind(b"\n") + 1)

    # The run in progress.
    def running(self) -> RunInProgress | None:
        try:
            return msgspec.json.decode(read_file(os.path.join(self.folder, _RUNNING)), type=RunInProgress)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def store_running(self, running: RunInProgress | None) -> None:
        path = os.path.join(self.folder, _RUNNING)
        if running is not None:
            write_atomically(path, msgspec.json.encode(running), make_folders=True)
        elif os.path.exists(path):
            os.unlink(path)

    def set_aside(self) -> str:
        """Rename this lab's folder; the new name."""
        for number in range(1, 1000):
            aside = f"{self.folder}.{number}"
            if not os.path.exists(aside):
                shutil.move(self.folder, aside)
                return aside
        raise UserError(f"there are a thousand labs like `{self.folder}`; delete some")


def labs_folder(folder: str) -> str:
    """The folder of all labs in Preheat's folder."""
    return os.path.join(folder, "lab")


def find_lab(folder: str, name: str) -> Lab:
    """A lab by its name, or by its folder. Raises NotFound."""
    inside = os.path.join(labs_folder(folder), name)
    for place in (inside, os.path.abspath(os.path.expanduser(name))):
        if Lab(place).exists:
            return Lab(place)
    raise NotFound(
        f"no lab `{name}`; `preheat experiment lab list` shows them, `preheat experiment lab run SUITE` starts one"
    )


def all_labs(folder: str) -> list[Lab]:
    try:
        names = sorted(os.listdir(labs_folder(folder)))
    except FileNotFoundError:
        return []
    return [lab for lab in (Lab(os.path.join(labs_folder(folder), name)) for name in names) if lab.exists]
