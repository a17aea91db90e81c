"""How much memory the reading of one batch may take: a limit of the operating system, so that too much raises MemoryError in the
object that asks for it and not the end of the whole process. Where the system has no such limit, nothing is limited."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform != "win32":
    import resource


@contextmanager
def limit_memory(more: int) -> Iterator[None]:
    """Allow this process so many bytes beyond what it has; 0: without a limit."""
    has = _data_bytes() if more else 0
    if not has or sys.platform == "win32":
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = has + more if before[1] == resource.RLIM_INFINITY else min(has + more, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _data_bytes() -> int:
    """The private memory of this process that counts for the limit; 0 where that is not known."""
    try:
        with open("/proc/self/status", encoding="ascii") as stream:
            return next((int(line.split()[1]) * 1024 for line in stream if line.startswith("VmData:")), 0)
    except OSError:
        return 0


def peak_memory() -> int:
    """The most memory that this process ever had, in bytes."""
    if sys.platform == "win32":
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
