"""Reads tau2-bench's results: what was run, the tasks, and the simulations with their messages and rewards.

Both sides of a conversation call tools: the agent, and the simulated person on a device. Knows nothing of how messages are
folded: see `simulations.py`.
"""

from typing import Any

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.documents import CUT, beginning_of, outline
from preheat.agents.parsing import Draft
from preheat.agents.reader import Framing, Parser
from preheat.agents.simulations import SimulationsParser, fold_messages, run_title, short_digest, utc_seconds
from preheat.model.session import Other

_ENDING = (
    "task_id",
    "trial",
    "seed",
    "duration",
    "termination_reason",
    "agent_cost",
    "user_cost",
    "reward_info",
)
_RUN = ("num_trials", "user_info", "agent_info")
"""Members of `info` by which the format is recognised."""


class Tau2Parser(SimulationsParser):
    """One result file."""

    agent = "tau2_bench"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._info: dict[str, Any] = {}
        self._tasks: dict[str, Any] = {}

    def runs(self, document: Any) -> list[Any] | None:
        found = mapping(document).get("simulations")
        if not isinstance(found, list):
            return None
        self._info = mapping(document.get("info"))
        self._tasks = {str(mapping(task).get("id")): task for task in sequence(document.get("tasks"))}
        return found

    def fold(self, run: dict[str, Any], draft: Draft) -> None:
        heading = draft.heading
        domain = string(mapping(self._info.get("environment_info")).get("domain_name"))
        heading.id = string(run.get("id")) or f"simulation-{short_digest(run)}"
        heading.model = string(mapping(self._info.get("agent_info")).get("llm"))
        heading.version = string(self._info.get("git_commit"))[:12]
        reward = mapping(run.get("reward_info")).get("reward")
        heading.title = run_title(f"{domain} task".lstrip(), run.get("task_id"), run.get("trial"), reward)
        heading.include_time(utc_seconds(run.get("start_time")))
        heading.include_time(utc_seconds(run.get("end_time")))
        about = {"domain": domain, "agent": self._info.get("agent_info"), "user": _user(self._info)}
        draft.events.append(Other(line=0, name="run", raw=about))
        task = self._tasks.get(str(run.get("task_id")))
        if task is not None:
            draft.events.append(Other(line=0, name="task", raw=task))
        line = fold_messages(draft, run.get("messages"))
        raw = {"reward": reward, **{name: run[name] for name in _ENDING if name in run}}
        draft.events.append(Other(line=line, at=utc_seconds(run.get("end_time")), name="reward", raw=raw))


def _user(info: dict[str, Any]) -> dict[str, Any]:
    """The description of the simulated person, without the long guidelines, which are the same in every run."""
    user_info = mapping(info.get("user_info"))
    return {name: value for name, value in user_info.items() if name != "global_simulation_guidelines"}


class Tau2Reader:
    """Reads result files."""

    agent = "tau2_bench"

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        first = outline(head)
        if "info" not in first:
            return False
        info = first["info"]
        if info is CUT:
            beginning = beginning_of(head, "info")
            return beginning.startswith("{") and all(f'"{name}"' in beginning for name in _RUN[:2])
        return all(name in mapping(info) for name in _RUN) and bool({"simulations", "tasks"} & first.keys())

    def parser(self, path: str, part: str = "") -> Parser:
        return Tau2Parser(path)


READER = Tau2Reader()
