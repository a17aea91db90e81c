"""Reads tau-bench's results: a list of runs, each with its chat messages and its reward.

The program records nothing about single calls. Knows nothing of how messages are folded: see `simulations.py`.
"""

from typing import Any

from preheat.agents.chat import mapping
from preheat.agents.documents import CUT, outline
from preheat.agents.parsing import Draft
from preheat.agents.reader import Framing, Parser
from preheat.agents.simulations import SimulationsParser, fold_messages, run_title, short_digest
from preheat.model.session import Other

_KEYS = ("task_id", "reward", "info")


class TauParser(SimulationsParser):
    """One result file."""

    agent = "tau_bench"

    def runs(self, document: Any) -> list[Any] | None:
        if isinstance(document, dict) and "traj" in document:
            return [document]
        return document if isinstance(document, list) else None

    def fold(self, run: dict[str, Any], draft: Draft) -> None:
        task, trial, reward = run.get("task_id"), run.get("trial"), run.get("reward")
        # A run is written once, when it is over, so its messages identify it.
        draft.heading.id = f"task-{task}-{short_digest(run.get('traj'))}"
        draft.heading.title = run_title("task", task, trial, reward)
        info = mapping(run.get("info"))
        if info.get("task"):
            draft.events.append(Other(line=0, name="task", raw=info["task"]))
        line = fold_messages(draft, run.get("traj"))
        run_info = {name: value for name, value in info.items() if name != "task"}
        raw = {"task_id": task, "trial": trial, "reward": reward, "info": run_info}
        draft.events.append(Other(line=line, name="reward", raw=raw))


class TauReader:
    """Reads result files."""

    agent = "tau_bench"

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        first = outline(head)
        return all(name in first for name in _KEYS) and ("traj" in first or CUT in first.values())

    def parser(self, path: str, part: str = "") -> Parser:
        return TauParser(path)


READER = TauReader()
