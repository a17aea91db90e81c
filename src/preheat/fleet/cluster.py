"""Runs work as tasks on Ray: on a cluster that is there, or on one of our own on this machine, which ends with us.

Our own one listens on the loopback address only, takes nobody without its token, sends no statistics, has no dashboard, and keeps
its files in a folder for its owner only that is removed at the end. Knows nothing of what the work is.
"""

import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, NamedTuple, TypeVar

from preheat.errors import UserError
from preheat.files import make_private_folder
from preheat.fleet import watchdog
from preheat.locking import hold_lock
from preheat.programs import shut_out_current_folder

Piece = TypeVar("Piece")

_AT_ONCE = 2
"""Tasks under way for each worker: one that it works on, and the next."""
_RETRIES = 3
"""How often Ray runs a task again whose node or process was lost."""
_OBJECT_STORE = 80 * 1024 * 1024
"""Bytes that Ray shares between processes; only small values pass through it."""
_FOLDERS = "preheat-ray-"
_END_SECONDS = 1.0
_OWN_CLUSTER = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the only way to have Ray listen on the loopback address, on Linux too
    "RAY_AUTH_MODE": "token",
    "RAY_task_oom_retries": "1",  # else a task that takes too much memory is tried for ever
}
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


class Task(NamedTuple):
    """A finished piece of work."""

    piece: Any
    result: bytes | None
    """None: every process that tried it was lost."""


class Cluster:
    """A connection to Ray. Use `connect`."""

    def __init__(self, ray: Any, workers: int) -> None:
        self._ray = ray
        self.workers = workers
        """Processes that work at a time."""

    def run(self, work: Callable[[Piece], bytes], pieces: Iterable[Piece]) -> Iterator[Task]:
        """The result of each piece, in the order in which they finish. `work` is sent by name, so it must be a function of a
        module. An exception that it raises is raised here."""
        ray = self._ray
        remote = ray.remote(max_retries=_RETRIES, num_cpus=1)(work)
        waiting = iter(pieces)
        under_way: dict[Any, Piece] = {}
        try:
            while True:
                while len(under_way) < _AT_ONCE * self.workers and (piece := next(waiting, None)) is not None:
                    under_way[remote.remote(piece)] = piece
                if not under_way:
                    return
                done, _ = ray.wait(list(under_way), num_returns=1)
                for each in done:
                    yield self._finish(each, under_way.pop(each))
        finally:
            for each in under_way:
                with suppress(Exception):  # the cluster may be gone
                    ray.cancel(each, force=False)

    def _finish(self, task: Any, piece: Any) -> Task:
        errors = self._ray.exceptions
        try:
            return Task(piece, self._ray.get(task))
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ImportError):
                raise UserError(
                    f"a machine of the cluster cannot import Preheat ({cause}); install `preheat[fleet]` on every node"
                ) from error
            raise cause from error
        except (errors.OutOfMemoryError, errors.WorkerCrashedError, errors.NodeDiedError, errors.ObjectLostError):
            return Task(piece, None)


@contextmanager
def connect(address: str, workers: int) -> Iterator[Cluster]:
    """Ray at an address, or without one on this machine. Raises UserError if it cannot be reached or started."""
    with _variables(_QUIET):
        if address:
            with _join(address) as ray:
                yield Cluster(ray, workers or _count_processors(ray))
            return
        workers = workers or os.cpu_count() or 1
        variables = {**_OWN_CLUSTER, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        with _own_folder() as folder, _watch_over(folder), _variables(variables), _start(folder, workers) as ray:
            yield Cluster(ray, workers)


@contextmanager
def _join(address: str) -> Iterator[Any]:
    ray = _import_ray()
    try:
        _keep_signals(lambda: ray.init(address=address, log_to_driver=False, logging_level="ERROR"))
    except Exception as error:  # Ray raises many kinds
        raise UserError(
            f"no Ray cluster answers at `{address}` ({_short(error)}); `ray status --address {address}` says more"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


@contextmanager
def _start(folder: str, workers: int) -> Iterator[Any]:
    ray = _import_ray()
    here = os.getcwd()
    try:
        os.chdir(folder)  # Ray's processes import from the current folder; by it they are found, too
        with shut_out_current_folder():
            _keep_signals(
                lambda: ray.init(
                    num_cpus=workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    object_store_memory=_OBJECT_STORE,
                    _temp_dir=os.path.join(folder, "r"),
                )
            )
    except Exception as error:  # Ray raises many kinds
        _end_processes(folder)
        raise UserError(f"Ray could not be started on this machine ({_short(error)})") from error
    except BaseException:
        _end_processes(folder)
        raise
    finally:
        os.chdir(here)
    try:
        yield ray
        ray.shutdown()
    finally:
        _end_processes(folder)


def _import_ray() -> Any:
    import ray  # noqa: PLC0415 - reads its variables when it is imported; they are set just before

    return ray


def _keep_signals(start: Callable[[], object]) -> None:
    """Start Ray, which would take over the signals that end a command."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        start()
    finally:
        for number, action in before.items():
            with suppress(ValueError):  # not in the main thread
                signal.signal(number, action)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _count_processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    """Set variables of the environment; those that the person has set stay."""
    before = {name: os.environ.get(name) for name in values}
    is_ours = values.keys() & _OWN_CLUSTER.keys()
    os.environ.update({name: value for name, value in values.items() if is_ours or before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# Our own cluster's folder and processes.
@contextmanager
def _own_folder() -> Iterator[str]:
    """A folder for the owner only, removed at the end; those of runs that were killed are removed, too. Its path is short: Ray's
    sockets are in it, and the system limits the length of theirs."""
    above = tempfile.gettempdir()
    if len(above) > 20 and os.path.isdir("/tmp"):  # noqa: S108 - the folder itself is private
        above = "/tmp"  # noqa: S108
    _remove_left_folders(above)
    folder = tempfile.mkdtemp(prefix=_FOLDERS, dir=above)
    make_private_folder(os.path.join(folder, "r"))
    try:
        with hold_lock(os.path.join(folder, "lock"), 0, UserError("")):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left_folders(above: str) -> None:
    for name in os.listdir(above):
        lock = os.path.join(above, name, "lock")
        if not name.startswith(_FOLDERS) or not os.path.isfile(lock):
            continue
        with suppress(UserError, OSError):
            if os.stat(os.path.join(above, name)).st_uid != os.getuid():
                continue
            with hold_lock(lock, 0, UserError("")):
                shutil.rmtree(os.path.join(above, name), ignore_errors=True)


@contextmanager
def _watch_over(folder: str) -> Iterator[None]:
    """Have another process end everything in a folder if this one is killed."""
    command = [sys.executable, "-I", "-S", watchdog.__file__, folder]
    with Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True) as process:
        try:
            yield
        finally:
            process.kill()


def _end_processes(folder: str) -> None:
    """End the processes of our cluster at once: a person who presses Ctrl-C does not wait."""
    deadline = time.monotonic() + _END_SECONDS
    while (left := watchdog.find_processes(folder)) and time.monotonic() < deadline:
        for each in left:
            with suppress(OSError):
                os.kill(each, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(each, os.WNOHANG)
        time.sleep(0.01)
