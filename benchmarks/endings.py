"""How runs of the shared corpus ended, where somebody measured it: task rewards, and the official evaluation of patches.

Knows no signal.
"""

import json
import os
import tarfile
from typing import Any

import zstandard

from benchmarks.real import PACKED, PROJECT, Real, sources
from preheat.model.session import Other, Session

_RUNS = "mini_swe_agent__gruckion"
_EXACT = 0.999
"""A reward that is not quite 1 is none."""


class Endings:
    """Asked for one session after the other."""

    def __init__(self, data: str = "") -> None:
        self._resolved: dict[str, bool] = {}
        for source in sources(data):
            if source.name == _RUNS:
                self._resolved |= _load_results(source.path)

    def of(self, real: Real) -> bool | None:
        """Whether a run did what it was for; None where nobody knows."""
        if real.source.removeprefix(PROJECT) == _RUNS:
            return self._resolved.get(os.path.basename(real.file).partition(".traj")[0])
        for event in reversed(real.session.events):
            if isinstance(event, Other) and event.name == "reward" and isinstance(event.raw, dict):
                reward = event.raw.get("reward")
                return reward >= _EXACT if isinstance(reward, int | float) else None
        return None


def _load_results(path: str) -> dict[str, bool]:
    """By instance, what the official evaluation said: a list in a folder, or reports within an archive."""
    found: dict[str, bool] = {}
    if not path.endswith(PACKED):
        with open(os.path.join(path, "outcomes.json"), encoding="utf-8") as stream:
            found |= json.load(stream)
            return found
    with open(path, "rb") as packed:
        plain = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(packed)
        with tarfile.open(fileobj=plain, mode="r|") as tar:
            for member in tar:
                report = tar.extractfile(member) if member.name.endswith("/report.json") else None
                if report is not None:
                    result: dict[str, Any] = json.load(report)
                    found[os.path.basename(os.path.dirname(member.name))] = bool(result["resolved"])
    return found


def task_of(session: Session) -> str:
    """What a run was for: several runs may share it."""
    return session.title.partition(": reward")[0].partition(", trial")[0] or session.id
