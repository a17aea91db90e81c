"""How a training goes on, on the error stream. Knows nothing of what is learned."""

import sys

from preheat.app.training import Watcher
from preheat.cli.progress import Bar
from preheat.lab.training.state import Ran


class TrainingProgress(Watcher):
    """A bar on a terminal; elsewhere a line for each task, because each may take minutes."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Bar | None = None
        self._tasks = self._done = 0

    def begin(self, tasks: int, done: int) -> None:
        self._tasks, self._done = tasks, done
        if done and not self._quiet:
            print(f"preheat: going on; {done} of {tasks} tasks are done already", file=sys.stderr)
        self._bar = Bar("Training", tasks)
        self._bar.step(done)

    def ran(self, ran: Ran) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.step(1, f"{ran.task}: {ran.status}")
        if not sys.stderr.isatty() and not self._quiet:
            print(f"{self._done}/{self._tasks} {ran.task}: {ran.status}, {ran.seconds:.0f} s", file=sys.stderr)

    def learning(self, sessions: int) -> None:
        self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
