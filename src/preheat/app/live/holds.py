"""Calls that were held once because they are known to fail: how many, and what came of those that were let pass.

By project and kind of reason, in one small file beside the daemon's other files. Holding is withdrawn by itself where calls that
were let pass succeed. Knows no agent.
"""

import os

import msgspec

from preheat.daemon_client import live_folder
from preheat.files import read_file, write_atomically
from preheat.model.live import Advisory

_FILE = "holds.json"
_MOST_SUCCESSES = 0.1
"""The share of calls let pass that may succeed before holding is withdrawn."""
_MOST_PENDING = 200


class HoldCount(msgspec.Struct, frozen=True):
    """Calls held for one kind of reason in one project."""

    held: int = 0
    succeeded: int = 0
    """Of those that came again and were let pass."""
    failed: int = 0

    @property
    def is_withdrawn(self) -> bool:
        passed = self.succeeded + self.failed
        return bool(passed) and self.succeeded / passed > _MOST_SUCCESSES


class Holds:
    """The counts of held calls, and the calls that wait to be let pass."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(live_folder(folder), _FILE)
        self._counts = _load(self._path)
        self._reasons: dict[str, str] = {}

    @property
    def counts(self) -> dict[str, HoldCount]:
        """By project and reason."""
        return dict(self._counts)

    def is_withdrawn(self, root: str, advisory: Advisory) -> bool:
        """Whether calls are no longer held for this kind of reason in a project."""
        return self._counts.get(_reason(root, advisory), HoldCount()).is_withdrawn

    def count_held(self, root: str, advisory: Advisory, key: str = "") -> None:
        """Count a call that is held; `key` identifies it when it comes again."""
        reason = _reason(root, advisory)
        count = self._counts.get(reason, HoldCount())
        if key:
            while len(self._reasons) >= _MOST_PENDING:
                del self._reasons[next(iter(self._reasons))]
            self._reasons[key] = reason
        self._keep(reason, msgspec.structs.replace(count, held=count.held + 1))

    def count_passed(self, key: str, succeeded: bool) -> None:
        """Count what came of a call that was held before and let pass; each is counted once."""
        reason = self._reasons.pop(key, "")
        if not reason:
            return
        count = self._counts.get(reason, HoldCount())
        if succeeded:
            count = msgspec.structs.replace(count, succeeded=count.succeeded + 1)
        else:
            count = msgspec.structs.replace(count, failed=count.failed + 1)
        self._keep(reason, count)

    def _keep(self, reason: str, count: HoldCount) -> None:
        self._counts[reason] = count
        try:
            write_atomically(self._path, msgspec.json.encode(self._counts))
        except OSError:
            return  # counted in memory; written with the next one


def _reason(root: str, advisory: Advisory) -> str:
    return f"{root}\t{advisory.cause.rpartition(' ')[0]}"


def _load(path: str) -> dict[str, HoldCount]:
    try:
        return msgspec.json.decode(read_file(path), type=dict[str, HoldCount])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
