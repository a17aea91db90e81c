"""What a lab has done so far, in a folder: the plan, and a line for each run that is over. Killed at any moment, it goes on.

Knows nothing of how a task is run.
"""

import os
import shutil
from typing import Literal, TypeAlias

import msgspec

from preheat.errors import NotFound, UserError
from preheat.files import write_whole
from preheat.lab.plan import Cell, LabPlan

Status: TypeAlias = Literal["passed", "not passed", "verify timed out", "done", "not set up"]
"""`verify timed out`: counts as not passed, but says more of `verify` than of the agent. `done`: there was nothing to verify
by. `not set up`: the agent was never asked."""
Ending: TypeAlias = Literal["well", "timed out", "failed", "over its tokens", "over its turns", "no answer"]
"""`failed`: the program ended with an error; `over its …`: it took more than it might, whether or not that ended it; `no
answer`: the model said nothing at all."""
_PLAN, _TRIED, _RUNNING = "plan.json", "runs.jsonl", "running.json"


class Tried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one run."""

    task: str
    arm: str
    repeat: int
    status: Status
    ending: Ending = "well"
    at: float = 0.0
    seconds: float = 0.0
    """Of the agent alone."""
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
    """The end of what went wrong."""

    @property
    def cell(self) -> Cell:
        return Cell(self.task, self.arm, self.repeat)

    @property
    def delivered(self) -> bool:
        """Whether the transcript shows what was to be given, and nothing else."""
        return set(self.shown) == ({self.context} if self.context else set())


class Running(msgspec.Struct, frozen=True):
    """The run that is under way: what is left of it if Preheat is killed."""

    base: str
    process: int = 0


class Lab:
    """One lab's folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def exists(self) -> bool:
        return os.path.exists(os.path.join(self.folder, _PLAN))

    def begin(self, plan: LabPlan) -> None:
        write_whole(os.path.join(self.folder, _PLAN), msgspec.json.encode(plan), make_folders=True)

    def plan(self) -> LabPlan:
        path = os.path.join(self.folder, _PLAN)
        try:
            with open(path, "rb") as stream:
                return msgspec.json.decode(stream.read(), type=LabPlan)
        except FileNotFoundError as error:
            raise NotFound(
                f"there is no lab in `{self.folder}`; `preheat lab list` shows them, `preheat lab run` starts one"
            ) from error
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UserError(f"`{path}` cannot be read ({error}); `preheat lab run … --restart` begins anew") from error

    def tried(self) -> list[Tried]:
        """The runs that are over. A last line without its end, from when Preheat was killed, is a run that never was."""
        try:
            with open(os.path.join(self.folder, _TRIED), "rb") as stream:
                lines = stream.read().split(b"\n")[:-1]
        except FileNotFoundError:
            return []
        found: dict[Cell, Tried] = {}
        for number, line in enumerate(lines, 1):
            try:
                # Version 0.1.0 called mistakes `misuse`; followed by a colon, the quoted word can only be the name of the field.
                each = msgspec.json.decode(line.replace(b'"misuse":', b'"mistakes":'), type=Tried)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise UserError(f"`{os.path.join(self.folder, _TRIED)}` line {number} is damaged: {error}") from error
            found.setdefault(each.cell, each)
        return list(found.values())

    def add(self, tried: Tried) -> None:
        """On the disk before the next run begins; on a line of its own even behind one that was cut off."""
        path = os.path.join(self.folder, _TRIED)
        with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size:
                stream.seek(size - 1)
                if stream.read(1) != b"\n":
                    self._cut(stream.fileno(), path)
            stream.write(msgspec.json.encode(tried) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    def _cut(self, file: int, path: str) -> None:
        """Take a half-written last line away."""
        with open(path, "rb") as stream:
            whole = stream.read()
        os.truncate(file, whole.rfind(b"\n") + 1)

    # What runs now.
    def running(self) -> Running | None:
        try:
            with open(os.path.join(self.folder, _RUNNING), "rb") as stream:
                return msgspec.json.decode(stream.read(), type=Running)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None

    def note_running(self, running: Running | None) -> None:
        path = os.path.join(self.folder, _RUNNING)
        if running is not None:
            write_whole(path, msgspec.json.encode(running), make_folders=True)
        elif os.path.exists(path):
            os.unlink(path)

    def set_aside(self) -> str:
        """Keep this one under another name; the name."""
        for number in range(1, 1000):
            aside = f"{self.folder}.{number}"
            if not os.path.exists(aside):
                shutil.move(self.folder, aside)
                return aside
        raise UserError(f"there are a thousand labs like `{self.folder}`; delete some")


def labs(folder: str) -> str:
    """Where labs are kept in Preheat's folder."""
    return os.path.join(folder, "lab")


def lab_named(folder: str, name: str) -> Lab:
    """A lab by its name, or by its folder. Raises NotFound."""
    inside = os.path.join(labs(folder), name)
    for place in (inside, os.path.abspath(os.path.expanduser(name))):
        if Lab(place).exists:
            return Lab(place)
    raise NotFound(f"no lab `{name}`; `preheat lab list` shows them, `preheat lab run SUITE` starts one")


def every_lab(folder: str) -> list[Lab]:
    try:
        names = sorted(os.listdir(labs(folder)))
    except FileNotFoundError:
        return []
    return [lab for lab in (Lab(os.path.join(labs(folder), name)) for name in names) if lab.exists]
