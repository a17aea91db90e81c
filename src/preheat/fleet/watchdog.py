"""Waits until the process that started it has ended, however that was; ends what runs in a folder then, and removes that.

A program of its own, with nothing but the standard library: Ray's agents outlive a driver that was killed by a minute.
Elsewhere than on Linux it only removes the folder.
"""

import os
import shutil
import signal
import sys
import time

_SECONDS = 10.0


def watch(folder: str) -> None:
    """Wait for the end of standard input, of which only the starting process holds the other end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # sent to a whole group; the end of the pipe decides
    while os.read(0, 1024):
        pass
    deadline = time.monotonic() + _SECONDS
    while (left := find_processes(folder)) and time.monotonic() < deadline:
        for each in left:
            try:
                os.kill(each, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def find_processes(folder: str) -> list[int]:
    """The processes of this user whose current folder is this one or below it, but for the asking one."""
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            place = os.readlink(f"/proc/{name}/cwd").removesuffix(" (deleted)")
        except OSError:
            continue
        if place == folder or place.startswith(f"{folder}/"):
            found.append(int(name))
    return found


if __name__ == "__main__":
    watch(sys.argv[1])
