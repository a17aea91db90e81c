"""What an attack is: a function of size, seed and folder that says what it tried, what broke, and what it measured.

Knows no attack. The same function runs in CI at the small size and by `./dev attack` at the full one.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Size: TypeAlias = Literal["small", "full"]


@dataclass
class AttackResult:
    """What came of one attack."""

    tried: int = 0
    """Inputs, moments or requests that were tried."""
    broken: list[str] = field(default_factory=list)
    """What broke, each with what is needed to see it again."""
    figures: dict[str, float | str] = field(default_factory=dict)
    """What was measured, by a name with its unit."""

    def check(self, is_true: bool, reproduction: str) -> bool:
        """Note what broke unless it is true; gives the same back."""
        if not is_true:
            self.broken.append(reproduction)
        return is_true

    def add(self, other: "AttackResult", name: str) -> None:
        """Take in the result of a part of this attack."""
        self.tried += other.tried
        self.broken += [f"{name}: {each}" for each in other.broken]
        self.figures |= {f"{name} {key}": value for key, value in other.figures.items()}


Attack: TypeAlias = Callable[[Size, int, str], AttackResult]
"""`attack(size, seed, folder)`; the folder is empty and its own."""


@contextmanager
def guard(result: AttackResult, reproduction: str, *expected: type[BaseException]) -> Iterator[None]:
    """Count one try; an exception other than the expected ones breaks it."""
    result.tried += 1
    try:
        yield
    except expected:
        return
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - an attack reports whatever happens
        result.broken.append(f"{reproduction}: {type(error).__name__}: {error}"[:400])


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of the values lies; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def memory_of(pid: int) -> int:
    """Bytes of memory that a process uses now; 0 where that cannot be known."""
    try:
        with open(f"/proc/{pid}/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def own_peak() -> int:
    """The most bytes of memory that this process has used."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Progress:
    """One line on a terminal that says how far an attack is; silent elsewhere, and never more than ten times a second."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown_at = 0.0

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and now - self._shown_at > 0.1:
            self._shown_at = now
            print(f"\r\x1b[K{self._name}: {text}"[:120], end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown_at and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
